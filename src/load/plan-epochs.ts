import { InputError } from '../errors.js';
import { BatchLimit } from './batch-limits.js';
import { StoredBatchList, type BatchList } from './batch-list.js';
import type { BucketBins } from './batch-options.js';
import { createNoBuckets } from './buckets.js';
import { DealtPlan } from './dealt-plan.js';
import { createDrawStream, storeOrder } from './epoch-order.js';
import type { EpochPlan, LoaderState } from './epoch-plan.js';
import { equaliseSteps, type EqualSteps } from './equal-steps.js';
import { formBatches, type FormingContext } from './form-batches.js';
import { ItemLookup, listPools } from './item-pools.js';
import type { ItemTable } from './item-table.js';
import { checkLoaderState, checkTakenBatches } from './loader-state.js';
import { reportPlan, type LostDraws } from './plan-report.js';
import { atSpeed, createSpeedOf, type SpeedOf } from './speed-of.js';
import { settlePlanOptions, type PlannerOptions, type PlanSettings } from './plan-settings.js';

/** Plans any epoch, for all ranks. */
export interface Planner {
  readonly worldSize: number;
  readonly seed: number;
  /** Upper bounds of the buckets; undefined without buckets of durations. */
  readonly bins: BucketBins | undefined;
  /** What the user should know before anything is read. */
  readonly warnings: readonly PlanWarning[];
  /** Of each leaf, of all draws. */
  readonly shares: readonly { name: string; share: number }[];
  /** Items that no epoch has, and hours of them, by reason: `scatter`, `oversized`, `beyond_buckets`. */
  readonly losses: Readonly<Record<string, { items: number; hours: number }>>;
  /** @throws {RangeError} when the epoch is no whole number from 0 on. */
  planEpoch(epoch: number): EpochPlan;
  /**
   * The rest of an epoch; the state may be of another number of ranks.
   *
   * @throws {UsageError} when the state is of another seed, or has taken more than there is.
   */
  resume(state: LoaderState): EpochPlan;
  /** Factor that a draw's audio is sped up by; 1 without `speeds`. */
  readonly speedOf: SpeedOf;
}

/** Told once, before the first epoch. */
export interface PlanWarning {
  code: 'fewer_buckets' | 'scatter_loses_shards' | 'ranks_repeat' | 'static_buckets_ignored' | 'empty_source';
  message: string;
  hint: string | undefined;
}

/**
 * Looks at all options and items at once; epochs are planned when they are asked for.
 *
 * @throws {RangeError | UsageError} when an option is out of range, or options contradict each other.
 * @throws {InputError} when an item alone is above a limit, unless `oversized` says what becomes of it.
 */
export function createPlanner(table: ItemTable, options: PlannerOptions): Planner {
  const settings = settlePlanOptions(options);
  const lookup = new ItemLookup(table);
  const speedOf = createSpeedOf(settings.seed, settings.speeds);
  const slowest = Math.min(1, ...settings.speeds);
  const context: FormingContext = {
    settings,
    lookup,
    speedOf: settings.speeds.length === 0 ? undefined : speedOf,
    buckets: createNoBuckets(settings),
  };
  checkOversized(table, settings, new BatchLimit(settings), slowest);
  const stream = createDrawStream(listPools(table), settings);

  const listOf = (epoch: number, ranks: number): { made: BatchList; lost: readonly LostDraws[] } => {
    const formed = formBatches(storeOrder(stream.orderOf(epoch)), context);
    const list = new StoredBatchList(formed.order, formed.starts.slice(0, -1), formed.starts.slice(1));
    return {
      made: equaliseSteps(list, { ...stepsOf(settings), width: ranks, first: 0, splitFrom: 0 }),
      lost: formed.lost,
    };
  };
  const planFrom = (state: LoaderState): EpochPlan => {
    const { made, lost } = listOf(state.epoch, state.ranks);
    checkTakenBatches(state, made.batchCount);
    const { worldSize } = settings;
    const list = equaliseSteps(made, {
      ...stepsOf(settings),
      width: worldSize,
      first: state.batch,
      splitFrom: made.batchCount,
    });
    const stepCount = (list.batchCount - state.batch) / worldSize;
    return new DealtPlan({
      epoch: state.epoch,
      worldSize,
      stepCount,
      list,
      batchOf: (rank, step) => state.batch + step * worldSize + rank,
      stateAt: (step) =>
        step === stepCount
          ? { seed: settings.seed, epoch: state.epoch + 1, batch: 0, ranks: worldSize }
          : { ...state, batch: state.batch + step * worldSize },
      report: (plan) =>
        reportPlan(plan, {
          ...{ table, lookup, speedOf: context.speedOf, shares: stream.shares, lost, taken: state.batch },
          ...{
            undrawn: settings.epochItems === undefined ? 'first_exhausted' : 'epoch_items',
            bounds: undefined,
            bucketCount: 0,
          },
        }),
    });
  };
  return {
    worldSize: settings.worldSize,
    seed: settings.seed,
    bins: undefined,
    warnings: [],
    shares: table.leaves.map((leaf, at) => ({ name: leaf.name, share: stream.shares[at]! })),
    losses: {},
    planEpoch: (epoch) => {
      if (!(Number.isSafeInteger(epoch) && epoch >= 0)) {
        throw new RangeError(`The epoch must be a whole number from 0 on, not ${epoch}`);
      }
      return planFrom({ seed: settings.seed, epoch, batch: 0, ranks: settings.worldSize });
    },
    resume: (state) => {
      checkLoaderState(state, settings.seed);
      return planFrom(state);
    },
    speedOf,
  };
}

function stepsOf(settings: PlanSettings): Pick<EqualSteps, 'lastBatch' | 'batchItems'> {
  const isCounted = settings.maxMicros === Infinity && settings.batchMicros === Infinity;
  const batchItems = new BatchLimit(settings).maxItems;
  return {
    lastBatch: settings.lastBatch,
    batchItems: isCounted && Number.isFinite(batchItems) ? batchItems : undefined,
  };
}

function checkOversized(table: ItemTable, settings: PlanSettings, limit: BatchLimit, slowest: number): void {
  if (settings.oversized !== 'error') return;
  for (let row = 0; row < table.rowCount; row += 1) {
    const micros = atSpeed(table.durationsMicros[row]!, slowest);
    if (limit.fits(1, micros)) continue;
    const seconds = table.durationsMicros[row]! / 1e6;
    throw new InputError(`Item ${row} of ${seconds} s is alone above a limit of batches`, {
      hint: 'Raise the limit, filter by maxDurationSeconds, or set oversized to "drop" or "alone".',
      path: table.parts[table.rowParts[row]!]?.manifestPath,
      line: table.lineNumbers[row],
    });
  }
}
