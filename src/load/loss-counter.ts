import type { TableLosses } from './item-table.js';
import type { RowRefusal } from './manifest-row.js';

/** More faults of one reason are counted, and not described. */
const MAX_FAULTS = 3;

const MICROS_AN_HOUR = 3.6e9;

/** Counts rows that are left out, by reason. */
export class LossCounter {
  readonly #counts = new Map<string, { rows: number; micros: number }>();
  readonly #described = new Map<string, number>();
  readonly #firstFaults: TableLosses['firstFaults'][number][] = [];

  /** A row that is not wanted. */
  count(reason: string, micros: number): void {
    const entry = this.#counts.get(reason);
    if (entry === undefined) this.#counts.set(reason, { rows: 1, micros });
    else {
      entry.rows += 1;
      entry.micros += micros;
    }
  }

  /** A row that cannot be used. */
  refuse(path: string, lineNumber: number, { reason, message, hint }: RowRefusal, micros = 0): void {
    this.count(reason, micros);
    const described = this.#described.get(reason) ?? 0;
    if (described === MAX_FAULTS) return;
    this.#described.set(reason, described + 1);
    this.#firstFaults.push({ path, lineNumber, reason, message, hint });
  }

  toLosses(): TableLosses {
    const reasons = [...this.#counts].map(([reason, { rows, micros }]) => {
      return [reason, { rows, hours: micros / MICROS_AN_HOUR }] as const;
    });
    return { reasons: Object.fromEntries(reasons), firstFaults: this.#firstFaults };
  }
}
