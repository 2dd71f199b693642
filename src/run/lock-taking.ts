import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { CanceledError } from '../errors.js';
import {
  createLockFile,
  readLockFile,
  removeLockFile,
  replaceLockFile,
  sweepLockFiles,
  type LockReading,
} from './lock-file.js';
import { judgeHolder, type LivenessCheck, type LockHolder } from './lock-holder.js';

/** How others' locks are judged, and how long that may take. */
export interface LockPatience {
  /** How often the lock file is marked as alive. Default 10,000. */
  heartbeatMs: number;
  /** How long a holder on another machine may show no heartbeat before its lock is taken over. Default 60,000. */
  staleMs: number;
  /** How long a lock file may stay empty or torn before it is taken over. Default 2,000. */
  graceMs: number;
  /** For systems without `/proc`; without it, a lock of this machine is judged by its heartbeat alone. */
  isProcessAlive?: LivenessCheck;
  /** Called when a heartbeat has to be waited for: by whom the lock is held (if legible), and for how long at most. */
  onWait?: (holder: LockHolder | undefined, patienceMs: number) => void;
  /** Ends waiting with a `CanceledError`. */
  signal?: AbortSignal;
}

/** One process's attempt at a lock, with all defaults filled in. */
export interface LockAttempt extends LockPatience {
  /** What the lock file is to say. */
  me: LockHolder;
}

/** Takes the lock `path` for `own`; answers who holds it where that is a live process. */
export async function take(path: string, own: LockHolder, attempt: LockAttempt): Promise<LockHolder | undefined> {
  let contendedMs = 0;
  for (;;) {
    if (await createLockFile(path, own)) return undefined;
    const reading = await readLockFile(path);
    if (reading === undefined) continue;
    const state = await watch(path, reading, attempt);
    if (state === 'alive') return reading.holder;
    if (state === 'changed') continue;
    let isReplaced = false;
    const rival = await whileRemoving(path, reading.holder, attempt, async () => {
      if ((await readLockFile(path))?.signature !== reading.signature) return;
      await replaceLockFile(path, own);
      isReplaced = true;
    });
    if (isReplaced) return undefined;
    if (rival === undefined) continue;
    if (contendedMs >= attempt.staleMs) return rival;
    contendedMs += CONTENTION_MS;
    await pause(path, CONTENTION_MS, attempt);
  }
}

/** How long a taker waits for another one, which needs a few file operations. */
const CONTENTION_MS = 20;

/** Runs `change` as the only one who may remove that holder's lock; answers who else may where that is a live process. */
export async function whileRemoving(
  path: string,
  holder: LockHolder | undefined,
  attempt: LockAttempt,
  change: () => Promise<void>,
): Promise<LockHolder | undefined> {
  const removalPath = `${path}.${holder?.token ?? 'torn'}`;
  const own = { ...attempt.me, token: newToken() };
  const rival = await take(removalPath, own, attempt);
  if (rival !== undefined) return rival;
  try {
    await change();
  } finally {
    await removeLockFile(removalPath, own.token);
  }
  return undefined;
}

/** Watches a lock until its state is certain. */
async function watch(path: string, first: LockReading, attempt: LockAttempt): Promise<'alive' | 'dead' | 'changed'> {
  const { holder } = first;
  const verdict = holder === undefined ? 'unknown' : await judgeHolder(holder, attempt.me, attempt.isProcessAlive);
  if (verdict !== 'unknown') return verdict;
  const patienceMs = holder === undefined ? attempt.graceMs : attempt.staleMs;
  const pollMs = Math.max(5, Math.min(1000, attempt.heartbeatMs / 4, patienceMs / 4));
  attempt.onWait?.(holder, patienceMs);
  let watchedMs = 0;
  while (watchedMs < patienceMs) {
    const startMs = performance.now();
    await pause(path, pollMs, attempt);
    const reading = await readLockFile(path);
    if (reading === undefined || reading.holder?.token !== holder?.token) return 'changed';
    if (reading.signature !== first.signature) return holder === undefined ? 'changed' : 'alive';
    // A file server that hung for a minute stopped the holder's heartbeat too: such time says nothing.
    watchedMs += Math.min(performance.now() - startMs, 2 * pollMs);
  }
  return 'dead';
}

/** Removes what killed takers left. Only for who has just taken the lock: for others, a dead process's file may be just about to be taken over. */
export async function sweepOnce(path: string, { me, isProcessAlive }: LockAttempt): Promise<void> {
  try {
    await sweepLockFiles(path, async (other) => (await judgeHolder(other, me, isProcessAlive)) === 'dead');
  } catch (error) {
    await removeLockFile(path, me.token);
    throw error;
  }
}

async function pause(path: string, durationMs: number, { signal }: LockAttempt): Promise<void> {
  try {
    await sleep(durationMs, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw new CanceledError(`Stopped while waiting for the lock "${path}"`, { cause: error });
  }
}

/** A number that no other lock has. */
export function newToken(): string {
  return randomBytes(8).toString('hex');
}
