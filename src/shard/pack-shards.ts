import path from 'node:path';
import { CanceledError, OutputError } from '../errors.js';
import { ensureFolder } from '../run/atomic-file.js';
import type { PathMapping } from '../run/path-map.js';
import { orderedMap } from '../run/ordered-map.js';
import { ProcessPool } from '../run/process-pool.js';
import { inspectShard, sweepShard } from './earlier-shard.js';
import type { ShardOutcome } from './outcome.js';
import { PackMeter } from './pack-meter.js';
import { packOne, type PackOneParts } from './pack-one.js';
import type { PlanFile } from './plan-file.js';
import type { OnPackProgress } from './progress.js';

/** How shards of a plan are to be made. */
export interface PackShardsOptions {
  plan: PlanFile;
  /** Output folder; the plan's tars and manifests are relative to it. */
  folder: string;
  /** Where outcomes, journals and locks are kept. Made when it is needed; see `clearWork`. */
  workFolder: string;
  /** Absolute folder that relative paths of audio are joined to, in place of the plan's. */
  base?: string | undefined;
  /** Folders of audio that this machine has elsewhere than the plan says; failures keep to what the plan says. Default: none. */
  mappings?: readonly PathMapping[] | undefined;
  /** Which shards of the plan to make, from 0. */
  shards: readonly number[];
  /** `digestShards` of the shards, which are then contiguous, as the plan was made: they alone are looked at, and not the whole plan. */
  digest?: string | undefined;
  /** How many shards are made at once, each in a process of its own. */
  jobs: number;
  /** A process that says nothing for so long counts as hung; the item that it was at fails. */
  silenceSeconds: number;
  /** Replaces tars and manifests that this plan did not make. */
  overwrite: boolean;
  /** Stops the work; what is made is kept. */
  signal?: AbortSignal | undefined;
  onProgress?: OnPackProgress | undefined;
  /** For systems without `/proc`: tells whether the holder of a lock is alive. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often what is made is made sure of on the disk. Default 2,000. */
  checkpointMs?: number | undefined;
}

const CHECKPOINT_MS = 2000;

/**
 * Makes shards of a plan: each tar and manifest appears whole, or not at all. What earlier runs made is not made again, also of a shard that was not
 * finished. Several runs, on several machines, may work on one folder: each shard is made by one of them.
 *
 * @returns what came of each shard, in the order of `shards`
 * @throws OutputError when a file stands in the way, cannot be written, or another run works on one of the shards, once the others are made;
 *   InputError when the plan is damaged; CanceledError when the signal is aborted. Each time the run can be gone on with.
 */
export async function packShards(options: PackShardsOptions): Promise<ShardOutcome[]> {
  const { plan, shards, jobs, workFolder, silenceSeconds, signal } = options;
  for (const shard of shards) {
    if (plan.shards[shard] === undefined) throw new RangeError(`There is no shard ${shard} in "${plan.path}"`);
  }
  if (signal?.aborted === true) throw stopped(signal.reason);
  await verifyPlan(options);
  const outcomes = new Map<number, ShardOutcome>();
  for (const shard of new Set(shards)) {
    const outcome = await inspectShard(options, shard);
    if (outcome !== undefined) outcomes.set(shard, outcome);
  }
  const meter = new PackMeter(plan, shards, options.onProgress);
  for (const [shard] of outcomes) {
    meter.resume(shard);
    await sweepShard(options, shard);
  }
  const missing = [...new Set(shards)].filter((shard) => !outcomes.has(shard));
  if (missing.length > 0) {
    await ensureFolder(workFolder);
    await ensureFolders(options, missing);
    const pool = new ProcessPool({
      program: new URL('pack-process.js', import.meta.url),
      size: Math.min(jobs, missing.length),
      silenceMs: silenceSeconds * 1000,
    });
    const parts: PackOneParts = { ...options, pool, meter, checkpointMs: options.checkpointMs ?? CHECKPOINT_MS };
    try {
      await packMissing(parts, missing, outcomes);
    } finally {
      await pool.close();
    }
  }
  meter.finish();
  return shards.map((shard) => outcomes.get(shard)!);
}

async function verifyPlan({ plan, digest, shards }: PackShardsOptions): Promise<void> {
  if (digest === undefined) return await plan.verify();
  const [first = 0] = shards;
  if (plan.digestShards(first, first + shards.length) !== digest) throw plan.damagedError();
}

async function packMissing(
  parts: PackOneParts,
  missing: readonly number[],
  outcomes: Map<number, ShardOutcome>,
): Promise<void> {
  const { jobs, signal } = parts;
  const work = { concurrency: jobs, window: Math.max(jobs, missing.length), signal };
  const taken: { shard: number; error: OutputError }[] = [];
  try {
    for await (const made of orderedMap(missing, work, (shard, stop) => packOne(parts, shard, stop))) {
      if ('taken' in made) taken.push({ shard: made.shard, error: made.taken });
      else outcomes.set(made.shard, made.outcome);
    }
  } catch (error) {
    if (signal?.aborted !== true || error instanceof OutputError) throw error;
    throw stopped(error);
  }
  // The other run may be done by now.
  for (const { shard, error } of taken) {
    const outcome = await inspectShard(parts, shard);
    if (outcome === undefined) throw error;
    outcomes.set(shard, outcome);
    parts.meter.resume(shard);
  }
}

function stopped(cause: unknown): CanceledError {
  return new CanceledError('The run was stopped', {
    cause,
    hint: 'What is made is kept: run the same command again to go on.',
  });
}

/** Makes the folders that tars and manifests go to. */
async function ensureFolders({ plan, folder }: PackShardsOptions, shards: readonly number[]): Promise<void> {
  const folders = new Set<string>();
  for (const shard of shards) {
    const { tar, manifest } = plan.shards[shard]!;
    for (const file of [tar, manifest]) folders.add(path.dirname(path.join(folder, file)));
  }
  for (const each of folders) await ensureFolder(each);
}
