import { rmdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { errorMessage, OutputError, systemCode } from '../errors.js';
import { ensureFolder, publishFile, removeFile, removeFolder, sizeOf } from '../run/atomic-file.js';
import { acquireLock } from '../run/lock.js';
import { BAG_NAME, MANIFEST_NAME } from './lufs-cache.js';
import { FAILURES_NAME, METRICS_NAME, SCAN_NAME } from './scan-files.js';
import type { ScanPlaces } from './scan-files.js';
import { isPublishing } from './scan-journal.js';
import { readMetrics } from './scan-metrics.js';

/** Only what lies in the folder of new files is moved, so that it can be done again after a crash at any point. */
export async function movePublished(places: ScanPlaces): Promise<void> {
  const { folder, newFolder } = places;
  const isReady = async (name: string): Promise<boolean> => (await sizeOf(path.join(newFolder, name))) !== undefined;
  const metrics = await readMetrics(path.join(newFolder, METRICS_NAME));
  if (metrics === undefined) return;
  await removeFile(path.join(folder, METRICS_NAME));
  if (metrics.identity.loudness === null) {
    // A cache of the scan before would be taken for one of this.
    for (const name of [MANIFEST_NAME, BAG_NAME]) await removeFile(path.join(folder, name));
  }
  for (const name of [BAG_NAME, MANIFEST_NAME, FAILURES_NAME, SCAN_NAME, METRICS_NAME]) {
    if (await isReady(name)) await publishFile(path.join(newFolder, name), path.join(folder, name));
  }
}

/** Ends what a run began that was stopped while it moved its files. */
export async function finishPublishing(places: ScanPlaces): Promise<void> {
  if (!(await isPublishing(places.journal))) return;
  await movePublished(places);
  await clearWork(places);
}

/** Removes all of the work in progress but the lock: the journal first, without which the rest is nothing. */
export async function clearWork({ journal, spool, newFolder }: ScanPlaces): Promise<void> {
  await removeFile(journal);
  await removeFile(spool);
  await removeFolder(newFolder);
}

/**
 * Takes the lock of the folder of results.
 *
 * @returns what gives it back
 */
export async function lockScan(
  workFolder: string,
  { isProcessAlive }: { isProcessAlive?: ((pid: number) => boolean) | undefined },
): Promise<() => Promise<void>> {
  await ensureFolder(workFolder);
  const lock = await acquireLock(path.join(workFolder, 'lock'), {
    identity: { host: hostname(), pid },
    ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
  });
  return async () => {
    await lock.release();
    await removeIfEmpty(workFolder);
  };
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCode(error) ?? ''))
      throw new OutputError(`Cannot remove "${folder}": ${errorMessage(error)}`, { path: folder, cause: error });
  }
}
