import { hostname } from 'node:os';
import { pid } from 'node:process';
import path from 'node:path';
import { CanceledError, CutroomError, InputError, UsageError } from '../errors.js';
import { ensureFolder, removeFile } from '../run/atomic-file.js';
import { acquireLock, type Lock } from '../run/lock.js';
import { mapPath, type PathMapping } from '../run/path-map.js';
import type { PlannedTasks, TaskContext, TaskDivision, TaskExtent, TaskOutcome } from '../run/task.js';
import { readFinishedMetrics } from '../shard/finished-dataset.js';
import { inspectShards, salvagedListPath, salvageShards, shardGone } from '../shard/made-shards.js';
import type { PackFailure } from '../shard/plan.js';
import { PlanFile } from '../shard/plan-file.js';
import { divideShards, packTask, writeShardDigests } from '../shard/shard-tasks.js';
import type { TarContext } from './context.js';
import { addIndexes, endRun } from './end-run.js';
import { readBaseDataset, type BaseDataset } from './grown.js';
import { inspectTarget } from './identity.js';
import { outputsOf, removeIfEmpty, type TarOutputs } from './layout.js';
import { sumShards } from './make-shards.js';
import { summaryOfMetrics, type TarMetrics } from './metrics.js';
import type { TarOptions } from './options.js';
import { versionOf } from './publish.js';
import { isWithin, planTarDataset, requireShards, type PlannedTar, type TarResult } from './tar-dataset.js';
import { readPlannedDatasets, readTarFacts, writeTarFacts, type TarTaskFacts } from './task-facts.js';

/**
 * Plans a tarred dataset for many machines: the plan lies in the work folder of the target folder, as that of a run which was interrupted, and the
 * shards of a task are a stretch of it. What the end needs beside it is laid down in the plan's folder. Of a dataset that is finished there is no task.
 *
 * @param folder exists and is empty
 * @throws as `tarDataset`, and UsageError for options that make no sense here
 */
export async function planTarTasks(
  options: TarOptions,
  folder: string,
  { division, ...context }: TarContext & { division: TaskDivision },
): Promise<PlannedTasks> {
  refuseUndivided(options);
  let planned: PlannedTasks | undefined;
  await planTarDataset(options, context, async (tar) => {
    planned = await describeTasks(tar, folder, division);
    const sourceDateEpoch = context.environment?.['SOURCE_DATE_EPOCH'] ?? null;
    await writeTarFacts(folder, tar, { version: versionOf(tar.base) ?? null, sourceDateEpoch });
  });
  if (planned === undefined) throw new TypeError('The dataset was not planned');
  return planned;
}

async function describeTasks(tar: PlannedTar, folder: string, division: TaskDivision): Promise<PlannedTasks> {
  if ('finished' in tar) {
    const { plan_hash: hash, options, shards } = tar.finished;
    const units = { count: shards.length, name: 'shards' };
    return { extents: [], hash: hash ?? '', options, units, failedRows: 0 };
  }
  const { run, plan, selection } = tar;
  const extents = divideShards(plan.shards, division);
  await writeShardDigests(folder, plan, extents);
  return {
    extents,
    hash: plan.hash,
    options: run.identity.options,
    units: { count: plan.shards.length, name: 'shards' },
    failedRows: selection.failures.length,
  };
}

/**
 * Makes the shards of a task in the target folder.
 *
 * @throws InputError when the plan is gone, another one or damaged; OutputError, CanceledError
 */
export async function runTarTask(
  folder: string,
  task: TaskExtent,
  { hash, ...context }: TaskContext & { hash: string },
): Promise<TaskOutcome> {
  const facts = await readTarFacts(folder);
  const outputs = placesOf(facts, context.mappings);
  const metrics = await readFinishedMetrics<TarMetrics>(outputs.metrics);
  if (metrics?.plan_hash === hash) {
    await requireShards(outputs, metrics);
    return outcomeOf(metrics, task);
  }
  return await packTask(folder, task, context, {
    plan: openPlan(outputs, hash),
    folder: outputs.folder,
    workFolder: outputs.workFolder,
    silenceSeconds: facts.options.recordingTimeoutSeconds,
    overwrite: facts.options.overwrite,
  });
}

/** What ending a dataset is given beside the plan. */
export interface FinishTarContext {
  /** Hash of the plan. */
  hash: string;
  signal: AbortSignal;
  mappings: readonly PathMapping[];
  /** Lists the shards that are there, where others are not. */
  salvage: boolean;
}

/** The list of the shards that are there of a dataset whose others were given up. */
export interface SalvagedTar {
  salvagedList: string;
}

/**
 * Ends a dataset whose tasks are done, byte for byte as one run does. Where tasks are missing it can be salvaged: `data.salvaged.lst` lists the
 * shards that are there, each of which is whole; there is no `tarred_audio_manifest.json` then, since NeMo's loaders want every number of a shard.
 *
 * @returns the result of the run, or the list
 * @throws InputError when the plan is gone, another one or damaged; OutputError when shards are missing; CanceledError
 */
export async function finishTarTasks(folder: string, context: FinishTarContext): Promise<TarResult | SalvagedTar> {
  const startMs = performance.now();
  const facts = await readTarFacts(folder);
  const outputs = placesOf(facts, context.mappings);
  await ensureFolder(outputs.workFolder);
  const lock = await acquireLock(path.join(outputs.workFolder, 'lock'), {
    identity: { host: hostname(), pid },
    signal: context.signal,
  });
  try {
    const ended = await new TarFinish(folder, facts, outputs, context, lock).run();
    if ('salvagedList' in ended) return ended;
    const summary = summaryOfMetrics(ended.metrics);
    return {
      kind: ended.kind,
      targetDir: outputs.folder,
      failuresPath: outputs.failures,
      metricsPath: outputs.metrics,
      summary,
      isWithinLimit: isWithin(summary, facts.options),
      seconds: (performance.now() - startMs) / 1000,
    };
  } catch (error) {
    if (!context.signal.aborted || error instanceof CutroomError) throw error;
    throw new CanceledError('The dataset was not ended: the run was stopped', { cause: error });
  } finally {
    await lock.release();
    await removeIfEmpty(outputs.workFolder);
  }
}

class TarFinish {
  readonly #folder: string;
  readonly #facts: TarTaskFacts;
  readonly #outputs: TarOutputs;
  readonly #context: FinishTarContext;
  readonly #lock: Lock;
  readonly #signal: AbortSignal;

  constructor(folder: string, facts: TarTaskFacts, outputs: TarOutputs, context: FinishTarContext, lock: Lock) {
    this.#folder = folder;
    this.#facts = facts;
    this.#outputs = outputs;
    this.#context = context;
    this.#lock = lock;
    this.#signal = AbortSignal.any([context.signal, lock.lost]);
  }

  async run(): Promise<{ kind: TarResult['kind']; metrics: TarMetrics } | SalvagedTar> {
    const outputs = this.#outputs;
    const { identity, options } = this.#facts;
    const earlier = await inspectTarget(outputs, identity, undefined);
    if (earlier.kind === 'foreign') throw earlier.error;
    if (earlier.kind === 'finished') {
      await requireShards(outputs, earlier.metrics);
      await removeFile(salvagedListPath(outputs.folder));
      const run = {
        outputs,
        metrics: earlier.metrics,
        base: await this.#readBase(),
        context: { signal: this.#signal },
      };
      const { metrics, isChanged } = await addIndexes(options.index, run);
      return { kind: isChanged ? 'indexed' : 'already_done', metrics };
    }
    const plan = openPlan(outputs, this.#context.hash);
    if (earlier.kind === 'other') throw earlier.error;
    return await this.#end(plan);
  }

  async #end(plan: PlanFile): Promise<{ kind: TarResult['kind']; metrics: TarMetrics } | SalvagedTar> {
    const { planned, options, identity, sourceDateEpoch } = this.#facts;
    const outputs = this.#outputs;
    await plan.verify();
    const outcomes = await inspectShards(plan, outputs, this.#signal);
    const there = outcomes.filter((outcome) => outcome !== undefined);
    if (this.#context.salvage) {
      return { salvagedList: await salvageShards(plan, outputs.folder, options.targetDir, there) };
    }
    if (there.length < outcomes.length) throw shardGone(plan, outputs.folder, outcomes.indexOf(undefined), 'tar');
    if (planned === null) throw planGone(outputs, 'it is gone');
    const base = await this.#readBase();
    const failures: PackFailure[] = [...plan.failures()];
    const { shortestSeconds, longestSeconds, ...sums } = planned.selection;
    await removeFile(salvagedListPath(outputs.folder));
    const metrics = await endRun({
      outputs,
      options,
      identity,
      base,
      selection: {
        ...sums,
        failures: failures.filter(({ kind }) => kind !== 'dropped'),
        shortestSeconds: shortestSeconds ?? Number.NaN,
        longestSeconds: longestSeconds ?? Number.NaN,
      },
      ...(await readPlannedDatasets(this.#folder, planned)),
      failures,
      warnings: planned.warnings,
      made: sumShards(plan, there),
      context: { signal: this.#signal, environment: { SOURCE_DATE_EPOCH: sourceDateEpoch ?? undefined } },
      confirm: () => this.#lock.confirm(),
    });
    return { kind: 'packed', metrics };
  }

  /** The dataset that gains rows, as it was when they were planned. */
  async #readBase(): Promise<BaseDataset | undefined> {
    const { base } = this.#facts;
    if (base === null) return undefined;
    const here = (file: string): string => mapPath(file, this.#context.mappings);
    const dataset = await readBaseDataset(here(base.manifestPath), here(base.metadataPath));
    if (dataset.sha256 === base.sha256) return dataset;
    throw new InputError(`Cannot add rows to "${dataset.manifestPath}": it was changed since they were planned`, {
      path: dataset.manifestPath,
      hint: 'Plan anew in another folder.',
    });
  }
}

function placesOf({ options, version }: TarTaskFacts, mappings: readonly PathMapping[]): TarOutputs {
  return outputsOf(mapPath(options.targetDir, mappings), version ?? undefined);
}

function outcomeOf({ shards }: TarMetrics, { first, end }: TaskExtent): TaskOutcome {
  const outcome = { units: end - first, audioSeconds: 0, bytes: 0, failures: {} };
  for (const { duration_sec: seconds, tar_bytes: bytes } of shards.slice(first, end)) {
    outcome.audioSeconds += seconds;
    outcome.bytes += bytes;
  }
  return outcome;
}

function openPlan(outputs: TarOutputs, hash: string): PlanFile {
  const plan = PlanFile.open(outputs.plan);
  if (plan?.hash === hash) return plan;
  throw planGone(outputs, plan === undefined ? 'it is not there' : 'it is another one by now');
}

function planGone({ plan }: TarOutputs, state: string): InputError {
  return new InputError(`Cannot carry out the plan "${plan}": ${state}`, {
    path: plan,
    hint: 'Where this machine has the target folder elsewhere, plan with --map LOCAL=REMOTE; where it was planned or removed since, plan anew in another folder.',
  });
}

function refuseUndivided({ onlyManifests, dryRun, writeMetadata }: TarOptions): void {
  const flags = { '--only-manifests': onlyManifests, '--dry-run': dryRun, '--write-metadata': writeMetadata };
  for (const [flag, isSet] of Object.entries(flags)) {
    if (isSet !== true) continue;
    throw new UsageError(`${flag} packs no audio: there is nothing to divide into tasks`, {
      hint: `Leave ${flag} out, or run it on this machine.`,
    });
  }
}
