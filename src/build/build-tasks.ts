import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, UsageError } from '../errors.js';
import { removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { mapPath, type PathMapping } from '../run/path-map.js';
import type { PlannedTasks, TaskContext, TaskDivision, TaskExtent, TaskOutcome } from '../run/task.js';
import { inspectShards, salvageShards, shardGone } from '../shard/made-shards.js';
import { PlanFile } from '../shard/plan-file.js';
import { divideShards, packTask, writeShardDigests } from '../shard/shard-tasks.js';
import { failedOfAll, failedOfPart, isWithin, planBuild, type BuildContext, type BuildResult } from './build.js';
import { removeIfEmpty } from './build-lock.js';
import { summarizeOutcomes } from './build-summary.js';
import { finishBuild, readFinished } from './finish.js';
import { STDIN } from './input-file.js';
import { buildOutputs, type BuildOptions, type BuildOutputs } from './options.js';
import { SILENCE_SECONDS } from './prepare-plan.js';

/** What the plan's folder holds beside the digests: `build.json`. */
interface BuildPlace {
  /** Absolute, as the machine that planned spells it. */
  output_dir: string;
}

const PLACE_FILE = 'build.json';

/** What ending a dataset is given beside the plan. */
export interface FinishBuildContext {
  /** Hash of the plan. */
  hash: string;
  signal: AbortSignal;
  mappings: readonly PathMapping[];
  /** Lists the shards that are there, where others are not. */
  salvage: boolean;
}

/**
 * Plans a dataset for many machines: the plan lies in the output folder, as with `planOnly`, and the shards of a task are a stretch of it.
 *
 * @param folder exists and is empty
 * @throws as `planBuild`, and UsageError for options that make no sense here
 */
export async function planBuildTasks(
  options: BuildOptions,
  folder: string,
  { division, ...context }: BuildContext & { division: TaskDivision },
): Promise<PlannedTasks> {
  refuseUndivided(options);
  const plan = await planBuild(options, context);
  const outputs = buildOutputs(options.outputDir);
  // From now on the dataset is not whole.
  if (options.overwrite === true) await removeFile(outputs.metrics);
  // Nothing is left to be done of a dataset that is finished.
  const isFinished = (await readFinished(plan, outputs)) !== undefined;
  const extents = isFinished ? [] : divideShards(plan.shards, division);
  await writeShardDigests(folder, plan, extents);
  const place: BuildPlace = { output_dir: outputs.folder };
  await writeFileAtomic(path.join(folder, PLACE_FILE), (write) => write(`${JSON.stringify(place)}\n`));
  return {
    extents,
    hash: plan.hash,
    options: plan.header.options,
    units: { count: plan.shards.length, name: 'shards' },
    failedRows: plan.failureCount,
  };
}

/**
 * Makes the shards of a task in the output folder.
 *
 * @throws InputError when the plan is gone, another one or damaged; OutputError, CanceledError
 */
export async function runBuildTask(
  folder: string,
  task: TaskExtent,
  options: BuildOptions,
  { hash, ...context }: TaskContext & { hash: string },
): Promise<TaskOutcome> {
  const { outputs, plan } = await openPlanned(folder, hash, context.mappings);
  const finished = await readFinished(plan, outputs);
  if (finished !== undefined) return finished.outcomeOf(task.first, task.end);
  const outcome = await packTask(folder, task, context, {
    plan,
    folder: outputs.folder,
    workFolder: outputs.workFolder,
    silenceSeconds: options.recordingTimeoutSeconds ?? SILENCE_SECONDS,
    overwrite: options.overwrite ?? false,
  });
  return outcome;
}

/**
 * Ends a dataset whose tasks are done, byte for byte as one run does. Where tasks are missing it can be salvaged: `data.salvaged.lst` lists the
 * shards that are there, each of which is whole; there are no metrics then, which would say that the dataset is.
 *
 * @throws InputError when the plan is gone, another one or damaged; OutputError when shards are missing; CanceledError
 */
export async function finishBuildTasks(
  folder: string,
  options: BuildOptions,
  { hash, signal, mappings, salvage }: FinishBuildContext,
): Promise<BuildResult> {
  const startMs = performance.now();
  const { outputs, planned, plan } = await openPlanned(folder, hash, mappings);
  await plan.verify();
  const list = options.noLst === true ? undefined : outputs.list;
  const end = (ended: Omit<BuildResult, 'outputs' | 'isWithinLimit' | 'seconds'>): BuildResult => ({
    ...ended,
    outputs,
    isWithinLimit: isWithin(ended.failed, options),
    seconds: (performance.now() - startMs) / 1000,
  });
  const earlier = await readFinished(plan, outputs);
  if (earlier !== undefined) {
    const { summary } = earlier;
    return end({ kind: 'already_done', list, summary, failed: failedOfAll(summary) });
  }
  const outcomes = await inspectShards(plan, outputs, signal);
  if (salvage) {
    const there = outcomes.filter((outcome) => outcome !== undefined);
    const file = await salvageShards(plan, outputs.folder, planned.folder, there);
    const summary = summarizeOutcomes(plan, there, false);
    const failures = new Map(there.map(({ shard, failures: { length } }) => [shard, length]));
    const failed = failedOfPart(plan, [...failures.keys()], (shard) => failures.get(shard) ?? 0);
    return end({ kind: 'part', list: file, summary, failed });
  }
  const missing = outcomes.indexOf(undefined);
  const lockContext = { workFolder: outputs.workFolder, signal, isProcessAlive: undefined };
  const finish = { noLst: options.noLst ?? false, listedFolder: planned.folder };
  const summary = missing < 0 ? await finishBuild(plan, outputs, finish, lockContext) : undefined;
  if (summary === undefined) throw shardGone(plan, outputs.folder, Math.max(0, missing), 'build');
  await removeIfEmpty(outputs.workFolder);
  return end({ kind: 'built', list, summary, failed: failedOfAll(summary) });
}

/** The plan in the output folder, as this machine names it, and that folder as the plan spells it. */
async function openPlanned(
  folder: string,
  hash: string,
  mappings: readonly PathMapping[],
): Promise<{ outputs: BuildOutputs; planned: BuildOutputs; plan: PlanFile }> {
  const planned = buildOutputs((await readPlace(folder)).output_dir);
  const outputs = buildOutputs(mapPath(planned.folder, mappings));
  const plan = PlanFile.open(outputs.plan);
  if (plan?.hash === hash) return { outputs, planned, plan };
  const state = plan === undefined ? 'it is not there' : 'it is another one by now';
  throw new InputError(`Cannot carry out the plan "${outputs.plan}": ${state}`, {
    path: outputs.plan,
    hint:
      plan === undefined
        ? 'Where this machine has the output folder elsewhere, plan with --map LOCAL=REMOTE.'
        : 'Something planned anew in the output folder: plan anew in another folder, too.',
  });
}

async function readPlace(folder: string): Promise<BuildPlace> {
  const file = path.join(folder, PLACE_FILE);
  try {
    const place = JSON.parse(await readFile(file, 'utf8')) as Partial<BuildPlace> | null;
    if (typeof place?.output_dir === 'string') return { output_dir: place.output_dir };
  } catch (error) {
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  throw new InputError(`Cannot read "${file}": it is damaged`, {
    path: file,
    hint: 'Plan anew in another folder.',
  });
}

function refuseUndivided({ input, planOnly, splitStart, splitEnd }: BuildOptions): void {
  if (planOnly === true || splitStart !== undefined || splitEnd !== undefined) {
    throw new UsageError('--plan-only, --split-start and --split-end do not go with tasks', {
      hint: 'Leave them out: "cutroom plan" makes the plan, and each task makes a part of the shards.',
    });
  }
  if (input !== STDIN) return;
  throw new UsageError('A plan for many machines is not made of standard input', {
    hint: 'Write it to a file, and name that with --input.',
  });
}
