import type { BucketBins, PlanOptions } from '#cutroom/load/batch-options.js';
import type { EpochPlan, PlannedBatch } from '#cutroom/load/epoch-plan.js';
import type { ItemTable } from '#cutroom/load/item-table.js';

/** All batches of one rank. */
export function batchesOf(plan: EpochPlan, rank: number): PlannedBatch[] {
  return Array.from({ length: plan.stepCount }, (_, step) => plan.batchAt(rank, step));
}

/** All batches of all ranks, step by step. */
export function allBatches(plan: EpochPlan): PlannedBatch[] {
  const ranks = Array.from({ length: plan.worldSize }, (_, rank) => batchesOf(plan, rank));
  return Array.from({ length: plan.stepCount }, (_, step) => ranks.map((batches) => batches[step]!)).flat();
}

/** Items of batches, sorted; without those that are repeated to make steps equal. */
export function itemsOf(batches: readonly PlannedBatch[]): number[] {
  return batches
    .flatMap(({ items, padCount }) => Array.from(items.subarray(0, items.length - padCount)))
    .sort((a, b) => a - b);
}

/** Numbers from 0 on. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

/** A plan as text, to compare. */
export function describePlan(plan: EpochPlan, fromStep = 0): string[] {
  return range(plan.worldSize).map((rank) =>
    batchesOf(plan, rank)
      .slice(fromStep)
      .map(({ bucket, items, padCount }) => `${bucket ?? '-'}:${items.join(',')}${padCount > 0 ? `(${padCount})` : ''}`)
      .join(' '),
  );
}

/** Fails where a batch is above a limit, or of another bucket than its items. */
export function checkCaps(plan: EpochPlan, table: ItemTable, options: PlanOptions, bins?: BucketBins): void {
  const copies = options.numCopies ?? 1;
  for (const { items, bucket } of allBatches(plan)) {
    const seconds = Array.from(items, (item) => table.durationsMicros[item]! / 1e6);
    const longest = Math.max(0, ...seconds);
    const rows = items.length * copies;
    if (rows * longest > (options.maxDuration ?? Infinity) + 1e-9) throw new Error(`${rows} of ${longest} s`);
    const quadratic = longest + longest ** 2 / (options.quadraticDuration ?? Infinity);
    if (rows * quadratic > (options.batchDuration ?? Infinity) + 1e-6) throw new Error(`${rows} of ${quadratic} s`);
    if (rows > Math.min(options.batchSize ?? Infinity, options.maxSamples ?? Infinity)) throw new Error(`${rows} rows`);
    if (bins === undefined || bucket === undefined) continue;
    const [from, to] = [Number(bins[bucket - 1] ?? -1), Number(bins[bucket])];
    if (seconds.some((value) => value <= from || value > to)) throw new Error(`bucket ${bucket}: ${seconds.join(' ')}`);
  }
}
