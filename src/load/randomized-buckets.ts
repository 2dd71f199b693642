import { UsageError } from '../errors.js';
import { bucketEnds, orderStatic } from './arrange-batches.js';
import { StoredBatchList, type BatchList } from './batch-list.js';
import { reportContext, startOfNext } from './deal-in-order.js';
import { DealtPlan } from './dealt-plan.js';
import { storeOrder } from './epoch-order.js';
import type { EpochPlan, LoaderState } from './epoch-plan.js';
import { droppedDraws, equaliseSteps } from './equal-steps.js';
import { formBatches, type FormedBatches } from './form-batches.js';
import { checkTakenBatches } from './loader-state.js';
import type { PlanContext } from './plan-context.js';
import { reportPlan } from './plan-report.js';

/**
 * The rest of an epoch of static buckets that each rank goes through in an order of its own. Each bucket has whole steps, so that ranks have equally
 * many, whatever their order.
 *
 * @throws {UsageError} when the state is of another number of ranks: they stand in different buckets, so what they have taken together is no
 * beginning of any list.
 */
export function planRandomizedBuckets(context: PlanContext, state: LoaderState): EpochPlan {
  const { settings, buckets, stream } = context;
  const { worldSize } = settings;
  if (state.ranks !== worldSize || state.batch % worldSize !== 0) {
    throw new UsageError(
      `Cannot resume on ${worldSize} ranks what ${state.ranks} ranks began: each has its own order of buckets`,
      { hint: `Resume on ${state.ranks} ranks, or let bucketOrder be "synced_randomized".` },
    );
  }
  const formed = formBatches(storeOrder(stream.orderOf(state.epoch)), context);
  const lists = splitByBucket(formed, buckets.count);
  const equal = lists.map((list) =>
    equaliseSteps(list, {
      ...{ lastBatch: settings.lastBatch, width: worldSize, first: 0, splitFrom: 0 },
      batchItems: undefined,
    }),
  );
  const list = joinLists(equal, formed);
  checkTakenBatches(state, list.batchCount);
  const firstStep = state.batch / worldSize;
  const stepCount = list.batchCount / worldSize - firstStep;
  const rowOf = createRowOf(context, state.epoch, equal);
  const lost = [...formed.lost, ...lists.map((before, bucket) => droppedDraws(before, equal[bucket]!))];
  return new DealtPlan({
    epoch: state.epoch,
    worldSize,
    stepCount,
    list,
    batchOf: (rank, step) => rowOf(rank, firstStep + step) * worldSize + rank,
    stateAt: (step) =>
      step === stepCount ? startOfNext(context, state.epoch) : { ...state, batch: (firstStep + step) * worldSize },
    report: (plan) => {
      const reported = reportContext(context, lost, 0);
      return reportPlan(plan, state.batch === 0 ? reported : { ...reported, undrawn: undefined });
    },
  });
}

function splitByBucket({ order, starts, ends, buckets }: FormedBatches, count: number): BatchList[] {
  const batchEnds = bucketEnds(buckets, count);
  return Array.from(batchEnds, (end, bucket) => {
    const from = batchEnds[bucket - 1] ?? 0;
    return new StoredBatchList(order, {
      starts: starts.subarray(from, end),
      ends: ends.subarray(from, end),
      buckets: buckets.subarray(from, end),
    });
  });
}

function joinLists(lists: readonly BatchList[], { order }: FormedBatches): BatchList {
  const count = lists.reduce((sum, list) => sum + list.batchCount, 0);
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const buckets = new Uint16Array(count);
  const padCounts = new Uint32Array(count);
  let next = 0;
  for (const list of lists) {
    for (let batch = 0; batch < list.batchCount; batch += 1) {
      starts[next] = list.startOf(batch);
      ends[next] = list.endOf(batch);
      buckets[next] = list.bucketOf(batch) ?? 0;
      padCounts[next] = list.padCountOf(batch);
      next += 1;
    }
  }
  return new StoredBatchList(order, { starts, ends, buckets, padCounts });
}

/** Which row of steps a rank takes at a step of its own. */
function createRowOf(
  { settings, buckets }: PlanContext,
  epoch: number,
  lists: readonly BatchList[],
): (rank: number, step: number) => number {
  const rows = lists.map((list) => list.batchCount / settings.worldSize);
  const firstRows = rows.map((_, bucket) => rows.slice(0, bucket).reduce((sum, count) => sum + count, 0));
  const orders = new Map<number, Uint32Array>();
  return (rank, step) => {
    let order = orders.get(rank);
    if (order === undefined) {
      order = orderStatic({ settings, buckets, epoch, ranks: settings.worldSize, rank });
      orders.set(rank, order);
    }
    let left = step;
    for (const bucket of order) {
      if (left < rows[bucket]!) return firstRows[bucket]! + left;
      left -= rows[bucket]!;
    }
    throw new RangeError(`There is no step ${step}`);
  };
}
