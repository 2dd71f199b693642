import type { ItemFailure } from './batch.js';

/** What could not be read so far, over all batches that were handed out. */
export interface LoaderFailures {
  count: number;
  /** By reason. */
  reasons: Readonly<Record<string, number>>;
  /** Of them, those whose place another item took; the others' batches are shorter. */
  replaced: number;
  dropped: number;
  /** The first ones, up to 20 of each reason. */
  first: readonly ItemFailure[];
}

const KEPT_OF_REASON = 20;

/** Counts failures, and keeps the first ones. */
export class FailureLog {
  readonly #reasons = new Map<string, number>();
  readonly #first: ItemFailure[] = [];
  #replaced = 0;
  #count = 0;

  add(failures: readonly ItemFailure[]): void {
    for (const failure of failures) {
      const seen = this.#reasons.get(failure.reason) ?? 0;
      this.#reasons.set(failure.reason, seen + 1);
      if (seen < KEPT_OF_REASON) this.#first.push(failure);
      if (failure.replacedBy !== undefined) this.#replaced += 1;
      this.#count += 1;
    }
  }

  get count(): number {
    return this.#count;
  }

  report(): LoaderFailures {
    return {
      count: this.#count,
      reasons: Object.fromEntries(this.#reasons),
      replaced: this.#replaced,
      dropped: this.#count - this.#replaced,
      first: [...this.#first],
    };
  }
}
