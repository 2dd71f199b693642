import { partialPath, publishFile, publishFiles, removeFile, sizeOf, writeFileAtomic } from '../run/atomic-file.js';
import type { ChunkWriter } from '../run/atomic-file.js';
import type { CutOutputs } from './options.js';
import type { ShardSizes } from './run-journal.js';
import { listPathOf, listStrays, placesOf } from './shard-files.js';
import { StaleWorkError } from './stale-work.js';

/** Writers of the small outputs. */
export interface PublishWriters {
  writeFailures(write: ChunkWriter): Promise<void>;
  /** Used where the outputs have a list. */
  writeList(write: ChunkWriter): Promise<void>;
  writeMetrics(write: ChunkWriter): Promise<void>;
}

/**
 * Moves tars and manifests to their places and writes failures, list and metrics: the metrics last, as the sign that the set is
 * whole. Metrics, list and stray shards of an earlier set go first. Can be repeated after a crash at any point.
 *
 * @throws OutputError when a file cannot be written; StaleWorkError when one is not there
 */
export async function publish(
  outputs: CutOutputs,
  shards: readonly ShardSizes[],
  writers: PublishWriters,
): Promise<void> {
  await removeFile(outputs.metrics);
  await removeStrays(outputs, shards);
  const waiting: string[] = [];
  for (const { shard, tarBytes, manifestBytes } of shards) {
    const { tar, manifest } = placesOf(outputs, shard);
    if (await isWaiting(tar, tarBytes)) waiting.push(tar);
    if (await isWaiting(manifest, manifestBytes)) waiting.push(manifest);
  }
  await publishFiles(waiting);
  await writeFileAtomic(outputs.failures, (write) => writers.writeFailures(write));
  if (outputs.list !== undefined) await writeFileAtomic(outputs.list, (write) => writers.writeList(write));
  await writeFileAtomic(outputs.metrics, (write) => writers.writeMetrics(write));
}

/** What an earlier run of other shards left would be read beside the new ones. */
async function removeStrays(outputs: CutOutputs, shards: readonly ShardSizes[]): Promise<void> {
  const strays = await listStrays(outputs, new Set(shards.map(({ shard }) => shard)));
  // A run without shards has no list: one that stands here alone is somebody else's.
  if (outputs.isSharded || strays.length > 0) await removeFile(listPathOf(outputs));
  for (const stray of strays) await removeFile(stray);
}

/**
 * Gives the partial file its name, unless an earlier try did.
 *
 * @throws {StaleWorkError} when neither has its size
 */
export async function publishOnce(path: string, sizeBytes: number): Promise<void> {
  if (await isWaiting(path, sizeBytes)) await publishFile(partialPath(path), path);
}

/**
 * Whether a file has its partial name yet.
 *
 * @throws {StaleWorkError} when neither has its size
 */
async function isWaiting(path: string, sizeBytes: number): Promise<boolean> {
  const partial = partialPath(path);
  if ((await sizeOf(partial)) === sizeBytes) return true;
  if ((await sizeOf(path)) === sizeBytes) return false;
  throw new StaleWorkError(
    `Cannot publish "${path}": neither it nor "${partial}" has the ${sizeBytes} bytes that were written`,
    { path },
  );
}
