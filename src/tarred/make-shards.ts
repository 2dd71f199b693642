import { rename } from 'node:fs/promises';
import path from 'node:path';
import { OutputError } from '../errors.js';
import { ensureFolder, removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { clearWork } from '../shard/outcome-file.js';
import type { ShardOutcome } from '../shard/outcome.js';
import { packShards } from '../shard/pack-shards.js';
import { PlanFile, writePlan, type ShardToWrite } from '../shard/plan-file.js';
import { PLAN_FORMAT, type PackFailure, type PlanHeader } from '../shard/plan.js';
import { writeFailure } from '../tar/write-failure.js';
import type { TarContext } from './context.js';
import type { DatasetPlan } from './dataset-plan.js';
import type { TarIdentity } from './identity.js';
import type { ManifestInput } from './inputs.js';
import { shardFiles, type TarOutputs } from './layout.js';
import type { MemberPlans } from './member-plan.js';
import type { ResolvedTarOptions } from './options.js';
import { ShardItems } from './plan-items.js';
import type { RowTable } from './row-table.js';
import type { RowSum } from './select.js';

/** A run up to the making of its shards. */
export interface ShardRun {
  outputs: TarOutputs;
  options: ResolvedTarOptions;
  inputs: readonly ManifestInput[];
  datasets: readonly DatasetPlan[];
  table: RowTable;
  members: MemberPlans;
  identity: TarIdentity;
  /** What planning found. */
  failures: readonly PackFailure[];
  context: TarContext;
}

/** What came of the shards. */
export interface MadeShards {
  /** Rows of the shards' manifests, shard by shard, one dataset after the other. */
  shards: readonly RowSum[];
  /** Members that could not be made. */
  failures: readonly PackFailure[];
  /** Null where no audio is packed. */
  planHash: string | null;
  /** Files of each shard, in the same order; empty where no audio is packed. */
  files: readonly ShardFile[];
  members: number;
  copied: number;
  tarBytes: number;
  clippedSamples: number;
  invalidSamples: number;
  warnings: readonly string[];
}

/** The tar of a shard. */
export interface ShardFile {
  /** Relative to the target folder. */
  tar: string;
  bytes: number;
  members: number;
}

/** So many warnings of members are kept, of all shards. */
const MAX_WARNINGS = 1000;

/** Writes the manifests of all shards, and no audio. */
export async function writeManifests(run: ShardRun): Promise<MadeShards> {
  const { outputs, options, datasets, context } = run;
  const shardItems = itemsOf(run);
  for (const dataset of datasets) {
    for (const [index, rows] of shardRows(dataset).entries()) {
      const shardId = dataset.firstShard + index;
      const file = path.join(outputs.folder, shardFiles(dataset, shardId, options.shardManifests).manifest);
      if (index === 0) await ensureFolder(path.dirname(file));
      await writeFileAtomic(file, async (write) => {
        for (const lines of shardItems.lines(rows, shardId)) {
          context.signal?.throwIfAborted();
          await write(lines);
        }
      });
    }
  }
  return {
    shards: datasets.flatMap(({ shards }) => shards),
    failures: [],
    planHash: null,
    files: [],
    members: 0,
    copied: 0,
    tarBytes: 0,
    clippedSamples: 0,
    invalidSamples: 0,
    warnings: [],
  };
}

/** Writes the plan and makes its shards; goes on with those of an earlier run with the same plan. Members that cannot be made are left out. */
export async function makeShards(run: ShardRun): Promise<MadeShards> {
  const { outputs, options, context } = run;
  const plan = await placePlan(run);
  const outcomes = await packShards({
    plan,
    folder: outputs.folder,
    workFolder: outputs.workFolder,
    // An unfinished run may have been moved since, together with its files.
    base: baseOf(options, run.inputs),
    shards: plan.shards.map((_, shard) => shard),
    jobs: options.jobs,
    silenceSeconds: options.recordingTimeoutSeconds,
    overwrite: options.overwrite,
    signal: context.signal,
    onProgress: context.onProgress,
    isProcessAlive: context.isProcessAlive,
    checkpointMs: context.checkpointMs,
  });
  return sumShards(plan, outcomes);
}

/** What came of all shards of a plan, in its order. */
export function sumShards(plan: PlanFile, outcomes: readonly ShardOutcome[]): MadeShards {
  const sum = (count: (outcome: ShardOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return {
    shards: outcomes.map(({ rows, durationMicros }) => ({ rows, micros: durationMicros })),
    failures: outcomes.flatMap(({ failures }) => failures),
    planHash: plan.hash,
    files: outcomes.map(({ shard, tarBytes, members }) => ({
      tar: plan.shards[shard]?.tar ?? '',
      bytes: tarBytes,
      members,
    })),
    members: sum(({ members }) => members),
    copied: sum(({ copied }) => copied),
    tarBytes: sum(({ tarBytes }) => tarBytes),
    clippedSamples: sum(({ clippedSamples }) => clippedSamples),
    invalidSamples: sum(({ invalidSamples }) => invalidSamples),
    warnings: outcomes
      .flatMap(({ warnings }) => warnings.map(({ id, message }) => `${id}: ${message}`))
      .slice(0, MAX_WARNINGS),
  };
}

/** The rows of each shard. */
function shardRows({ partition }: DatasetPlan): Uint32Array[] {
  const { rows, ends } = partition;
  return ends.map((end, shard) => rows.subarray(ends[shard - 1] ?? 0, end));
}

function itemsOf({ table, members, options, inputs }: ShardRun): ShardItems {
  const { subRows, onlyManifests } = options;
  return new ShardItems(table, members, { subRows, onlyManifests, base: baseOf(options, inputs) });
}

function baseOf({ base }: ResolvedTarOptions, inputs: readonly ManifestInput[]): string {
  return base ?? inputs[0]?.folder ?? '/';
}

/**
 * Writes the plan, unless it is there already from a run that was interrupted.
 *
 * @throws {OutputError} when an unfinished run there has another plan.
 */
export async function placePlan(run: ShardRun): Promise<PlanFile> {
  const { outputs } = run;
  const next = `${outputs.plan}.next`;
  const hash = await writePlan(next, headerOf(run), run.failures, shardsOf(run));
  const earlier = PlanFile.open(outputs.plan);
  if (earlier?.hash === hash) {
    await removeFile(next);
    return earlier;
  }
  if (earlier !== undefined && run.options.overwrite) {
    await clearWork(outputs.workFolder);
  } else if (earlier !== undefined) {
    await removeFile(next);
    throw new OutputError(`Cannot go on in "${outputs.folder}": the unfinished run there has another plan`, {
      path: outputs.plan,
      hint: 'Files were moved, or the program is another version: give --overwrite to start again.',
    });
  }
  try {
    await rename(next, outputs.plan);
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot write', path: outputs.plan });
  }
  const plan = PlanFile.open(outputs.plan);
  if (plan === undefined) throw new OutputError(`The plan "${outputs.plan}" is gone`, { path: outputs.plan });
  return plan;
}

function headerOf({ options, inputs, identity, datasets }: ShardRun): PlanHeader {
  return {
    format: PLAN_FORMAT,
    cutroom_version: identity.cutroom_version,
    audio_architecture: identity.audio_architecture,
    command: 'tar',
    inputs: inputs.map(({ path: named, hash }) => ({ path: named, sha256: hash.copy().digest('hex') })),
    options: identity.options,
    base: baseOf(options, inputs),
    audio: {
      format: options.forceCodec ?? 'flac',
      sampleRate: options.forceSamplingRate ?? null,
      channel: options.channel ?? 'average',
      compressionLevel: null,
    },
    facts: {
      datasets: datasets.map(({ prefix, firstShard, partition }) => ({
        folder: prefix.replace(/\/$/u, ''),
        first_shard: firstShard,
        shards: partition.ends.length,
      })),
    },
  };
}

function* shardsOf(run: ShardRun): Generator<ShardToWrite> {
  const shardItems = itemsOf(run);
  for (const dataset of run.datasets) {
    for (const [index, rows] of shardRows(dataset).entries()) {
      run.context.signal?.throwIfAborted();
      const shardId = dataset.firstShard + index;
      yield {
        ...shardFiles(dataset, shardId, run.options.shardManifests),
        items: shardItems.items(rows, shardId),
        micros: dataset.shards[index]?.micros ?? 0,
      };
    }
  }
}
