import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { OutputError } from '../errors.js';
import { removeFile, sizeOf } from '../run/atomic-file.js';
import { acquireLock, type Lock } from '../run/lock.js';
import { readOutcome, workFile } from './outcome-file.js';
import type { ShardOutcome } from './outcome.js';
import type { PackShardsOptions } from './pack-shards.js';
import { readShardJournal } from './shard-journal.js';
import { isLockTaken } from './writer-lock.js';

/** Which shards, and where; the part of the options that this needs. */
export type ShardPlaces = Pick<
  PackShardsOptions,
  'plan' | 'folder' | 'workFolder' | 'overwrite' | 'isProcessAlive' | 'signal'
>;

/** Absolute paths of a shard's files. */
export function shardPaths({ plan, folder }: ShardPlaces, shard: number): { tar: string; manifest: string } {
  const place = plan.shards[shard]!;
  return { tar: path.join(folder, place.tar), manifest: path.join(folder, place.manifest) };
}

/**
 * Finds out whether a shard is whole already, by its outcome and the sizes of its files.
 *
 * @returns its outcome; undefined when it is to be made
 * @throws {OutputError} when a file stands in its place that this plan did not make, unless that is to be overwritten.
 */
export async function inspectShard(places: ShardPlaces, shard: number): Promise<ShardOutcome | undefined> {
  const { plan, workFolder, overwrite } = places;
  const { tar, manifest } = shardPaths(places, shard);
  const tarBytes = await sizeOf(tar);
  const manifestBytes = await sizeOf(manifest);
  if (tarBytes === undefined && manifestBytes === undefined) return undefined;
  const outcome = await readOutcome(plan, workFolder, shard);
  if (outcome !== undefined && outcome.tarBytes === tarBytes && outcome.manifestBytes === manifestBytes) return outcome;
  if (overwrite) return undefined;
  // A run that was killed while it gave the files their names.
  const journal = workFile(workFolder, shard, 'journal');
  const known = outcome ?? (await readShardJournal(journal, { plan: plan.hash, shard })).outcome;
  refuseOther(tar, tarBytes, known?.tarBytes);
  refuseOther(manifest, manifestBytes, known?.manifestBytes);
  return undefined;
}

function refuseOther(file: string, sizeBytes: number | undefined, knownBytes: number | undefined): void {
  if (sizeBytes === undefined || sizeBytes === knownBytes) return;
  const state =
    knownBytes === undefined
      ? 'a file stands there that this plan did not make'
      : `it has ${grouped(sizeBytes)} bytes, of ${grouped(knownBytes)} that were written: something changed it since`;
  throw new OutputError(`Cannot write "${file}": ${state}`, {
    path: file,
    hint: 'Choose another output folder, move the file away, or give --overwrite to replace it.',
  });
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

/** Takes the lock of a run on a shard. */
export async function lockShard({ workFolder, signal, isProcessAlive }: ShardPlaces, shard: number): Promise<Lock> {
  return await acquireLock(workFile(workFolder, shard, 'lock'), {
    identity: { host: hostname(), pid },
    ...(signal === undefined ? {} : { signal }),
    ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
  });
}

/** Removes what a run that was killed at its very end left of a shard that is whole. */
export async function sweepShard(places: ShardPlaces, shard: number): Promise<void> {
  const leftovers = (['journal', 'at', 'spool', 'lock', 'writer'] as const).map((kind) =>
    workFile(places.workFolder, shard, kind),
  );
  const sizes = await Promise.all(leftovers.map(sizeOf));
  if (sizes.every((size) => size === undefined)) return;
  try {
    const lock = await lockShard(places, shard);
    await clearShard(places, shard);
    await lock.release();
  } catch (error) {
    // Another run is about to do the same.
    if (!isLockTaken(error)) throw error;
  }
}

/** Removes what is not needed of a shard once it is whole. For who holds its lock. */
export async function clearShard({ workFolder }: ShardPlaces, shard: number): Promise<void> {
  for (const kind of ['journal', 'at', 'spool', 'writer'] as const) await removeFile(workFile(workFolder, shard, kind));
}
