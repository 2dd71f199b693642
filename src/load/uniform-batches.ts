import { UniformBatchList, type BatchList, type EpochOrder } from './batch-list.js';
import type { PlanContext } from './plan-context.js';
import type { LostDraws } from './plan-report.js';
import { atSpeed } from './speed-of.js';

/** The duration of all items, where these are excerpts that need not be looked at one by one; undefined elsewhere. */
export function findUniformMicros({ table, settings, buckets }: PlanContext): number | undefined {
  if (buckets.kind !== 'none' || settings.speeds.length > 1 || table.rowCount > 0) return undefined;
  const durations = table.leaves.flatMap(({ excerpts, firstItem, endItem }) =>
    endItem > firstItem ? (excerpts?.durationMicros ?? []) : [],
  );
  const [micros] = durations;
  if (micros === undefined || durations.some((duration) => duration !== micros)) return undefined;
  return atSpeed(micros, settings.speeds[0] ?? 1);
}

/** Batches of items that are equally long: each is computed when it is asked for, so that an epoch may be of any length. */
export function formUniform(
  order: EpochOrder,
  micros: number,
  { settings, buckets }: PlanContext,
): { list: BatchList; lost: LostDraws[]; batchItems: number } {
  const limit = buckets.limitOf(0);
  const full = Math.min(limit.fullCount(micros), Math.max(1, order.length));
  if (full === 0 && settings.oversized === 'drop') {
    return {
      list: new UniformBatchList(firstDraws(order, 0), 1),
      lost: [{ reason: 'oversized', order }],
      batchItems: 1,
    };
  }
  const size = Math.max(1, full);
  const rest = order.length % size;
  const isLeft = rest > 0 && settings.batchSize !== undefined && settings.lastBatch === 'drop';
  if (!isLeft) return { list: new UniformBatchList(order, size), lost: [], batchItems: size };
  const kept = order.length - rest;
  const left: EpochOrder = {
    length: rest,
    itemAt: (position) => order.itemAt(kept + position),
    passAt: (position) => order.passAt(kept + position),
  };
  const list = new UniformBatchList(firstDraws(order, kept), size);
  return { list, lost: [{ reason: 'last_batch', order: left }], batchItems: size };
}

function firstDraws(order: EpochOrder, length: number): EpochOrder {
  return { length, itemAt: (position) => order.itemAt(position), passAt: (position) => order.passAt(position) };
}
