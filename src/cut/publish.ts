import { partialPath, publishFile, removeFile, sizeOf, writeFileAtomic } from '../run/atomic-file.js';
import type { ChunkWriter } from '../run/atomic-file.js';
import type { CutOutputs } from './options.js';
import { StaleWorkError } from './stale-work.js';

/** Writers of the two small outputs. */
export interface PublishWriters {
  writeFailures(write: ChunkWriter): Promise<void>;
  writeMetrics(write: ChunkWriter): Promise<void>;
}

/**
 * Moves tar and manifest to their places and writes failures and metrics: the metrics last, as the sign that the set is
 * whole. Metrics of an earlier set go first. Can be repeated after a crash at any point.
 *
 * @throws OutputError when a file cannot be written; StaleWorkError when one is not there
 */
export async function publish(
  outputs: CutOutputs,
  sizes: { tarBytes: number; manifestBytes: number },
  writers: PublishWriters,
): Promise<void> {
  await removeFile(outputs.metrics);
  await publishOnce(outputs.tar, sizes.tarBytes);
  await publishOnce(outputs.manifest, sizes.manifestBytes);
  await writeFileAtomic(outputs.failures, (write) => writers.writeFailures(write));
  await writeFileAtomic(outputs.metrics, (write) => writers.writeMetrics(write));
}

/** Gives the partial file its name, unless an earlier try did. */
async function publishOnce(path: string, sizeBytes: number): Promise<void> {
  const partial = partialPath(path);
  if ((await sizeOf(partial)) === sizeBytes) {
    await publishFile(partial, path);
    return;
  }
  if ((await sizeOf(path)) === sizeBytes) return;
  throw new StaleWorkError(
    `Cannot publish "${path}": neither it nor "${partial}" has the ${sizeBytes} bytes that were written`,
    { path },
  );
}
