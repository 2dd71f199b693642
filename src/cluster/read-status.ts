import { hostname } from 'node:os';
import { pid } from 'node:process';
import { isAbandoned } from '../run/lock.js';
import { orderedMap } from '../run/ordered-map.js';
import type { PlanFolder } from './plan-folder.js';
import { SpeedWindow } from './speed-window.js';
import { AT_ONCE, STALE_MS, TaskStates, type TaskBeat, type TaskFailure, type TaskState } from './task-states.js';

/** How a plan stands. */
export interface PlanStatus {
  counts: Readonly<Record<TaskState, number>>;
  /** Hours of audio done, running tasks' parts included, and of all; null where durations are not known. */
  hours: { done: number; total: number } | null;
  bytes: { done: number; total: number } | null;
  /** Hours of audio (or bytes) a second: of all that run now, or by what was done since earlier looks where that is more. */
  rate: number;
  /** Undefined while nothing runs. */
  secondsLeft: number | undefined;
  running: readonly { task: number; beat: TaskBeat; silentSeconds: number }[];
  stale: readonly { task: number; silentSeconds: number }[];
  failed: readonly { task: number; failure: TaskFailure }[];
}

/** Who reads how a plan stands. Runners of the same machine that are gone are seen at once, others by their silence. */
export interface StatusOptions {
  /** What this machine is called. Default: by the system. */
  host?: string | undefined;
  /** Default: this process's. */
  pid?: number | undefined;
  /** Tells whether a process of this machine lives, where there is no `/proc`. */
  isProcessAlive?: ((pid: number) => boolean) | undefined;
}

/** Reads once how a plan stands. */
export async function readStatus(plan: PlanFolder, options: StatusOptions = {}): Promise<PlanStatus> {
  return await new StatusReader(plan, options).read();
}

/**
 * Reads how a plan stands: one listing of the folder of states, and the files of tasks that run or have failed. Tasks that are done or wait
 * cost nothing.
 */
export class StatusReader {
  readonly #plan: PlanFolder;
  readonly #options: StatusOptions;
  readonly #states: TaskStates;
  readonly #speed = new SpeedWindow();
  #done: ReadonlySet<number> = new Set();

  constructor(plan: PlanFolder, options: StatusOptions = {}) {
    this.#plan = plan;
    this.#options = options;
    this.#states = new TaskStates(plan.folder, plan.record.tasks);
  }

  /** Tasks that were not done when the plan was last read, in order. */
  *open(): Generator<number> {
    for (let task = 0; task < this.#plan.record.tasks; task += 1) if (!this.#done.has(task)) yield task;
  }

  async read(): Promise<PlanStatus> {
    const { tasks } = this.#plan.record;
    const listed = await this.#states.list();
    this.#done = listed.done;
    const beating = [...listed.beating].filter((task) => !listed.done.has(task));
    const silences = await this.#states.silences(beating);
    const running: PlanStatus['running'][number][] = [];
    const stale: PlanStatus['stale'][number][] = [];
    const alive: number[] = [];
    for (const [task, silentMs] of silences) {
      if (silentMs >= STALE_MS) stale.push({ task, silentSeconds: silentMs / 1000 });
      else alive.push(task);
    }
    const beats = orderedMap(alive, AT_ONCE, async (task) => await this.#readRunner(task));
    for await (const { task, beat, isGone } of beats) {
      const silentSeconds = (silences.get(task) ?? 0) / 1000;
      if (isGone) stale.push({ task, silentSeconds });
      else if (beat !== undefined) running.push({ task, beat, silentSeconds });
    }
    const busy = new Set([...running, ...stale].map(({ task }) => task));
    const failed = await this.#readFailures(
      [...listed.failed].filter((task) => !listed.done.has(task) && !busy.has(task)),
    );
    const counts = { done: listed.done.size, running: running.length, stale: stale.length, failed: failed.length };
    const waiting = tasks - counts.done - counts.running - counts.stale - counts.failed;
    return { counts: { ...counts, waiting }, running, stale, failed, ...this.#extent(listed.done, running) };
  }

  async #readRunner(task: number): Promise<{ task: number; beat: TaskBeat | undefined; isGone: boolean }> {
    const { host = hostname(), pid: ownPid = pid, isProcessAlive } = this.#options;
    const beat = await this.#states.readBeat(task);
    const isGone =
      beat?.host === host &&
      (await isAbandoned(this.#states.lockPath(task), {
        identity: { host, pid: ownPid },
        ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
      }));
    return { task, beat, isGone };
  }

  async #readFailures(tasks: readonly number[]): Promise<PlanStatus['failed']> {
    const failed: { task: number; failure: TaskFailure }[] = [];
    // Read anew each time: a task may have been tried and failed again since.
    const failures = orderedMap(
      tasks.toSorted((a, b) => a - b),
      AT_ONCE,
      async (task) => ({ task, failure: await this.#states.readFailure(task) }),
    );
    for await (const { task, failure } of failures) if (failure !== undefined) failed.push({ task, failure });
    return failed;
  }

  #extent(
    done: ReadonlySet<number>,
    running: PlanStatus['running'],
  ): Pick<PlanStatus, 'hours' | 'bytes' | 'rate' | 'secondsLeft'> {
    const { extents } = this.#plan.plan;
    const { hours: totalHours, bytes: totalBytes } = this.#plan.record;
    const byHours = totalHours !== null;
    const weightOf = (task: number): number => {
      const extent = extents[task];
      return byHours ? (extent?.micros ?? 0) / 3600e6 : (extent?.bytes ?? 0);
    };
    let sum = 0;
    for (const task of done) sum += weightOf(task);
    let rate = 0;
    for (const { task, beat } of running) {
      const part = Math.min(byHours ? beat.audioSeconds / 3600 : beat.bytes, weightOf(task));
      sum += part;
      if (beat.seconds > 0) rate += part / beat.seconds;
    }
    const total = (byHours ? totalHours : totalBytes) ?? 0;
    const grown = this.#speed.add(sum, performance.now());
    if (running.length > 0) rate = Math.max(rate, grown);
    const secondsLeft = rate > 0 ? Math.max(0, total - sum) / rate : undefined;
    return {
      hours: byHours ? { done: sum, total } : null,
      bytes: byHours || totalBytes === null ? null : { done: sum, total },
      rate,
      secondsLeft,
    };
  }
}
