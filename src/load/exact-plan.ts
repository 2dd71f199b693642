import { arrangeBatches } from './arrange-batches.js';
import { BatchLimit } from './batch-limits.js';
import { arrangedList, type BatchList } from './batch-list.js';
import { dealInOrder } from './deal-in-order.js';
import { storeOrder } from './epoch-order.js';
import type { EpochPlan, LoaderState } from './epoch-plan.js';
import { droppedDraws, equaliseSteps } from './equal-steps.js';
import { formBatches } from './form-batches.js';
import type { PlanContext } from './plan-context.js';
import type { LostDraws } from './plan-report.js';
import type { PlanSettings } from './plan-settings.js';
import { findUniformMicros, formUniform } from './uniform-batches.js';

/** The rest of an epoch, of which the batches of all items are dealt out to the ranks. */
export function planExact(context: PlanContext, state: LoaderState): EpochPlan {
  const { settings } = context;
  const { list, lost } = listBatches(context, state);
  const batchItems = countedItems(settings, context.buckets.limitOf(0), context.buckets.kind === 'none');
  const steps = { lastBatch: settings.lastBatch, batchItems };
  const made = equaliseSteps(list, { ...steps, width: state.ranks, first: 0, splitFrom: 0 });
  return dealInOrder(made, { context, state, batchItems, lost: [...lost, droppedDraws(list, made)] });
}

/** All batches of an epoch in the order in which they are taken, before steps are made equal. */
function listBatches(context: PlanContext, state: LoaderState): { list: BatchList; lost: LostDraws[] } {
  const { settings, buckets, stream } = context;
  const order = stream.orderOf(state.epoch);
  const micros = findUniformMicros(context);
  if (micros !== undefined) return formUniform(order, micros, context);
  const formed = formBatches(storeOrder(order), context);
  const arranging = { settings, buckets, epoch: state.epoch, ranks: state.ranks, rank: 0 };
  const columns = { ...formed, buckets: buckets.kind === 'none' ? undefined : formed.buckets };
  return { list: arrangedList(formed.order, columns, arrangeBatches(formed, arranging)), lost: formed.lost };
}

/** Items of a batch where nothing but their number limits it, and any may go into any. */
function countedItems(settings: PlanSettings, limit: BatchLimit, isOneBucket: boolean): number | undefined {
  const isCounted = settings.maxMicros === Infinity && settings.batchMicros === Infinity;
  return isOneBucket && isCounted && Number.isFinite(limit.maxItems) ? limit.maxItems : undefined;
}
