import type { BatchList } from './batch-list.js';
import { DealtPlan } from './dealt-plan.js';
import type { EpochPlan, LoaderState } from './epoch-plan.js';
import { droppedDraws, equaliseSteps } from './equal-steps.js';
import { checkTakenBatches } from './loader-state.js';
import type { PlanContext } from './plan-context.js';
import { reportPlan, type LostDraws, type ReportContext } from './plan-report.js';
import { findUniformMicros } from './uniform-batches.js';

/** What a list is dealt out with. */
export interface InOrder {
  context: PlanContext;
  /** Where the plan begins, and for how many ranks the list has whole steps. */
  state: LoaderState;
  /** As of `EqualSteps`. */
  batchItems: number | undefined;
  /** Draws that are in no batch of the list. */
  lost: readonly LostDraws[];
}

/**
 * Deals the batches of a list out: step s of rank r of W is batch `first + s · W + r`. So any number of ranks can go on where another stopped;
 * it has whole steps of its own in what is left.
 *
 * @throws {UsageError} when the state has taken more batches than there are.
 */
export function dealInOrder(made: BatchList, { context, state, batchItems, lost }: InOrder): EpochPlan {
  checkTakenBatches(state, made.batchCount);
  const { settings } = context;
  const { worldSize } = settings;
  const first = state.batch;
  const list = equaliseSteps(made, {
    ...{ lastBatch: settings.lastBatch, width: worldSize, first, batchItems },
    splitFrom: made.batchCount,
  });
  const stepCount = (list.batchCount - first) / worldSize;
  const allLost = [...lost, droppedDraws(made, list)];
  return new DealtPlan({
    epoch: state.epoch,
    worldSize,
    stepCount,
    list,
    batchOf: (rank, step) => first + step * worldSize + rank,
    stateAt: (step) =>
      step === stepCount ? startOfNext(context, state.epoch) : { ...state, batch: first + step * worldSize },
    report: (plan) => reportPlan(plan, reportContext(context, allLost, first)),
  });
}

/** The state at the end of an epoch. */
export function startOfNext({ settings }: PlanContext, epoch: number): LoaderState {
  return { seed: settings.seed, epoch: epoch + 1, batch: 0, ranks: settings.worldSize };
}

/** @param taken batches of the list that were taken before */
export function reportContext(context: PlanContext, lost: readonly LostDraws[], taken: number): ReportContext {
  const { table, lookup, speedOf, settings, buckets, stream } = context;
  return {
    ...{ table, lookup, speedOf, lost, taken },
    undrawn: settings.epochItems === undefined ? 'first_exhausted' : 'epoch_items',
    shares: stream.shares,
    bounds: buckets.bounds,
    uniformMicros: findUniformMicros(context),
  };
}
