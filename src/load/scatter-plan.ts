import { Balance } from '../random/balance.js';
import { arrangeBatches } from './arrange-batches.js';
import { arrangedList, StoredBatchList, type BatchList, type EpochOrder } from './batch-list.js';
import { dealInOrder } from './deal-in-order.js';
import { createDrawStream, storeOrder } from './epoch-order.js';
import type { EpochPlan, LoaderState } from './epoch-plan.js';
import { cutSpans, droppedDraws, spanOf, type Span } from './equal-steps.js';
import { formBatches } from './form-batches.js';
import type { PlanContext } from './plan-context.js';
import type { LostDraws } from './plan-report.js';
import { rowsAsDraws, shareShards } from './shards-of-ranks.js';

/**
 * The rest of an epoch, of which each rank batches the rows of its own shards. Batch s of rank r becomes batch s · W + r of one list, so that another
 * number of ranks can go on with what is left of it.
 */
export function planScatter(context: PlanContext, state: LoaderState): EpochPlan {
  const { settings, table } = context;
  const shares = shareShards(table, state.ranks);
  const lost: LostDraws[] = [{ reason: 'scatter', order: rowsAsDraws(shares.lostRows) }];
  const lists: BatchList[] = [];
  const balances = new Map<string, Balance>();
  const balanceOf = (weights: readonly (number | string)[]): Balance => {
    const balance = balances.get(weights.join(' ')) ?? new Balance(weights);
    balances.set(weights.join(' '), balance);
    return balance;
  };
  for (let rank = 0; rank < state.ranks; rank += 1) {
    const epochItems = settings.epochItems === undefined ? undefined : shareOf(settings.epochItems, rank, state.ranks);
    const stream = createDrawStream(shares.poolsOf(rank), { ...settings, epochItems }, balanceOf);
    const formed = formBatches(storeOrder(stream.orderOf(state.epoch)), context);
    const arranging = { settings, buckets: context.buckets, epoch: state.epoch, ranks: 1, rank };
    const columns = { ...formed, buckets: context.buckets.kind === 'none' ? undefined : formed.buckets };
    lists.push(arrangedList(formed.order, columns, arrangeBatches(formed, arranging)));
    lost.push(...formed.lost);
  }
  const counts = lists.map((list) => list.batchCount);
  const isDropping = settings.lastBatch === 'drop';
  const stepCount = isDropping ? Math.min(...counts) : Math.max(...counts);
  if (isDropping) lost.push(...lists.map((list) => droppedDraws(list, { batchCount: stepCount })));
  const made = interleave(lists, stepCount, settings.lastBatch === 'pad');
  return dealInOrder(made, { context, state, batchItems: undefined, lost });
}

function shareOf(total: number, rank: number, ranks: number): number {
  return Math.floor(total / ranks) + (rank < total % ranks ? 1 : 0);
}

/** One list of the same number of batches of each. */
function interleave(lists: readonly BatchList[], stepCount: number, isPadded: boolean): BatchList {
  const ranks = lists.length;
  const firsts: number[] = [];
  let positions = 0;
  for (const list of lists) {
    firsts.push(positions);
    positions += list.order.length;
  }
  const count = stepCount * ranks;
  const [starts, ends, padCounts] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  const buckets = lists.some((list) => list.bucketOf(0) !== undefined) ? new Uint16Array(count) : undefined;
  const put = (step: number, rank: number, span: Span, owner: number): void => {
    const at = step * ranks + rank;
    starts[at] = firsts[owner]! + span.start;
    ends[at] = firsts[owner]! + span.end;
    padCounts[at] = span.padCount;
    if (buckets !== undefined) buckets[at] = span.bucket ?? 0;
  };
  for (const [rank, list] of lists.entries()) {
    const missing = Math.max(0, stepCount - list.batchCount);
    // Each of the batches that are cut gives one or two.
    const cut = isPadded ? 0 : Math.min(list.batchCount, 2 * missing);
    const head = Math.min(stepCount, list.batchCount - cut);
    for (let step = 0; step < head; step += 1) put(step, rank, spanOf(list, step), rank);
    const tail = Array.from({ length: cut }, (_, at) => spanOf(list, head + at));
    if (isPadded) {
      // A rank without rows repeats those of the first that has some.
      const owner = list.batchCount > 0 ? rank : lists.findIndex((other) => other.batchCount > 0);
      for (let at = 0; at < missing; at += 1) {
        const span = spanOf(lists[owner]!, at % lists[owner]!.batchCount);
        put(head + at, rank, { ...span, padCount: span.end - span.start }, owner);
      }
    } else if (missing > 0) {
      const parts = cutSpans(tail.length > 0 ? tail : [emptySpan(list)], cut > 0 ? cut + missing : missing);
      for (const [at, span] of parts.entries()) put(head + at, rank, span, rank);
    }
  }
  return new StoredBatchList(joinOrders(lists, firsts), { starts, ends, buckets, padCounts });
}

function emptySpan(list: BatchList): Span {
  return { start: list.order.length, end: list.order.length, bucket: undefined, padCount: 0 };
}

/** Orders one behind the other. */
function joinOrders(lists: readonly BatchList[], firsts: readonly number[]): EpochOrder {
  const last = lists.length - 1;
  const find = (position: number): { order: EpochOrder; at: number } => {
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle]! <= position) low = middle;
      else high = middle - 1;
    }
    return { order: lists[low]!.order, at: position - firsts[low]! };
  };
  return {
    length: firsts[last]! + lists[last]!.order.length,
    itemAt: (position) => {
      const { order, at } = find(position);
      return order.itemAt(at);
    },
    passAt: (position) => {
      const { order, at } = find(position);
      return order.passAt(at);
    },
  };
}
