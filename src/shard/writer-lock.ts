import { hostname } from 'node:os';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { OutputError, systemCode } from '../errors.js';
import { acquireLock, type Lock } from '../run/lock.js';
import type { Report } from '../run/pool-child.js';

const PAUSE_MS = 50;
const REPORT_MS = 100;

/**
 * Takes the lock that says which process writes a shard's files, besides the lock of the run. A process whose parent was killed goes on for a
 * moment: until it notices, nobody else must touch what it writes. Where it does not notice in time, the lock's error tells of it.
 *
 * @throws {OutputError} when another process has it for longer than `patienceMs`.
 */
export async function lockWriter(
  path: string,
  patienceMs: number,
  report: Report,
  isProcessAlive: ((pid: number) => boolean) | undefined,
): Promise<Lock> {
  // Waiting is no silence.
  const timer = setInterval(() => void report(undefined), REPORT_MS);
  try {
    for (const startMs = performance.now(); ;) {
      try {
        return await acquireLock(path, {
          identity: { host: hostname(), pid },
          ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
        });
      } catch (error) {
        if (!isLockTaken(error) || performance.now() - startMs > patienceMs) throw error;
        await sleep(PAUSE_MS);
      }
    }
  } finally {
    clearInterval(timer);
  }
}

/** Whether it is another process that keeps a lock from being taken, and not the disk. */
export function isLockTaken(error: unknown): boolean {
  return error instanceof OutputError && systemCode(error.cause) === undefined;
}
