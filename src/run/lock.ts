import { errorMessage, OutputError } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';
import { readLockFile, removeLockFile, touchLockFile, type LockReading } from './lock-file.js';
import { judgeHolder, readProcessFacts, type LockHolder, type ProcessFacts } from './lock-holder.js';
import { newToken, sweepOnce, take, whileRemoving, type LockAttempt, type LockPatience } from './lock-taking.js';

export interface LockOptions extends Partial<LockPatience> {
  /** This machine's name and this process's number. */
  identity: { host: string; pid: number };
  /** What identifies a process beyond its pid; default: from `/proc`, where there is one. */
  readFacts?: (pid: number) => Promise<ProcessFacts>;
  /** Milliseconds since 1970, for the times in the lock file; default `Date.now`. Waiting never depends on it. */
  now?: () => number;
}

/**
 * Takes a lock that survives no crash and works across machines that share a file system.
 *
 * - Held by a live process of this machine: refused at once.
 * - Held by a process of this machine that is gone (its pid is free, or another process has it, or the machine was booted since): taken over
 *   at once.
 * - Held from another machine: refused as soon as its heartbeat is seen to change, which is waited for; taken over when it did not change
 *   for `staleMs`. Two readings are compared, never two clocks.
 *
 * Whoever wants to remove another's lock must first hold the lock of that removal, which is named by the removed lock's token, and then
 * look again: so of many takers exactly one wins, and none removes the lock that another one just took.
 *
 * @throws {LockTakenError} when the lock is taken, naming the holder.
 * @throws {OutputError} when its file cannot be written.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock> {
  const now = options.now ?? Date.now;
  const facts = await (options.readFacts ?? readProcessFacts)(options.identity.pid);
  const me: LockHolder = {
    ...options.identity,
    ...facts,
    token: newToken(),
    started: new Date(now()).toISOString(),
  };
  const attempt: HeldAttempt = {
    heartbeatMs: 10_000,
    staleMs: 60_000,
    graceMs: 2_000,
    ...options,
    now,
    me,
  };
  let holder: LockHolder | undefined;
  try {
    holder = await take(path, me, attempt);
    if (holder === undefined) await sweepOnce(path, attempt);
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot lock', path });
  }
  if (holder !== undefined) throw takenError(path, holder, me);
  return new HeldLock(path, attempt);
}

/**
 * Whether a lock is that of a process of this machine which is gone. What cannot be told at once is not waited for: false then.
 *
 * @throws {OutputError} when the lock file cannot be read.
 */
export async function isAbandoned(
  path: string,
  { identity, isProcessAlive }: Pick<LockOptions, 'identity' | 'isProcessAlive'>,
): Promise<boolean> {
  let reading: LockReading | undefined;
  try {
    reading = await readLockFile(path);
  } catch (error) {
    throw new OutputError(`Cannot read the lock "${path}": ${errorMessage(error)}`, { path, cause: error });
  }
  const holder = reading?.holder;
  if (holder === undefined || holder.host !== identity.host) return false;
  const me: LockHolder = { ...holder, ...identity, ...(await readProcessFacts(identity.pid)) };
  return (await judgeHolder(holder, me, isProcessAlive)) === 'dead';
}

/** A lock that is held, and marked as alive until it is released. Its timer keeps no process running. */
export interface Lock {
  /** The lock file. */
  readonly path: string;
  /** What the lock file says. */
  readonly holder: LockHolder;
  /** Fires, with an `OutputError` as its reason, when somebody else has the lock now or may have it: the work must stop. */
  readonly lost: AbortSignal;
  /**
   * Looks whether the lock is still held, for the moment before something that cannot be undone.
   *
   * @throws {OutputError} when it was lost, or the file system does not tell.
   */
  confirm(): Promise<void>;
  /**
   * Gives the lock back; a lock that was lost is left to its new holder.
   *
   * @throws {OutputError} when the lock file cannot be removed.
   */
  release(): Promise<void>;
}

interface HeldAttempt extends LockAttempt {
  now: () => number;
}

class HeldLock implements Lock {
  readonly path: string;
  readonly holder: LockHolder;
  readonly #attempt: HeldAttempt;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #lastBeatMs = performance.now();
  #beat: Promise<{ fault?: unknown }> | undefined;
  #isReleased = false;

  constructor(path: string, attempt: HeldAttempt) {
    this.path = path;
    this.holder = attempt.me;
    this.#attempt = attempt;
    this.#timer = setInterval(() => void this.#beatOnce(), attempt.heartbeatMs);
    this.#timer.unref();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async confirm(): Promise<void> {
    const { fault } = await this.#beatOnce();
    this.#lost.signal.throwIfAborted();
    if (fault !== undefined) throw writeFailure(fault, { action: 'Cannot confirm the lock', path: this.path });
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#timer);
    await this.#beat;
    if (this.#lost.signal.aborted) return;
    try {
      // While the heartbeat is young nobody takes the lock over, and no new file is needed, which a full disk would refuse.
      if (performance.now() - this.#lastBeatMs < this.#attempt.staleMs / 2) {
        await removeLockFile(this.path, this.holder.token);
      } else {
        await whileRemoving(this.path, this.holder, this.#attempt, () => removeLockFile(this.path, this.holder.token));
      }
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot release the lock', path: this.path });
    }
  }

  async #beatOnce(): Promise<{ fault?: unknown }> {
    this.#beat ??= this.#tryBeat().finally(() => {
      this.#beat = undefined;
    });
    return await this.#beat;
  }

  async #tryBeat(): Promise<{ fault?: unknown }> {
    if (this.#isReleased || this.#lost.signal.aborted) return {};
    const startMs = performance.now();
    try {
      if (await touchLockFile(this.path, this.holder.token, this.#attempt.now())) this.#lastBeatMs = startMs;
      else this.#lose('another process took it over, or its file was removed');
      return {};
    } catch (fault) {
      // It may pass; but without a heartbeat for so long, others may take the lock.
      if (startMs - this.#lastBeatMs >= this.#attempt.staleMs) this.#lose('its heartbeat could not be written', fault);
      return { fault };
    }
  }

  #lose(reason: string, cause?: unknown): void {
    clearInterval(this.#timer);
    const hint = 'See that only one run works on this folder, then run the same command again.';
    this.#lost.abort(new OutputError(`Lost the lock "${this.path}": ${reason}`, { path: this.path, cause, hint }));
  }
}

/** A live process has the lock. */
export class LockTakenError extends OutputError {
  readonly holder: LockHolder;

  constructor(message: string, options: { path: string; hint: string; holder: LockHolder }) {
    super(message, options);
    this.holder = options.holder;
  }
}

function takenError(path: string, holder: LockHolder, me: LockHolder): LockTakenError {
  const { host, pid, started } = holder;
  const where = host === me.host ? '' : ` on ${host}`;
  return new LockTakenError(`Cannot lock "${path}": process ${pid} on ${host} has held it since ${started}`, {
    path,
    holder,
    hint: `See what it does with "ps -fp ${pid}"${where}; wait for it or stop it. The lock of a dead process is taken over by itself.`,
  });
}
