import { countWords } from '../count-words.js';
import { UsageError } from '../errors.js';
import type { BucketBins } from './batch-options.js';
import { addLoss, type ItemLosses } from './check-items.js';
import type { EpochPlan, LoaderState } from './epoch-plan.js';
import { planExact } from './exact-plan.js';
import type { ItemTable } from './item-table.js';
import { checkLoaderState } from './loader-state.js';
import { createPlanContext, type PlanContext } from './plan-context.js';
import { settlePlanOptions, type PlannerOptions } from './plan-settings.js';
import type { PlanWarning } from './plan-warnings.js';
import { planRandomizedBuckets } from './randomized-buckets.js';
import { planReplicate } from './replicate-plan.js';
import { planScatter } from './scatter-plan.js';
import { shareShards } from './shards-of-ranks.js';
import { createSpeedOf, type SpeedOf } from './speed-of.js';

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
  readonly losses: Readonly<ItemLosses>;
  /** Factor that a draw's audio is sped up by; 1 without `speeds`. */
  readonly speedOf: SpeedOf;
  /** @throws {RangeError} when the epoch is no whole number from 0 on. */
  planEpoch(epoch: number): EpochPlan;
  /**
   * The rest of an epoch; the state may be of another number of ranks.
   *
   * @throws {UsageError} when the state is of another seed, or has taken more than there is.
   */
  resume(state: LoaderState): EpochPlan;
}

/**
 * Looks at all options and items at once; epochs are planned when they are asked for.
 *
 * @throws {RangeError | UsageError} when an option is out of range, or options contradict each other or the sources.
 * @throws {InputError} when an item alone is above a limit, unless `oversized` says what becomes of it.
 */
export function createPlanner(table: ItemTable, options: PlannerOptions): Planner {
  const settings = settlePlanOptions(options);
  const warnings: PlanWarning[] = [];
  const context = createPlanContext(table, settings, warnings);
  checkStrategy(context, warnings);
  const { seed, worldSize } = settings;
  return {
    worldSize,
    seed,
    bins: context.buckets.bins,
    warnings,
    shares: table.leaves.map(({ name }, leaf) => ({ name, share: context.stream.shares[leaf]! })),
    losses: context.losses,
    speedOf: createSpeedOf(seed, settings.speeds),
    planEpoch: (epoch) => {
      if (!(Number.isSafeInteger(epoch) && epoch >= 0)) {
        throw new RangeError(`The epoch must be a whole number from 0 on, not ${epoch}`);
      }
      return planFrom(context, { seed, epoch, batch: 0, ranks: worldSize });
    },
    resume: ({ seed: stateSeed, epoch, batch, ranks }) => {
      const state = { seed: stateSeed, epoch, batch, ranks };
      checkLoaderState(state, seed);
      return planFrom(context, state);
    },
  };
}

function planFrom(context: PlanContext, state: LoaderState): EpochPlan {
  const { strategy, bucketOrder, shuffle } = context.settings;
  if (strategy === 'scatter') return planScatter(context, state);
  if (strategy === 'replicate') return planReplicate(context, state);
  const isRandomized = context.buckets.kind === 'static' && bucketOrder === 'fully_randomized' && shuffle;
  return isRandomized ? planRandomizedBuckets(context, state) : planExact(context, state);
}

/** Tells what a strategy loses or repeats. */
function checkStrategy({ table, settings, losses }: PlanContext, warnings: PlanWarning[]): void {
  const { strategy, worldSize, strict } = settings;
  if (strategy === 'exact' || worldSize === 1) return;
  const warning = strategy === 'replicate' ? repeatWarning(worldSize) : scatterWarning(table, worldSize, losses);
  if (warning === undefined) return;
  if (strict) throw new UsageError(warning.message, { hint: warning.hint });
  warnings.push(warning);
}

function repeatWarning(worldSize: number): PlanWarning {
  return {
    code: 'ranks_repeat',
    message: `With strategy "replicate", each of ${worldSize} ranks has all items: an epoch takes each of them ${worldSize} times`,
    hint: 'Use strategy "exact" to have each once.',
  };
}

function scatterWarning(table: ItemTable, worldSize: number, losses: ItemLosses): PlanWarning | undefined {
  const { lostShards, shardCount, lostRows } = shareShards(table, worldSize);
  if (lostShards === 0) return undefined;
  let micros = 0;
  for (const row of lostRows) micros += table.durationsMicros[row]!;
  addLoss(losses, 'scatter', lostRows.length, 0);
  losses['scatter']!.hours += micros / 3.6e9;
  const shards = `${lostShards} of ${countWords(shardCount, 'shard')}`;
  const rows = `${countWords(lostRows.length, 'row')} of ${(micros / 3.6e9).toFixed(3)} h`;
  return {
    code: 'scatter_loses_shards',
    message: `With strategy "scatter", ${worldSize} ranks never read the last ${shards}: ${rows}`,
    hint: 'Use strategy "exact", or as many shards as are a multiple of the ranks.',
  };
}
