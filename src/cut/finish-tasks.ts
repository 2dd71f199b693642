import path from 'node:path';
import { OutputError, UsageError } from '../errors.js';
import { sizeOf } from '../run/atomic-file.js';
import type { Lock } from '../run/lock.js';
import { mapPath } from '../run/path-map.js';
import type { PathMapping } from '../run/path-map.js';
import type { TaskOutcome } from '../run/task.js';
import { refuseForeignOutputs } from '../shard/metrics-owner.js';
import { conclude } from './conclude.js';
import type { CutPlan } from './cut-plan.js';
import { inspectEarlierOutputs } from './earlier-outputs.js';
import { execute } from './execute.js';
import type { RunIdentity } from './identity.js';
import { resolveCutOptions } from './options.js';
import type { CutOptions, CutOutputs, ResolvedCutOptions } from './options.js';
import { OutputsWriter } from './outputs-writer.js';
import { RunJournal } from './run-journal.js';
import { optionsOf } from './run-task.js';
import { listShardFiles } from './shard-section.js';
import type { ShardTally } from './shard-tally.js';
import { StaleWorkError } from './stale-work.js';
import { isWithinLimit, summarizeEarlier, summarizeMetrics } from './summary.js';
import type { CutSummary } from './summary.js';
import { openWholePlan, readPlannedFailures, readTaskPlan } from './task-plan.js';
import type { TaskPlanFacts } from './task-plan.js';
import { placeTaskShards, TaskTally } from './task-shards.js';
import { TaskSnippets } from './task-snippets.js';
import { clearWork, journalPath, workLocked } from './work-folder.js';

/** What making the finals is given beside the plan. */
export interface FinishTasksContext {
  /** SHA-256, in hex, of the plan. */
  hash: string;
  signal: AbortSignal;
  /** Folders of the plan that this machine has elsewhere. */
  mappings: readonly PathMapping[];
  /** Finals of the tasks that are done, where others are not. */
  salvage: boolean;
  /** One tar and manifest a task, and a list, instead of one tar. */
  asShards: boolean;
  /** The tasks that are done. */
  done: ReadonlyMap<number, TaskOutcome>;
  onProgress?: ((doneShare: number) => void) | undefined;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often the outputs are made sure of on the disk, in milliseconds. Default 2,000. */
  checkpointMs?: number | undefined;
}

/** How finals were made. */
export interface FinishedTasks {
  /** `already_done`: they are there, and nothing was touched. */
  kind: 'finished' | 'salvaged' | 'already_done';
  /** Paths as this machine has them. */
  outputs: CutOutputs;
  /** All files of the finals. */
  files: readonly string[];
  summary: CutSummary;
  isWithinLimit: boolean;
}

/**
 * Makes of what tasks have cut the outputs of one run on one machine, byte for byte; the same call goes on where an interrupted one stopped. With
 * `asShards` each task becomes a shard, `snippets.000000.tar` and so on, as it is.
 *
 * @param folder of the plan
 * @param folderOf the folder of each task
 * @param options those that were planned
 * @throws {OutputError} when tasks are missing, or the outputs of another run are there; InputError when plan or tasks are damaged; CanceledError
 */
export async function finishCutTasks(
  folder: string,
  folderOf: (task: number) => string,
  options: CutOptions,
  context: FinishTasksContext,
): Promise<FinishedTasks> {
  const facts = await readTaskPlan(folder, context.hash);
  const tasks = facts.starts.length - 1;
  refuseMissing(folder, tasks, context);
  if (context.asShards && facts.sharding !== null) {
    throw new UsageError('Tasks cannot be shards as they are: the plan was made for other shards', {
      hint: 'Finish without --as-shards, or plan without --num-shards, --snippets-per-shard and --hours-per-shard.',
    });
  }
  const resolved = resolveFinals(options, facts, context, context.mappings);
  const listed = resolveFinals(options, facts, context, []).outputs;
  const { outputs } = resolved;
  await refuseForeignOutputs(outputs.metrics, 'cut', 'output-dir');
  return await workLocked(outputs, context, async (locks, signal) => {
    const finish = new TasksFinish({
      folder,
      folderOf,
      facts,
      resolved,
      listed,
      locks,
      context: { ...context, signal },
    });
    const { kind, summary } = await finish.run();
    const files = listFinals(outputs, summary);
    return { kind, outputs, files, summary, isWithinLimit: isWithinLimit(summary, resolved.maxFailures) };
  });
}

interface FinishParts {
  folder: string;
  folderOf: (task: number) => string;
  facts: TaskPlanFacts;
  resolved: ResolvedCutOptions;
  /** The outputs as the plan spells them. */
  listed: CutOutputs;
  locks: readonly Lock[];
  context: FinishTasksContext;
}

class TasksFinish {
  readonly #parts: FinishParts;
  readonly #identity: RunIdentity;

  constructor(parts: FinishParts) {
    this.#parts = parts;
    const { identity, starts } = parts.facts;
    this.#identity = parts.context.asShards
      ? { ...identity, options: { ...identity.options, tasks_as_shards: starts.length - 1 } }
      : identity;
  }

  async run(): Promise<Pick<FinishedTasks, 'kind' | 'summary'>> {
    const { outputs, overwrite } = this.#parts.resolved;
    const hasJournal = (await sizeOf(journalPath(outputs))) !== undefined;
    if (!hasJournal) {
      const earlier = await this.#inspect(overwrite);
      if (earlier !== undefined) return { kind: 'already_done', summary: earlier };
    }
    if (this.#parts.facts.isFinished) throw outputsGone(this.#parts.folder);
    const plan = await openWholePlan(this.#parts.folder, this.#parts.facts);
    try {
      return await this.#makeOrMakeAnew(plan, overwrite);
    } finally {
      await plan.close();
    }
  }

  /** What was salvaged from the same tasks before is replaced: there are more of them now. */
  async #inspect(overwrite: boolean): Promise<CutSummary | undefined> {
    try {
      const earlier = await inspectEarlierOutputs(this.#parts.resolved.outputs, this.#identity, false);
      return earlier.kind === 'same' ? summarizeEarlier(earlier.metrics) : undefined;
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      if (overwrite) return undefined;
      throw withRemedy(error, 'Move the outputs that are there away, or remove them, and finish again.');
    }
  }

  async #makeOrMakeAnew(plan: CutPlan, overwrite: boolean): Promise<Pick<FinishedTasks, 'kind' | 'summary'>> {
    const { outputs } = this.#parts.resolved;
    let journal: RunJournal;
    try {
      journal = await this.#openJournal();
    } catch (error) {
      if (!(error instanceof StaleWorkError)) throw error;
      if (!overwrite) {
        const work = outputs.workFolder;
        throw withRemedy(error, `Run the earlier command again to finish it, or remove "${work}" to drop it.`);
      }
      await clearWork(outputs);
      journal = await this.#openJournal();
    }
    try {
      // What was salvaged may be more by now.
      if (journal.publishing?.complete === false)
        throw new StaleWorkError('Tasks may be done since', { path: outputs.folder });
      return await this.#make(plan, journal);
    } catch (error) {
      if (!(error instanceof StaleWorkError)) throw error;
      // The tasks still have all that the finals are made of.
      await journal.close();
      await clearWork(outputs);
      journal = await this.#openJournal();
      return await this.#make(plan, journal);
    } finally {
      await journal.close();
    }
  }

  async #make(plan: CutPlan, journal: RunJournal): Promise<Pick<FinishedTasks, 'kind' | 'summary'>> {
    const { folder, folderOf, facts, resolved, listed, locks, context } = this.#parts;
    const { outputs, datasetName } = resolved;
    const snippets = new TaskSnippets({ plan, facts, folderOf, done: context.done });
    let writer: OutputsWriter | undefined;
    try {
      if (journal.publishing === undefined && !context.asShards) {
        writer = await OutputsWriter.open(outputs, journal.checkpoint, journal.finished);
      }
      const executed = await execute({
        plan,
        options: resolved,
        journal: snippets.logOf(journal),
        writer,
        extractor: snippets,
        signal: context.signal,
        onProgress: (progress) => {
          if (progress.stage !== 'cut') return;
          context.onProgress?.(progress.recordings / Math.max(1, progress.totalRecordings));
        },
        checkpointMs: context.checkpointMs ?? 2_000,
        shards: context.asShards
          ? new TaskTally(facts.starts.length - 1, (index) => snippets.taskOf(index))
          : undefined,
      });
      if (!executed.isComplete && executed.metrics.totals().outputSnippets === 0) throw nothingToSalvage(folder);
      const shards = await conclude({
        outputs,
        listed,
        datasetName,
        plan,
        identity: this.#identity,
        planned: await readPlannedFailures(folder),
        locks,
        journal,
        executed,
        finish: async () => {
          if (context.asShards) {
            return await placeTaskShards(outputs, listFilled(executed.shards, context.done), folderOf);
          }
          if (writer === undefined) throw new Error('There is nothing to publish');
          return await writer.finish();
        },
      });
      const summary = summarizeMetrics(executed.metrics, shards);
      return { kind: executed.isComplete ? 'finished' : 'salvaged', summary };
    } finally {
      await writer?.close();
      await snippets.close();
    }
  }

  async #openJournal(): Promise<RunJournal> {
    const { resolved, listed } = this.#parts;
    const { manifest, tar, metrics } = listed;
    return await RunJournal.open(journalPath(resolved.outputs), this.#identity, {
      ...resolved.outputs,
      manifest,
      tar,
      metrics,
    });
  }
}

/** Where outputs go and whether they replace others was said when it was planned: flags for that are no remedy here. */
function withRemedy(error: OutputError, hint: string): OutputError {
  if (error.hint === undefined) return error;
  return new OutputError(error.message, { path: error.path, hint, cause: error });
}

function refuseMissing(folder: string, tasks: number, { done, salvage }: FinishTasksContext): void {
  if (salvage || done.size >= tasks) return;
  throw new OutputError(`Cannot finish the plan in "${folder}": ${tasks - done.size} of ${tasks} tasks are not done`, {
    path: folder,
    hint: 'Run them, or give --salvage to take what there is.',
  });
}

/** The options of the finals, with paths as this machine has them. */
function resolveFinals(
  options: CutOptions,
  facts: TaskPlanFacts,
  { asShards, salvage }: FinishTasksContext,
  mappings: readonly PathMapping[],
): ResolvedCutOptions {
  const place = (file: string): string => mapPath(path.resolve(facts.base, file), mappings);
  const { outputManifest, outputAudioTarPath, metricsPath } = options;
  const { outputs, overwrite, maxFailures } = resolveCutOptions({
    ...options,
    inputManifest: place(options.inputManifest),
    outputDir: place(options.outputDir),
    outputManifest: outputManifest === undefined ? undefined : place(outputManifest),
    outputAudioTarPath: outputAudioTarPath === undefined ? undefined : place(outputAudioTarPath),
    metricsPath: metricsPath === undefined ? undefined : place(metricsPath),
    ...(asShards ? { numShards: 1 } : {}),
  });
  return { ...optionsOf(facts), outputs, overwrite, maxFailures, salvage };
}

/** The tasks that have members, with the sizes of their tars. */
function listFilled(tally: ShardTally, done: ReadonlyMap<number, TaskOutcome>): Map<number, number> {
  const filled = [...done].filter(([task]) => tally.snippetsOf(task) > 0).toSorted(([a], [b]) => a - b);
  return new Map(filled.map(([task, { bytes }]) => [task, bytes]));
}

function listFinals(outputs: CutOutputs, { shards }: CutSummary): string[] {
  const files = outputs.isSharded ? listShardFiles(outputs, shards) : [outputs.tar, outputs.manifest];
  const list = outputs.list === undefined ? [] : [outputs.list];
  return [...files, ...list, outputs.failures, outputs.metrics];
}

function outputsGone(folder: string): OutputError {
  return new OutputError(
    `Cannot finish the plan in "${folder}": the outputs were there when it was made, and are not now`,
    {
      path: folder,
      hint: 'Remove that plan, and plan anew.',
    },
  );
}

function nothingToSalvage(folder: string): OutputError {
  return new OutputError(`The tasks that are done in "${folder}" have not made any snippet that could be salvaged`, {
    path: folder,
    hint: 'Run the others first.',
  });
}
