import { open } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, UsageError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import { divideEvenly, type TaskContext, type TaskDivision, type TaskExtent, type TaskOutcome } from '../run/task.js';
import type { ShardOutcome } from './outcome.js';
import { packShards, type PackShardsOptions } from './pack-shards.js';
import type { PlanFile } from './plan-file.js';
import type { PlannedShard } from './plan.js';

/** Of each task what its shards are made by, in hex, a line each. */
const DIGESTS_FILE = 'digests';
const DIGEST_BYTES = 64;
const MICROS = 1e6;
const MICROS_AN_HOUR = 3600e6;

/**
 * Divides the shards of a plan among tasks: by audio where every shard's is known, else by items.
 *
 * @throws {UsageError} when tasks are to be of so many hours, and these are not known; RangeError for hours out of their range
 */
export function divideShards(shards: readonly PlannedShard[], division: TaskDivision): TaskExtent[] {
  const isKnown = shards.every(({ micros, itemCount }) => micros > 0 || itemCount === 0);
  const weights = shards.map(({ micros, itemCount }) => (isKnown ? micros : itemCount));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const starts = divideEvenly(weights, countTasks(division, shards.length, isKnown ? total : undefined));
  return starts.slice(0, -1).map((first, task) => {
    const end = starts[task + 1] ?? first;
    const sum = weights.slice(first, end).reduce((all, weight) => all + weight, 0);
    return { task, first, end, micros: isKnown ? sum : undefined, bytes: undefined };
  });
}

function countTasks(division: TaskDivision, most: number, totalMicros: number | undefined): number {
  if ('count' in division) return division.count;
  const { hours } = division;
  if (!(Number.isFinite(hours) && hours > 0)) throw new RangeError(`Cannot divide into tasks of ${hours} hours`);
  if (totalMicros === undefined) {
    throw new UsageError('Cannot divide into tasks of so many hours: the durations of some rows are not known', {
      hint: 'Say how many tasks there are to be: --tasks N.',
    });
  }
  return Math.max(1, Math.min(most, Math.ceil(totalMicros / (hours * MICROS_AN_HOUR))));
}

/** Lays down by what each task knows that its part of the plan is as it was made. */
export async function writeShardDigests(folder: string, plan: PlanFile, extents: readonly TaskExtent[]): Promise<void> {
  await writeFileAtomic(path.join(folder, DIGESTS_FILE), async (write) => {
    for (const { first, end } of extents) await write(`${plan.digestShards(first, end)}\n`);
  });
}

/**
 * Makes the shards of a task.
 *
 * @param folder that the digests were laid down in
 * @throws InputError when the plan is damaged; OutputError, CanceledError as `packShards` does
 */
export async function packTask(
  folder: string,
  { task, first, end }: TaskExtent,
  { jobs, signal, mappings, onProgress }: TaskContext,
  options: Pick<PackShardsOptions, 'plan' | 'folder' | 'workFolder' | 'silenceSeconds' | 'overwrite'>,
): Promise<TaskOutcome> {
  const outcomes = await packShards({
    ...options,
    shards: Array.from({ length: end - first }, (_, index) => first + index),
    digest: await readDigest(folder, task),
    jobs,
    mappings,
    signal,
    onProgress: (progress) => {
      if (progress.stage !== 'pack') return;
      onProgress?.({ units: progress.shards, audioSeconds: progress.hours * 3600, bytes: 0 });
    },
  });
  return sumOutcomes(outcomes);
}

function sumOutcomes(outcomes: readonly ShardOutcome[]): TaskOutcome {
  const failures: Record<string, number> = {};
  let micros = 0;
  let bytes = 0;
  for (const outcome of outcomes) {
    micros += outcome.durationMicros;
    bytes += outcome.tarBytes + outcome.manifestBytes;
    for (const { reason } of outcome.failures) failures[reason] = (failures[reason] ?? 0) + 1;
  }
  return { units: outcomes.length, audioSeconds: micros / MICROS, bytes, failures };
}

async function readDigest(folder: string, task: number): Promise<string> {
  const file = path.join(folder, DIGESTS_FILE);
  const bytes = Buffer.alloc(DIGEST_BYTES);
  let bytesRead = 0;
  try {
    const handle = await open(file);
    try {
      ({ bytesRead } = await handle.read(bytes, 0, DIGEST_BYTES, task * (DIGEST_BYTES + 1)));
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  if (bytesRead === DIGEST_BYTES) return bytes.toString('latin1');
  throw new InputError(`Cannot read "${file}": it ends before task ${task}`, {
    path: file,
    hint: 'The folder of the plan is damaged: plan anew in another folder.',
  });
}
