import { INDEX_KINDS, type IndexKind } from '../shard/index-types.js';
import type { PackFailure } from '../shard/plan.js';
import type { TarContext } from './context.js';
import { warnOfLostMembers, type DatasetPlan } from './dataset-plan.js';
import type { BaseDataset } from './grown.js';
import type { TarIdentity } from './identity.js';
import type { TarOutputs } from './layout.js';
import type { MadeShards } from './make-shards.js';
import { metricsOf, type TarMetrics } from './metrics.js';
import type { ResolvedTarOptions } from './options.js';
import { clearWorkFolder, publishDatasets, publishMetrics } from './publish.js';
import { summarizeRun, type SelectionFacts } from './summary.js';
import { requireNewest, settleOtherIndexes, writeTarIndexes, type IndexRun } from './write-tar-indexes.js';

/** A run whose shards are made. */
export interface MadeRun {
  outputs: TarOutputs;
  options: ResolvedTarOptions;
  identity: TarIdentity;
  base: BaseDataset | undefined;
  selection: SelectionFacts;
  datasets: readonly DatasetPlan[];
  /** Seconds of each row, by its number; NaN where they are not known. */
  durations: readonly number[] | Float64Array;
  /** What planning found, what it left out included. */
  failures: readonly PackFailure[];
  /** What planning has to say. */
  warnings: readonly string[];
  made: MadeShards;
  context: Pick<TarContext, 'signal' | 'onProgress' | 'environment'>;
  /** Makes sure that nobody else writes here by now. */
  confirm: () => Promise<void>;
}

/** Writes all that is not shards, the metrics last. */
export async function endRun(run: MadeRun): Promise<TarMetrics> {
  const { outputs, options, identity, base, selection, datasets, made, context } = run;
  const warnings = [...run.warnings];
  warnOfLostMembers(datasets, made, warnings);
  context.onProgress?.({ stage: 'finish' });
  await run.confirm();
  const summary = summarizeRun({ selection, datasets, made, warnings });
  await publishDatasets({
    outputs,
    options,
    datasets,
    durations: run.durations,
    base,
    failures: [...run.failures, ...made.failures],
    summary,
    environment: context.environment ?? {},
  });
  const metrics = metricsOf(identity, summary, made, options.shardManifests);
  const indexRun: IndexRun = { outputs, metrics, base, context };
  metrics.warnings.push(...(await settleOtherIndexes(options.index, indexRun)));
  metrics.indexes = await writeTarIndexes(options.index, indexRun);
  await run.confirm();
  await publishMetrics(outputs, metrics);
  return metrics;
}

/**
 * Writes the indexes that a finished dataset lacks.
 *
 * @returns its metrics, and whether there was something to be done
 */
export async function addIndexes(
  kinds: readonly IndexKind[],
  run: Omit<IndexRun, 'metrics'> & { metrics: TarMetrics },
): Promise<{ metrics: TarMetrics; isChanged: boolean }> {
  const { outputs, metrics } = run;
  const missing = kinds.filter((kind) => !metrics.indexes.some(({ index }) => index === kind));
  if (missing.length === 0) {
    await clearWorkFolder(outputs);
    return { metrics, isChanged: false };
  }
  await requireNewest(run);
  const indexes = [...metrics.indexes, ...(await writeTarIndexes(missing, run))];
  const order = (kind: IndexKind): number => INDEX_KINDS.indexOf(kind);
  const whole = { ...metrics, indexes: indexes.toSorted((a, b) => order(a.index) - order(b.index)) };
  await publishMetrics(outputs, whole);
  return { metrics: whole, isChanged: true };
}
