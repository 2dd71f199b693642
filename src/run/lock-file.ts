import { link, open, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { systemCode } from '../errors.js';
import { parseHolder, type LockHolder } from './lock-holder.js';

/** One reading of a lock file. */
export interface LockReading {
  /** Undefined when the file is torn, empty or no lock. */
  holder: LockHolder | undefined;
  /** Changes with each heartbeat and with each holder: only compared with other readings, never with a clock. */
  signature: string;
}

/**
 * Makes a lock file that holds `holder`, unless there is one.
 *
 * A whole file is linked to the lock's name: `link` is atomic on local disks, NFS and Lustre alike, and the content is there from the first
 * moment. File systems without hard links get an exclusive open instead.
 *
 * @returns false when the lock is taken.
 */
export async function createLockFile(lockPath: string, holder: LockHolder): Promise<boolean> {
  const own = `${lockPath}.${holder.token}.new`;
  try {
    await withOwnFile(lockPath, holder, async () => await link(own, lockPath));
    return true;
  } catch (error) {
    const code = systemCode(error) ?? '';
    // A link whose answer was lost on the network is asked for again and then refused, although it was made.
    if (code === 'EEXIST') return (await readLockFile(lockPath))?.holder?.token === holder.token;
    if (!NO_LINK_CODES.has(code)) throw error;
    return await createExclusively(lockPath, holder);
  } finally {
    await rm(own, { force: true });
  }
}

/** Puts `holder` into a lock file's place, atomically. Only for who may remove what stands there. */
export async function replaceLockFile(lockPath: string, holder: LockHolder): Promise<void> {
  const own = `${lockPath}.${holder.token}.new`;
  try {
    await withOwnFile(lockPath, holder, async () => await rename(own, lockPath));
  } catch (error) {
    await rm(own, { force: true });
    throw error;
  }
}

/** Reads a lock file; undefined when there is none. */
export async function readLockFile(lockPath: string): Promise<LockReading | undefined> {
  // Opened anew each time: network file systems ask the server at an open, and answer from memory otherwise.
  const handle = await open(lockPath, 'r').catch(ignoreMissing);
  if (handle === undefined) return undefined;
  try {
    const text = await handle.readFile('utf8');
    const stats = await handle.stat({ bigint: true });
    return { holder: parseHolder(text), signature: `${stats.ino} ${stats.mtimeNs} ${text}` };
  } finally {
    await handle.close();
  }
}

/** Marks a lock file as alive at `timeMs` if it is still that of `token`; returns whether it is. */
export async function touchLockFile(lockPath: string, token: string, timeMs: number): Promise<boolean> {
  const handle = await open(lockPath, 'r+').catch(ignoreMissing);
  if (handle === undefined) return false;
  try {
    if (parseHolder(await handle.readFile('utf8'))?.token !== token) return false;
    await handle.utimes(timeMs / 1000, timeMs / 1000);
    return true;
  } finally {
    await handle.close();
  }
}

/** Removes a lock file if it is still that of `token`. Only for its holder while nobody can take it over. */
export async function removeLockFile(lockPath: string, token: string): Promise<void> {
  const reading = await readLockFile(lockPath);
  if (reading?.holder?.token === token) await unlink(lockPath);
}

/** Removes the files that processes left beside a lock when they were killed while they took it. */
export async function sweepLockFiles(
  lockPath: string,
  isDead: (holder: LockHolder) => Promise<boolean>,
): Promise<void> {
  const folder = path.dirname(lockPath);
  const start = `${path.basename(lockPath)}.`;
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start) || !/^(?:(?:[0-9a-f]{16}|torn)\.?)+(?:new)?$/.test(name.slice(start.length))) continue;
    const leftover = path.join(folder, name);
    const holder = (await readLockFile(leftover))?.holder;
    // Whoever is just writing a torn one writes it again: see `withOwnFile`.
    const isTorn = holder === undefined && name.endsWith('.new');
    if (isTorn || (holder !== undefined && (await isDead(holder)))) await rm(leftover, { force: true });
  }
}

/** How `link` fails where hard links are not supported (FAT, some FUSE and SMB mounts), not allowed, or used up. */
const NO_LINK_CODES: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

/** How often a file that was swept away is written again. */
const MAX_WRITES = 10;

/** Does something with a file of this holder's own, which another process may sweep away while it is torn: then it is written again. */
async function withOwnFile(lockPath: string, holder: LockHolder, use: () => Promise<void>): Promise<void> {
  for (let writes = 1; ; writes += 1) {
    await writeOwnFile(lockPath, holder);
    try {
      await use();
      return;
    } catch (error) {
      if (systemCode(error) !== 'ENOENT' || writes === MAX_WRITES) throw error;
    }
  }
}

async function writeOwnFile(lockPath: string, holder: LockHolder): Promise<void> {
  const own = `${lockPath}.${holder.token}.new`;
  try {
    await writeFile(own, JSON.stringify(holder));
  } catch (error) {
    await rm(own, { force: true });
    throw error;
  }
}

async function createExclusively(lockPath: string, holder: LockHolder): Promise<boolean> {
  const handle = await open(lockPath, 'wx').catch(ignoreExisting);
  if (handle === undefined) return false;
  try {
    await handle.writeFile(JSON.stringify(holder));
  } catch (error) {
    await unlink(lockPath);
    throw error;
  } finally {
    await handle.close();
  }
  // Had this process been stopped between opening and writing, the empty file may have been taken over.
  return (await readLockFile(lockPath))?.holder?.token === holder.token;
}

function ignoreMissing(error: unknown): undefined {
  if (!['ENOENT', 'ESTALE'].includes(systemCode(error) ?? '')) throw error;
}

function ignoreExisting(error: unknown): undefined {
  if (systemCode(error) !== 'EEXIST') throw error;
}
