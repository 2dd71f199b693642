import { OutputError, UsageError } from '../errors.js';
import { shardPathFault } from '../manifest/shard-list.js';
import { checkWritable, ensureFolder, removeFile, sizeOf } from '../run/atomic-file.js';
import { writeShardList } from '../shard/made-shards.js';
import { refuseForeignOutputs } from '../shard/metrics-owner.js';
import { packShards } from '../shard/pack-shards.js';
import type { PlanFile } from '../shard/plan-file.js';
import type { OnPackProgress } from '../shard/progress.js';
import { removeIfEmpty } from './build-lock.js';
import { summarizeOutcomes, sumCounts, summarizePlan, type BuildSummary } from './build-summary.js';
import { finishBuild, partListPath, readFinished } from './finish.js';
import { buildOutputs, checkBuildOptions, jobsOf, type BuildOptions, type BuildOutputs } from './options.js';
import { preparePlan, requirePlannable, SILENCE_SECONDS, type PrepareContext } from './prepare-plan.js';

/** What a build is given beside its options. */
export interface BuildContext {
  /** Stops the run; what is made is kept. */
  signal?: AbortSignal | undefined;
  onProgress?: OnPackProgress | undefined;
  /** The bytes of the input `-`. */
  stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often what is made is made sure of on the disk, in milliseconds. Default 2,000. */
  checkpointMs?: number | undefined;
}

/** How a build ended. */
export interface BuildResult {
  /**
   * `planned`: the plan is there, and no shard was asked for. `part`: the shards that were asked for are there, others are not. `already_done`: an
   * earlier run finished this very dataset, and nothing was touched.
   */
  kind: 'planned' | 'part' | 'built' | 'already_done';
  outputs: BuildOutputs;
  /** The list of this run: of its own shards with `part`. Undefined where none was asked for. */
  list: string | undefined;
  /** Of the dataset; with `part` of the shards of this run alone. */
  summary: BuildSummary;
  /** What failed, as far as this run answers for it. */
  failed: FailureCounts;
  /** False when more failed than is allowed. */
  isWithinLimit: boolean;
  /** Wall time of this run. */
  seconds: number;
}

/**
 * What the limit of failures is held against. A run that makes a part of the shards answers for the members of these alone: what planning found is the
 * matter of the run that planned.
 */
export interface FailureCounts {
  rows: number;
  members: number;
  /** Rows of the input, or with a part items of its shards: what a limit in percent is of. */
  of: number;
}

/**
 * Plans a dataset and writes the plan into the output folder, unless it is there already.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function planBuild(options: BuildOptions, context: BuildContext = {}): Promise<PlanFile> {
  checkBuildOptions(options);
  const outputs = buildOutputs(options.outputDir);
  await refuseForeignOutputs(outputs.metrics, 'build', 'output-dir');
  requireListable(options, outputs);
  if ((await sizeOf(outputs.plan)) === undefined) requirePlannable(options, outputs);
  const isNew = (await sizeOf(outputs.folder)) === undefined;
  await ensureFolder(outputs.folder);
  try {
    await checkWritable(outputs.plan);
    return await preparePlan(options, outputs, prepareContext(outputs, context));
  } finally {
    await removeIfEmpty(outputs.workFolder);
    if (isNew) await removeIfEmpty(outputs.folder);
  }
}

/**
 * Packs utterances into tar shards for ATdataset: tars, manifests and a list of them. The same call goes on where an interrupted one stopped.
 *
 * @throws UsageError, InputError, OutputError, CanceledError; RangeError for an option out of its range
 */
export async function build(options: BuildOptions, context: BuildContext = {}): Promise<BuildResult> {
  const startMs = performance.now();
  const plan = await planBuild(options, context);
  const outputs = buildOutputs(options.outputDir);
  const ended = await carryOut(plan, options, outputs, context);
  await removeIfEmpty(outputs.workFolder);
  return {
    ...ended,
    outputs,
    isWithinLimit: isWithin(ended.failed, options),
    seconds: (performance.now() - startMs) / 1000,
  };
}

async function carryOut(
  plan: PlanFile,
  options: BuildOptions,
  outputs: BuildOutputs,
  context: BuildContext,
): Promise<Pick<BuildResult, 'kind' | 'list' | 'summary' | 'failed'>> {
  const list = options.noLst === true ? undefined : outputs.list;
  if (options.planOnly === true) {
    const summary = summarizePlan(plan);
    return { kind: 'planned', list: undefined, summary, failed: failedOfAll(summary) };
  }
  const shards = shardsToMake(plan, options);
  const isPart = options.splitStart !== undefined || options.splitEnd !== undefined;
  if (options.overwrite === true) {
    // From now on the dataset is not whole.
    await removeFile(outputs.metrics);
  } else {
    const finished = await readFinished(plan, outputs);
    if (finished !== undefined) {
      const { summary, failedMembers } = finished;
      const failed = isPart ? failedOfPart(plan, shards, (shard) => failedMembers[shard] ?? 0) : failedOfAll(summary);
      return { kind: 'already_done', list, summary, failed };
    }
  }
  const outcomes = await packShards({
    plan,
    folder: outputs.folder,
    workFolder: outputs.workFolder,
    base: options.base,
    shards,
    jobs: jobsOf(options),
    silenceSeconds: options.recordingTimeoutSeconds ?? SILENCE_SECONDS,
    overwrite: options.overwrite ?? false,
    signal: context.signal,
    onProgress: context.onProgress,
    isProcessAlive: context.isProcessAlive,
    checkpointMs: context.checkpointMs,
  });
  context.onProgress?.({ stage: 'finish' });
  const partList = isPart && list !== undefined ? partListPath(outputs, shards[0]!, shards.at(-1)! + 1) : undefined;
  if (partList !== undefined) await writeShardList(partList, plan, outputs.folder, outcomes);
  const lockContext = prepareContext(outputs, context);
  const finished = await finishBuild(plan, outputs, { noLst: options.noLst ?? false }, lockContext);
  const failuresOf = new Map(outcomes.map(({ shard, failures }) => [shard, failures.length]));
  const ofPart = failedOfPart(plan, shards, (shard) => failuresOf.get(shard) ?? 0);
  if (finished !== undefined) {
    return { kind: 'built', list, summary: finished, failed: isPart ? ofPart : failedOfAll(finished) };
  }
  if (isPart) {
    return { kind: 'part', list: partList, summary: summarizeOutcomes(plan, outcomes, false), failed: ofPart };
  }
  throw new OutputError(`The work folder "${outputs.workFolder}" lost what it knew of shards`, {
    path: outputs.workFolder,
    hint: 'Run the same command again, and see that only cutroom works in the output folder.',
  });
}

function prepareContext({ workFolder }: BuildOutputs, context: BuildContext): PrepareContext {
  const { signal, stdin, isProcessAlive, onProgress = () => undefined } = context;
  return { workFolder, signal, stdin, isProcessAlive, onProgress };
}

/** Finds out early that a list could not hold the paths of the shards. */
function requireListable({ noLst, planOnly }: BuildOptions, { folder }: BuildOutputs): void {
  const fault = shardPathFault(folder);
  if (noLst === true || planOnly === true || fault === undefined) return;
  throw new UsageError(`Cannot list shards in "${folder}": ${fault}`, {
    hint: 'Choose another --output-dir, or do without a list: --no-lst.',
  });
}

function shardsToMake(plan: PlanFile, { splitStart = 0, splitEnd }: BuildOptions): number[] {
  const count = plan.shards.length;
  const end = splitEnd ?? count;
  if (end > count || splitStart >= count) {
    const given = end > count ? `--split-end ${end}` : `--split-start ${splitStart}`;
    throw new UsageError(`${given} is past the last shard: the plan has ${count}, counted from 0`, {
      hint: `Give --split-start from 0 to ${count - 1} and --split-end from 1 to ${count}.`,
    });
  }
  return Array.from({ length: end - splitStart }, (_, index) => splitStart + index);
}

/** What the limit is held against where the whole dataset is there. */
export function failedOfAll({ failedRows, failedMembers, rowsRead }: BuildSummary): FailureCounts {
  return { rows: sumCounts(failedRows), members: sumCounts(failedMembers), of: rowsRead };
}

/** The same of some shards. */
export function failedOfPart(
  plan: PlanFile,
  shards: readonly number[],
  failuresOf: (shard: number) => number,
): FailureCounts {
  const counts = { rows: 0, members: 0, of: 0 };
  for (const shard of shards) {
    counts.members += failuresOf(shard);
    counts.of += plan.shards[shard]?.itemCount ?? 0;
  }
  return counts;
}

/** Whether no more failed than is allowed. */
export function isWithin(
  failed: FailureCounts,
  { onError = 'fail', maxFailures = { count: 0 } }: BuildOptions,
): boolean {
  if (onError === 'skip') return true;
  const failures = failed.rows + failed.members;
  if ('count' in maxFailures) return failures <= maxFailures.count;
  return failures <= (maxFailures.percent / 100) * failed.of;
}
