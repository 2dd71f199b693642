import type { PackShardReport } from './pack-shard.js';
import type { PlanFile } from './plan-file.js';
import type { OnPackProgress } from './progress.js';

const REPORT_MS = 100;
const MICROS_AN_HOUR = 3600e6;

/** Adds up how far the shards are, and tells of it now and then. */
export class PackMeter {
  readonly #plan: PlanFile;
  readonly #onProgress: OnPackProgress | undefined;
  readonly #totals = { shards: 0, items: 0, micros: 0 };
  readonly #done = { shards: 0, items: 0, micros: 0 };
  readonly #underWay = new Map<number, PackShardReport>();
  readonly #startMs = performance.now();
  #resumedItems = 0;
  #nextMs = 0;

  constructor(plan: PlanFile, shards: readonly number[], onProgress: OnPackProgress | undefined) {
    this.#plan = plan;
    this.#onProgress = onProgress;
    for (const shard of new Set(shards)) this.#add(this.#totals, shard);
  }

  /** Counts a shard that an earlier run, or another one, made. */
  resume(shard: number): void {
    this.#resumedItems += this.#plan.shards[shard]?.itemCount ?? 0;
    this.#add(this.#done, shard);
  }

  /** Takes a report of a shard that is being made. */
  note(shard: number, report: PackShardReport): void {
    this.#underWay.set(shard, report);
    this.#tell(false);
  }

  /** Counts a shard that is whole. */
  complete(shard: number): void {
    this.#resumedItems += this.#underWay.get(shard)?.resumedItems ?? 0;
    this.#underWay.delete(shard);
    this.#add(this.#done, shard);
    this.#tell(false);
  }

  /** Tells how it ended. */
  finish(): void {
    this.#tell(true);
  }

  #add(sums: { shards: number; items: number; micros: number }, shard: number): void {
    const place = this.#plan.shards[shard];
    sums.shards += 1;
    sums.items += place?.itemCount ?? 0;
    sums.micros += place?.micros ?? 0;
  }

  #tell(isLast: boolean): void {
    const nowMs = performance.now();
    if (this.#onProgress === undefined || (!isLast && nowMs < this.#nextMs)) return;
    this.#nextMs = nowMs + REPORT_MS;
    let { items, micros } = this.#done;
    let resumedItems = this.#resumedItems;
    for (const [shard, report] of this.#underWay) {
      items += report.items;
      // A plan that knows few of its durations, or none, says less than what is written.
      micros += Math.min(report.micros, this.#plan.shards[shard]?.micros ?? 0);
      resumedItems += report.resumedItems;
    }
    this.#onProgress({
      stage: 'pack',
      shards: this.#done.shards,
      totalShards: this.#totals.shards,
      items,
      totalItems: this.#totals.items,
      hours: micros / MICROS_AN_HOUR,
      totalHours: this.#totals.micros / MICROS_AN_HOUR,
      resumedItems,
      seconds: (nowMs - this.#startMs) / 1000,
    });
  }
}
