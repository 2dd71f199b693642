import { mkdir, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { systemCode } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';

/**
 * Makes a folder and those above it where they are missing, and waits until their entries are on the disk.
 *
 * @throws {OutputError} when it cannot be made, or something else stands there.
 */
export async function ensureFolder(folder: string): Promise<void> {
  try {
    const firstMade = await makeFolders(path.resolve(folder));
    if (firstMade === undefined) return;
    const top = path.dirname(path.resolve(firstMade));
    for (let made = path.resolve(folder); made !== top; made = path.dirname(made)) await syncFolder(path.dirname(made));
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot make the folder', path: folder });
  }
}

/**
 * Makes a folder and those above it; answers the topmost one that was missing. Step by step: Node.js's own recursive way never ends where
 * a file system refuses new folders as if the one above were missing, as `/proc` does.
 */
async function makeFolders(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return undefined;
    const above = path.dirname(folder);
    if (code !== 'ENOENT' || above === folder) throw error;
    const firstMade = await makeFolders(above);
    await mkdir(folder).catch(ignoreExisting);
    return firstMade ?? folder;
  }
}

/** Another process makes the same folders at this moment. */
function ignoreExisting(error: unknown): void {
  if (systemCode(error) !== 'EEXIST') throw error;
}

/**
 * Removes a folder with all in it, also while a process that is about to end still writes there.
 *
 * @throws {OutputError} when it cannot be removed.
 */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot remove the folder', path: folder });
  }
}

/** Waits until the entries of a folder are on the disk: a file that was made or renamed there is then found after a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!UNSYNCABLE_CODES.has(systemCode(error) ?? '')) throw error;
  }
}

/** How systems say that a folder cannot be opened or synced at all: Windows, and some network and FUSE file systems. */
const UNSYNCABLE_CODES: ReadonlySet<string> = new Set([
  'EISDIR',
  'EPERM',
  'EACCES',
  'EINVAL',
  'ENOTSUP',
  'ENOSYS',
  'EBADF',
]);
