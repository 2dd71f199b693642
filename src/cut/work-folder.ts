import { readdir, realpath, rmdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { OutputError, systemCode, UsageError } from '../errors.js';
import { checkWritable, ensureFolder, removeFile, removeFolder } from '../run/atomic-file.js';
import { acquireLock } from '../run/lock.js';
import type { Lock } from '../run/lock.js';
import { writeFailure } from '../tar/write-failure.js';
import type { CutOutputs } from './options.js';
import { listPartials } from './shard-files.js';

/** How the names of folders of parts begin; the rest names the run. */
const PARTS = 'parts-';

/** Who takes a lock, and what ends its waiting for one. */
export interface LockContext {
  signal?: AbortSignal | undefined;
  isProcessAlive?: ((pid: number) => boolean) | undefined;
}

/** The journal of the run that is under way in a work folder. */
export function journalPath({ workFolder }: CutOutputs): string {
  return path.join(workFolder, 'journal');
}

/** Where a run keeps the snippets that are not in the tar yet. */
export function partsPath({ workFolder }: CutOutputs, token: string): string {
  return path.join(workFolder, `${PARTS}${token}`);
}

/**
 * Makes the folders of the outputs and of the work in progress.
 *
 * @throws UsageError when two outputs are one file; OutputError when one of them cannot be written
 */
export async function prepareFolders(outputs: CutOutputs): Promise<void> {
  const { manifest, tar, metrics, failures, list } = outputs;
  const finals = [manifest, tar, metrics, failures, ...(list === undefined ? [] : [list])];
  for (const folder of new Set([outputs.folder, ...finals.map((file) => path.dirname(file))]))
    await ensureFolder(folder);
  await refuseAliases(finals);
  for (const file of finals) await checkWritable(file);
  await ensureFolder(outputs.workFolder);
}

/** Two paths may lead to one file, through links to folders. */
async function refuseAliases(files: readonly string[]): Promise<void> {
  const seen = new Map<string, string>();
  for (const file of files) {
    const real = path.join(await realpath(path.dirname(file)), path.basename(file));
    const other = seen.get(real);
    if (other !== undefined) {
      throw new UsageError(`"${other}" and "${file}" are one file`, { hint: 'Give each output its own path.' });
    }
    seen.set(real, file);
  }
}

/**
 * Takes one lock for the folder, and one beside each output that lies elsewhere.
 *
 * @throws OutputError when another run has one of them
 */
export async function lockOutputs(outputs: CutOutputs, context: LockContext): Promise<Lock[]> {
  const elsewhere = [outputs.manifest, outputs.tar, outputs.metrics].filter(
    (file) => path.dirname(file) !== outputs.folder,
  );
  const locks: Lock[] = [];
  try {
    for (const file of [path.join(outputs.workFolder, 'lock'), ...elsewhere.toSorted().map((name) => `${name}.lock`)]) {
      locks.push(await takeLock(file, context));
    }
    return locks;
  } catch (error) {
    await Promise.allSettled([unlockOutputs(outputs, locks)]);
    throw error;
  }
}

/**
 * Makes the folders of outputs, and works while it holds their locks.
 *
 * @throws what `prepareFolders`, `lockOutputs` and the work throw
 */
export async function workLocked<T>(
  outputs: CutOutputs,
  context: LockContext,
  work: (locks: readonly Lock[], signal: AbortSignal) => Promise<T>,
): Promise<T> {
  await prepareFolders(outputs);
  const locks = await lockOutputs(outputs, context);
  const { signal } = context;
  let ended: T;
  try {
    ended = await work(
      locks,
      AbortSignal.any([...locks.map(({ lost }) => lost), ...(signal === undefined ? [] : [signal])]),
    );
  } catch (error) {
    // Whatever the giving back of locks meets now, what ended the run is to be told.
    await Promise.allSettled([unlockOutputs(outputs, locks)]);
    throw error;
  }
  await unlockOutputs(outputs, locks);
  return ended;
}

/** Gives the locks back, and removes the work folder unless something is left in it. */
export async function unlockOutputs(outputs: CutOutputs, locks: readonly Lock[]): Promise<void> {
  for (const held of locks.toReversed()) await held.release();
  await removeIfEmpty(outputs.workFolder);
}

async function takeLock(file: string, { signal, isProcessAlive }: LockContext): Promise<Lock> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await acquireLock(file, {
        identity: { host: hostname(), pid },
        ...(signal === undefined ? {} : { signal }),
        ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
      });
    } catch (error) {
      // A run that ends removes the work folder, maybe just now.
      if (tries === 5 || !(error instanceof OutputError) || systemCode(error.cause) !== 'ENOENT') throw error;
      await ensureFolder(path.dirname(file));
    }
  }
}

/** Removes what belongs to the work in progress, but for the lock: the journal first, without which the rest is nothing. */
export async function clearWork(outputs: CutOutputs): Promise<void> {
  await removeFile(journalPath(outputs));
  await clearParts(outputs);
  for (const file of await listPartials(outputs)) await removeFile(file);
}

/** Removes the parts of all runs. */
export async function clearParts({ workFolder }: CutOutputs): Promise<void> {
  for (const name of await listFolder(workFolder)) {
    if (name.startsWith(PARTS)) await removeFolder(path.join(workFolder, name));
  }
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw writeFailure(error, { action: 'Cannot read the folder', path: folder });
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
