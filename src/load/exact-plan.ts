import { arrangeBatches } from './arrange-batches.js';
import { arrangedList, type BatchList } from './batch-list.js';
import type { Buckets } from './buckets.js';
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
  const { list, lost, batchItems } = listBatches(context, state);
  const steps = { lastBatch: settings.lastBatch, batchItems };
  const made = equaliseSteps(list, { ...steps, width: state.ranks, first: 0, splitFrom: 0 });
  return dealInOrder(made, { context, state, batchItems, lost: [...lost, droppedDraws(list, made)] });
}

/** All batches of an epoch in the order in which they are taken, before steps are made equal. */
function listBatches(
  context: PlanContext,
  state: LoaderState,
): { list: BatchList; lost: LostDraws[]; batchItems: number | undefined } {
  const { settings, buckets, stream } = context;
  const order = stream.orderOf(state.epoch);
  const micros = findUniformMicros(context);
  if (micros !== undefined) return formUniform(order, micros, context);
  const formed = formBatches(storeOrder(order), context);
  const arranging = { settings, buckets, epoch: state.epoch, ranks: state.ranks, rank: 0 };
  const columns = { ...formed, buckets: buckets.kind === 'none' ? undefined : formed.buckets };
  const list = arrangedList(formed.order, columns, arrangeBatches(formed, arranging));
  return { list, lost: formed.lost, batchItems: countedItems(settings, buckets) };
}

/** Items of a batch where nothing but their number limits it, and any may go into any; else undefined. */
function countedItems({ maxMicros, batchMicros }: PlanSettings, buckets: Buckets): number | undefined {
  const { maxItems } = buckets.limitOf(0);
  const isCounted = maxMicros === Infinity && batchMicros === Infinity && Number.isFinite(maxItems);
  return buckets.kind === 'none' && isCounted ? maxItems : undefined;
}
