import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError } from '../errors.js';
import { acquireLock, LockTakenError, type Lock } from '../run/lock.js';
import { readEngineRecord, writeEngineRecord } from './engine-record.js';
import type { Engine, EngineJob, EngineRecord } from './engine.js';
import type { PlanFolder } from './plan-folder.js';
import { StatusReader, type PlanStatus } from './read-status.js';
import { TaskStates } from './task-states.js';

/** What is watched while an engine works. */
export interface LaunchProgress {
  status: PlanStatus;
  /** Jobs as the engine sees them, of tasks that are not done. */
  jobs: ReadonlyMap<number, EngineJob>;
  /** Set while another launcher submits, and this one only looks on. */
  isAttached: boolean;
}

export interface LaunchOptions {
  engine: Engine;
  /** What to submit with; where the plan was submitted before, its record holds. */
  record: EngineRecord;
  host: string;
  pid: number;
  signal: AbortSignal;
  onProgress?: ((progress: LaunchProgress) => void) | undefined;
  /** Takes what is worth knowing once. */
  onNote?: ((message: string) => void) | undefined;
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often states are looked at, in milliseconds. Default 2,000. */
  pollMs?: number | undefined;
}

/** How the tasks ended. */
export interface LaunchResult {
  /** All are done. */
  isDone: boolean;
  /** Tasks that failed as often as they may. */
  failed: readonly number[];
  status: PlanStatus;
}

const POLL_MS = 2_000;
/** A job that ended may have written its task's state on another machine just now. */
const SETTLE_LOOKS = 3;

/**
 * Hands the tasks of a plan to an engine and watches them until each is done or has failed for good. Stopping leaves the jobs running. A second
 * launcher looks on, and takes over when the first is gone.
 *
 * @throws {CanceledError} when it was stopped.
 */
export async function launch(plan: PlanFolder, options: LaunchOptions): Promise<LaunchResult> {
  return await new Launch(plan, options).run();
}

class Launch {
  readonly #plan: PlanFolder;
  readonly #options: LaunchOptions;
  readonly #states: TaskStates;
  readonly #status: StatusReader;
  #record: EngineRecord;
  #lock: Lock | undefined;
  /** Looks in a row at which a task had a job that is over and no state that says so. */
  readonly #silent = new Map<number, number>();
  #toldAttached = false;

  constructor(plan: PlanFolder, options: LaunchOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#record = options.record;
    this.#states = new TaskStates(plan.folder, plan.record.tasks);
    this.#status = new StatusReader(plan);
  }

  async run(): Promise<LaunchResult> {
    const { engine, signal, onProgress } = this.#options;
    try {
      for (;;) {
        signal.throwIfAborted();
        await this.#lead();
        const status = await this.#status.read();
        const open = this.#listOpen(status);
        const jobs =
          open.length === 0 ? new Map<number, EngineJob>() : await engine.look(this.#plan, this.#record, open);
        onProgress?.({ status, jobs, isAttached: this.#lock === undefined });
        const failed = status.failed
          .filter(({ failure }) => failure.tries > this.#record.retries)
          .map(({ task }) => task);
        const hopeless = new Set(failed);
        if (open.every((task) => hopeless.has(task))) return { isDone: open.length === 0, failed, status };
        if (this.#lock !== undefined)
          await this.#submitMissing(
            open.filter((task) => !hopeless.has(task)),
            jobs,
            status,
          );
        await this.#pause();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new CanceledError('Stopped watching; the jobs go on', { cause: error });
    } finally {
      await this.#lock?.release();
    }
  }

  /** Takes the part of the launcher that submits, unless another has it. */
  async #lead(): Promise<void> {
    if (this.#lock !== undefined) {
      this.#lock.lost.throwIfAborted();
      return;
    }
    const { host, pid, isProcessAlive, onNote } = this.#options;
    try {
      this.#lock = await acquireLock(path.join(this.#plan.folder, 'states', 'launch.lock'), {
        identity: { host, pid },
        signal: this.#options.signal,
        ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
      });
      this.#record = (await readEngineRecord(this.#plan.folder)) ?? this.#record;
    } catch (error) {
      if (!(error instanceof LockTakenError)) throw error;
      this.#record = (await readEngineRecord(this.#plan.folder)) ?? this.#record;
      if (!this.#toldAttached)
        onNote?.(`process ${error.holder.pid} on ${error.holder.host} has submitted this plan: looking on`);
      this.#toldAttached = true;
    }
  }

  #listOpen(status: PlanStatus): number[] {
    const { tasks } = this.#plan.record;
    if (status.counts.done === tasks) return [];
    return [...this.#status.open()];
  }

  async #submitMissing(
    open: readonly number[],
    jobs: ReadonlyMap<number, EngineJob>,
    status: PlanStatus,
  ): Promise<void> {
    const tries = new Map(status.failed.map(({ task, failure }) => [task, failure.tries]));
    const missing: number[] = [];
    for (const task of open) {
      const job = jobs.get(task);
      if (job?.state === 'queued' || job?.state === 'running') {
        this.#silent.delete(task);
        continue;
      }
      if (job === undefined) {
        missing.push(task);
        continue;
      }
      // The job is over. What it says of itself may come a moment later; a job that was killed says nothing.
      const looks = (this.#silent.get(task) ?? 0) + 1;
      this.#silent.set(task, looks);
      if (!tries.has(task) && looks < SETTLE_LOOKS) continue;
      if (!tries.has(task)) await this.#noteSilentEnd(task, job);
      else missing.push(task);
    }
    if (missing.length === 0) return;
    for (const task of missing) this.#silent.delete(task);
    const attempt = Math.max(0, ...missing.map((task) => tries.get(task) ?? 0));
    this.#record = await this.#options.engine.submit(this.#plan, this.#record, missing, attempt);
    await writeEngineRecord(this.#plan.folder, this.#record);
  }

  /** A job that ended without a word counts as a failure, so that it is not tried for ever; a stop by the engine does not. */
  async #noteSilentEnd(task: number, job: EngineJob): Promise<void> {
    if ((await this.#states.readDone(task)) !== undefined) return;
    const log = await this.#options.engine.log(this.#plan, this.#record, task);
    const last = log?.trimEnd().split('\n').at(-1)?.trim();
    const reason = job.reason === undefined ? '' : ` (${job.reason})`;
    await this.#states.noteFailure(task, {
      message: `Its job ${job.id} ended without finishing the task: ${job.state}${reason}${last ? `: ${last}` : ''}`,
      hint: job.state === 'failed' ? 'See the log of the task in the folder of the plan.' : undefined,
      where: this.#record.engine,
    });
  }

  async #pause(): Promise<void> {
    await sleep(this.#options.pollMs ?? POLL_MS, undefined, { signal: this.#options.signal });
  }
}
