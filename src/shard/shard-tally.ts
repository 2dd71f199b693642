import type { AudioLength } from './item-duration.js';
import type { ItemFailure } from './item-fault.js';
import type { MadeMember } from './item-maker.js';
import type { ShardOutcome } from './outcome.js';
import type { PackFailure } from './plan.js';

/** Sums over the items of a shard that are done. */
export type ShardSums = Omit<ShardOutcome, 'plan' | 'shard' | 'tarBytes' | 'manifestBytes' | 'failures' | 'warnings'>;

/** What came of a member that later rows share. */
export type SharedMember = { duration: string; length?: AudioLength } | { failure: ItemFailure };

/** What is found out about items, and kept in lists. */
export interface ShardFindings {
  failures: PackFailure[];
  warnings: { id: string; message: string }[];
  /** By name, those that later rows share. */
  shared: [string, SharedMember][];
}

/** So many warnings of a shard are kept. */
const MAX_WARNINGS = 1000;

/** A shard in figures, as it grows. */
export class ShardTally {
  readonly sums: ShardSums;
  readonly failures: PackFailure[] = [];
  readonly warnings: { id: string; message: string }[] = [];
  readonly shared = new Map<string, SharedMember>();
  /** What was found since it was taken last. */
  #fresh: ShardFindings = { failures: [], warnings: [], shared: [] };

  constructor() {
    this.sums = { members: 0, rows: 0, durationMicros: 0, copied: 0, clippedSamples: 0, invalidSamples: 0 };
  }

  /** How much was found since it was taken last; a record of it must not get too long. */
  get freshCount(): number {
    return this.#fresh.failures.length + this.#fresh.warnings.length + this.#fresh.shared.length;
  }

  /** What was found since the last call. */
  takeFresh(): ShardFindings {
    const fresh = this.#fresh;
    this.#fresh = { failures: [], warnings: [], shared: [] };
    return fresh;
  }

  /** Takes up what an earlier process noted. */
  restore(sums: ShardSums, findings: readonly ShardFindings[]): void {
    Object.assign(this.sums, sums);
    for (const { failures, warnings, shared } of findings) {
      for (const failure of failures) this.failures.push(failure);
      for (const warning of warnings) this.warnings.push(warning);
      for (const [name, member] of shared) this.shared.set(name, member);
    }
  }

  addMember(made: MadeMember, id: string): void {
    this.sums.members += 1;
    if (made.isCopied) this.sums.copied += 1;
    this.sums.clippedSamples += made.clippedSamples;
    this.sums.invalidSamples += made.invalidSamples;
    for (const message of made.warnings) {
      if (this.warnings.length === MAX_WARNINGS) return;
      this.warnings.push({ id, message });
      this.#fresh.warnings.push({ id, message });
    }
  }

  addRow(durationMicros: number): void {
    this.sums.rows += 1;
    this.sums.durationMicros += durationMicros;
  }

  addFailure(failure: PackFailure): void {
    this.failures.push(failure);
    this.#fresh.failures.push(failure);
  }

  /** Notes what came of a member that later rows share. */
  share(name: string, member: SharedMember): void {
    this.shared.set(name, member);
    this.#fresh.shared.push([name, member]);
  }
}
