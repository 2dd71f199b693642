import { rmdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError, OutputError, systemCode } from '../errors.js';
import { ensureFolder } from '../run/atomic-file.js';
import { acquireLock, type Lock } from '../run/lock.js';
import { isLockTaken } from '../shard/writer-lock.js';

export interface BuildLockContext {
  workFolder: string;
  signal: AbortSignal | undefined;
  isProcessAlive: ((pid: number) => boolean) | undefined;
}

const WAIT_MS = 100;
/** A run that ends removes the work folder, maybe just when a lock is taken in it. */
const MAX_TRIES = 5;

/**
 * Does something that one run does at a time: a run that finds another at it waits for that one.
 *
 * @param name of the lock in the work folder
 * @throws {OutputError} when the lock cannot be taken for a reason other than another run.
 */
export async function withBuildLock<R>(name: string, context: BuildLockContext, work: () => Promise<R>): Promise<R> {
  const lock = await takeLock(path.join(context.workFolder, name), context);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Removes the work folder, unless something is left in it. */
export async function removeIfEmpty(workFolder: string): Promise<void> {
  try {
    await rmdir(workFolder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) throw error;
  }
}

async function takeLock(file: string, { signal, isProcessAlive }: BuildLockContext): Promise<Lock> {
  for (let tries = 1; ;) {
    try {
      await ensureFolder(path.dirname(file));
      return await acquireLock(file, {
        identity: { host: hostname(), pid },
        ...(signal === undefined ? {} : { signal }),
        ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
      });
    } catch (error) {
      if (isLockTaken(error)) {
        if (signal?.aborted === true) {
          throw new CanceledError(`The run was stopped while it waited for "${file}"`, { cause: signal.reason });
        }
        await sleep(WAIT_MS);
        continue;
      }
      const isGone = error instanceof OutputError && systemCode(error.cause) === 'ENOENT';
      if (!isGone || tries === MAX_TRIES) throw error;
      tries += 1;
    }
  }
}
