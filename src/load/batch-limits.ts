import type { PlanSettings } from './plan-settings.js';

/** What a batch may hold. Nothing is rounded: durations are whole microseconds. */
export class BatchLimit {
  readonly #maxMicros: number;
  readonly #batchMicros: number;
  readonly #quadraticMicros: number;
  /** Items of a batch at most, without their copies. */
  readonly maxItems: number;
  readonly #numCopies: number;

  /** @param bucketBatchSize items of a batch of the bucket, with all copies; undefined where it has no size of its own. */
  constructor(settings: PlanSettings, bucketBatchSize?: number) {
    this.#maxMicros = settings.maxMicros;
    this.#batchMicros = settings.batchMicros;
    this.#quadraticMicros = settings.quadraticMicros;
    this.#numCopies = settings.numCopies;
    const most = Math.min(bucketBatchSize ?? Infinity, settings.batchSize ?? Infinity, settings.maxSamples);
    this.maxItems = Math.floor(most / settings.numCopies);
  }

  /**
   * Whether so many items, the longest of so many microseconds, are within all limits.
   *
   * Source: Lhotse's `TimeConstraint` for d + d² / q; here it is asked before an item is added, so that it is a hard cap.
   */
  fits(count: number, longestMicros: number): boolean {
    if (count > this.maxItems) return false;
    const rows = count * this.#numCopies;
    if (rows * longestMicros > this.#maxMicros) return false;
    // Of a quadratic part that is 0 also where there is no quadratic duration: d² / Infinity.
    return rows * (longestMicros + longestMicros ** 2 / this.#quadraticMicros) <= this.#batchMicros;
  }

  /** Items of one duration that make a full batch; 0 where one alone is above a limit. */
  fullCount(micros: number): number {
    const cost = this.#numCopies * Math.max(micros, 0);
    const quadratic = cost + (this.#numCopies * micros ** 2) / this.#quadraticMicros;
    const estimate = Math.min(
      this.maxItems,
      Math.floor(this.#maxMicros / cost),
      Math.floor(this.#batchMicros / quadratic),
    );
    if (!Number.isFinite(estimate)) return Infinity;
    let count = estimate + 1;
    while (count > 0 && !this.fits(count, micros)) count -= 1;
    return count;
  }
}
