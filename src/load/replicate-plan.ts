import { EpochPermutations } from '../random/permutation.js';
import { arrangeBatches, bucketEnds } from './arrange-batches.js';
import { StoredBatchList, type BatchList } from './batch-list.js';
import { reportContext, startOfNext } from './deal-in-order.js';
import { DealtPlan } from './dealt-plan.js';
import { storeOrder } from './epoch-order.js';
import type { EpochPlan, LoaderState } from './epoch-plan.js';
import { formBatches } from './form-batches.js';
import { checkTakenBatches } from './loader-state.js';
import type { PlanContext } from './plan-context.js';
import { reportPlan, type LostDraws } from './plan-report.js';
import { findUniformMicros, formUniform } from './uniform-batches.js';

/** All batches of an epoch, and the bucket of each step. */
interface ReplicatedList {
  list: BatchList;
  lost: readonly LostDraws[];
  /** Which batch is taken at a step, before ranks go their own ways. */
  batchAt: (step: number) => number;
  /** Batches of a bucket lie side by side from the first to before the second. */
  bucketSpan: (batch: number) => readonly [first: number, end: number];
}

/**
 * The rest of an epoch of which each rank takes all batches: at each step one of the same bucket as the others, but in each bucket in an order of its
 * own. A rank that joins later takes what is left of the steps.
 */
export function planReplicate(context: PlanContext, state: LoaderState): EpochPlan {
  const { worldSize, seed, shuffle } = context.settings;
  const { list, lost, batchAt, bucketSpan } = listReplicated(context, state.epoch);
  checkTakenBatches(state, list.batchCount * state.ranks);
  const firstStep = Math.floor(state.batch / state.ranks);
  const stepCount = list.batchCount - firstStep;
  // Of each rank, by the first batch of the bucket.
  const permutations: Map<number, EpochPermutations>[] = Array.from({ length: worldSize }, () => new Map());
  const permute = (rank: number, batch: number): number => {
    const [first, end] = bucketSpan(batch);
    const ofRank = permutations[rank]!;
    let permutation = ofRank.get(first);
    if (permutation === undefined) {
      permutation = new EpochPermutations(end - first, seed, `load/replicate/${rank}/${first}`);
      ofRank.set(first, permutation);
    }
    return first + permutation.at(state.epoch, batch - first);
  };
  return new DealtPlan({
    epoch: state.epoch,
    worldSize,
    stepCount,
    list,
    batchOf: (rank, step) => {
      const batch = batchAt(firstStep + step);
      return shuffle ? permute(rank, batch) : batch;
    },
    stateAt: (step) =>
      step === stepCount
        ? startOfNext(context, state.epoch)
        : { seed, epoch: state.epoch, batch: (firstStep + step) * worldSize, ranks: worldSize },
    report: (plan) => {
      const reported = reportContext(context, lost, 0);
      return reportPlan(
        plan,
        state.batch === 0 ? { ...reported, usesOfEach: worldSize } : { ...reported, undrawn: undefined },
      );
    },
  });
}

function listReplicated(context: PlanContext, epoch: number): ReplicatedList {
  const { stream, buckets, settings } = context;
  const micros = findUniformMicros(context);
  if (micros !== undefined) {
    const { list, lost } = formUniform(stream.orderOf(epoch), micros, context);
    return { list, lost, batchAt: (step) => step, bucketSpan: () => [0, list.batchCount] };
  }
  const formed = formBatches(storeOrder(stream.orderOf(epoch)), context);
  const sequence = arrangeBatches(formed, { settings, buckets, epoch, ranks: 1, rank: 0 });
  const ends = bucketEnds(formed.buckets, buckets.count);
  return {
    list: new StoredBatchList(formed.order, {
      ...formed,
      buckets: buckets.kind === 'none' ? undefined : formed.buckets,
    }),
    lost: formed.lost,
    batchAt: (step) => sequence[step]!,
    bucketSpan: (batch) => {
      const bucket = formed.buckets[batch]!;
      return [ends[bucket - 1] ?? 0, ends[bucket]!];
    },
  };
}
