import { availableParallelism, hostname } from 'node:os';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError, CutroomError, UsageError, wholeMessage } from '../errors.js';
import { findMappings } from '../run/path-map.js';
import { acquireLock, LockTakenError, type Lock } from '../run/lock.js';
import type { LockPatience } from '../run/lock-taking.js';
import type { TaskOutcome, TaskProgress } from '../run/task.js';
import { loadKind } from './kinds.js';
import type { PlanFolder } from './plan-folder.js';
import { BEAT_MS, TaskStates } from './task-states.js';

/** What a task is run with. */
export interface RunTaskOptions {
  /** Processes that decode. Default: one a core. */
  jobs?: number;
  /** Stops the task; what it has finished is kept. */
  signal?: AbortSignal;
  /** What this machine is called. Default: by the system. */
  host?: string;
  /** Default: this process's. */
  pid?: number;
  /** What the engine calls the job, where one runs it. */
  job?: string | undefined;
  /** What to do while another runner has the task. Default `leave`. */
  onRunning?: 'leave' | 'wait' | undefined;
  onProgress?: ((progress: TaskProgress) => void) | undefined;
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often the lock of the task is marked as alive, and how long that of another machine may be silent. Default: 10 s and 60 s. */
  patience?: Partial<Pick<LockPatience, 'heartbeatMs' | 'staleMs'>> | undefined;
}

/** `RunTaskOptions` with the defaults filled in. */
export type ResolvedRunTaskOptions = RunTaskOptions &
  Required<Pick<RunTaskOptions, 'jobs' | 'signal' | 'host' | 'pid'>>;

/** Fills in the defaults. @throws {RangeError} when `jobs` is no whole number from 1 on. */
export function resolveRunTaskOptions(options: RunTaskOptions): ResolvedRunTaskOptions {
  const { jobs = availableParallelism(), signal = new AbortController().signal } = options;
  const { host = hostname(), pid: ownPid = pid } = options;
  if (!Number.isSafeInteger(jobs) || jobs < 1)
    throw new RangeError(`jobs must be a whole number of 1 or more, but is ${jobs}`);
  return { ...options, jobs, signal, host, pid: ownPid };
}

/** How a call ended. */
export type RunTaskResult =
  | { kind: 'done'; outcome: TaskOutcome }
  | { kind: 'already_done'; outcome: TaskOutcome }
  /** Another runner has it. */
  | { kind: 'running_elsewhere'; host: string; pid: number };

const WAIT_MS = 2_000;

/**
 * Does one task of a plan, unless it is done or another runner has it.
 *
 * @throws {UsageError} when there is no such task.
 * @throws {CanceledError} when it was stopped: what it has finished is kept.
 * @throws CutroomError when it cannot be done; the failure is noted beside the plan.
 */
export async function runTask(plan: PlanFolder, task: number, given: RunTaskOptions = {}): Promise<RunTaskResult> {
  const options = resolveRunTaskOptions(given);
  const states = new TaskStates(plan.folder, plan.record.tasks);
  const extent = plan.plan.extents[task];
  if (extent === undefined) {
    throw new UsageError(`There is no task ${task}: the plan has ${plan.record.tasks}, counted from 0`);
  }
  for (;;) {
    const done = await states.readDone(task);
    if (done !== undefined) return { kind: 'already_done', outcome: done };
    const lock = await tryLock(states.lockPath(task), options);
    if (!(lock instanceof LockTakenError)) return await runLocked(plan, task, states, lock, options);
    if (options.onRunning !== 'wait') {
      return { kind: 'running_elsewhere', host: lock.holder.host, pid: lock.holder.pid };
    }
    await pause(options.signal);
  }
}

async function runLocked(
  plan: PlanFolder,
  task: number,
  states: TaskStates,
  lock: Lock,
  options: ResolvedRunTaskOptions,
): Promise<RunTaskResult> {
  const extent = plan.plan.extents[task];
  if (extent === undefined) throw new RangeError(`There is no task ${task}`);
  try {
    // Another runner may have ended it between the look and the lock.
    const done = await states.readDone(task);
    if (done !== undefined) return { kind: 'already_done', outcome: done };
    const heart = new Heart(states, task, options);
    try {
      await heart.start();
      const kind = await loadKind(plan.record.kind);
      const outcome = await kind.run(plan.plan, extent, {
        jobs: options.jobs,
        signal: AbortSignal.any([options.signal, lock.lost]),
        mappings: await findMappings(plan.record.map),
        onProgress: (progress) => {
          heart.note(progress);
          options.onProgress?.(progress);
        },
      });
      await lock.confirm();
      await heart.stop();
      await states.noteDone(task, outcome);
      return { kind: 'done', outcome };
    } catch (error) {
      await heart.stop();
      await noteEnd(states, task, error, options);
      throw error;
    }
  } finally {
    await lock.release();
  }
}

/** A task that was stopped has not failed. */
async function noteEnd(
  states: TaskStates,
  task: number,
  error: unknown,
  options: ResolvedRunTaskOptions,
): Promise<void> {
  const isStopped = error instanceof CanceledError || options.signal.aborted;
  try {
    if (isStopped) {
      await states.clearBeat(task);
      return;
    }
    const { host, pid: ownPid, job } = options;
    await states.noteFailure(task, {
      message: wholeMessage(error),
      hint: error instanceof CutroomError ? error.hint : undefined,
      where: job === undefined ? `${host}, process ${ownPid}` : `${host}, job ${job}`,
    });
  } catch {
    // The disk that the task failed for refuses its note too: what ended the task is thrown.
  }
}

async function tryLock(path: string, options: ResolvedRunTaskOptions): Promise<Lock | LockTakenError> {
  const { host, pid: ownPid, signal, isProcessAlive, patience } = options;
  try {
    return await acquireLock(path, {
      ...patience,
      identity: { host, pid: ownPid },
      signal,
      ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
    });
  } catch (error) {
    if (error instanceof LockTakenError) return error;
    throw error;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(WAIT_MS, undefined, { signal });
  } catch (error) {
    throw new CanceledError('Stopped while waiting for another runner of the task', { cause: error });
  }
}

/** Tells now and then that the task is being run, and how far it is. */
class Heart {
  readonly #states: TaskStates;
  readonly #task: number;
  readonly #options: ResolvedRunTaskOptions;
  readonly #startMs = performance.now();
  #progress: TaskProgress = { units: 0, audioSeconds: 0, bytes: 0 };
  #timer: NodeJS.Timeout | undefined;
  #beat: Promise<void> | undefined;

  constructor(states: TaskStates, task: number, options: ResolvedRunTaskOptions) {
    this.#states = states;
    this.#task = task;
    this.#options = options;
  }

  note(progress: TaskProgress): void {
    this.#progress = progress;
  }

  async start(): Promise<void> {
    await this.#write();
    this.#timer = setInterval(() => {
      // A beat that cannot be written is missed; the lock's own heartbeat decides who has the task.
      this.#beat ??= this.#write().then(
        () => void (this.#beat = undefined),
        () => void (this.#beat = undefined),
      );
    }, BEAT_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beat;
  }

  async #write(): Promise<void> {
    const { host, pid: ownPid, job } = this.#options;
    const seconds = (performance.now() - this.#startMs) / 1000;
    await this.#states.beat(this.#task, { ...this.#progress, host, pid: ownPid, job, seconds });
  }
}
