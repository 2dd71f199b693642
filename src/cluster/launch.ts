import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError, OutputError } from '../errors.js';
import { acquireLock, LockTakenError, type Lock } from '../run/lock.js';
import { readCancelMark, removeCancelMark } from './cancel-mark.js';
import { readEngineRecord, writeEngineRecord } from './engine-record.js';
import type { Engine, EngineJob, EngineRecord } from './engine.js';
import type { PlanFolder } from './plan-folder.js';
import { StatusReader, type PlanStatus } from './read-status.js';
import { SilentEnds } from './silent-ends.js';
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
  /** What to submit with. Where the plan was submitted before, what the engine knows of that holds, and the rest is as it says here. */
  record: EngineRecord;
  /** What this machine is called. Default: by the system. */
  host?: string;
  /** Default: this process's. */
  pid?: number;
  /** Stops watching; the jobs go on. */
  signal?: AbortSignal;
  onProgress?: ((progress: LaunchProgress) => void) | undefined;
  /** Takes what is worth knowing once. */
  onNote?: ((message: string) => void) | undefined;
  isProcessAlive?: ((pid: number) => boolean) | undefined;
  /** How often states are looked at, in milliseconds; more often at first. Default 5,000. */
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

const POLL_MS = 5_000;
const FIRST_POLL_MS = 500;

/**
 * Hands the tasks of a plan to an engine and watches them until each is done or has failed for good. Stopping leaves the jobs running. A second
 * launcher looks on, and takes over when the first is gone. Tasks that had failed as often as they may are tried anew: who launches again wants that.
 *
 * @throws {CanceledError} when it was stopped, or the jobs were canceled.
 * @throws {OutputError} when the engine cannot be reached, or another one has the plan.
 */
export async function launch(plan: PlanFolder, options: LaunchOptions): Promise<LaunchResult> {
  const { signal = new AbortController().signal, host = hostname(), pid: ownPid = pid } = options;
  return await new Launch(plan, { ...options, signal, host, pid: ownPid }).run();
}

type ResolvedLaunchOptions = LaunchOptions & Required<Pick<LaunchOptions, 'host' | 'pid' | 'signal'>>;

class Launch {
  readonly #plan: PlanFolder;
  readonly #options: ResolvedLaunchOptions;
  readonly #states: TaskStates;
  readonly #status: StatusReader;
  readonly #silentEnds: SilentEnds;
  readonly #ended = new AbortController();
  #record: EngineRecord;
  #lock: Lock | undefined;
  /** The attempt to become the launcher that submits, while it is under way: judging a lock of another machine takes a while. */
  #attempt: Promise<void> | undefined;
  #attemptError: unknown;
  /** The mark of the cancelling that was the last before this launch. */
  #earlierMark: string | undefined;
  #isFirstLead = true;
  #looks = 0;

  constructor(plan: PlanFolder, options: ResolvedLaunchOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#record = options.record;
    this.#states = new TaskStates(plan.folder, plan.record.tasks);
    this.#status = new StatusReader(plan, options);
    this.#silentEnds = new SilentEnds(this.#states);
  }

  async run(): Promise<LaunchResult> {
    const { engine, signal, onProgress } = this.#options;
    try {
      this.#earlierMark = await readCancelMark(this.#plan.folder);
      for (;;) {
        if (signal.aborted) throw signal.reason;
        await this.#lead();
        await this.#requireNotCanceled();
        const status = await this.#status.read();
        const open = [...this.#status.open()];
        const jobs =
          open.length === 0 ? new Map<number, EngineJob>() : await engine.look(this.#plan, this.#record, open);
        onProgress?.({ status, jobs, isAttached: this.#lock === undefined });
        const failed = this.#listHopeless(status);
        const hopeless = new Set(failed);
        if (open.every((task) => hopeless.has(task))) return { isDone: open.length === 0, failed, status };
        if (this.#lock !== undefined) {
          const tasks = open.filter((task) => !hopeless.has(task));
          await this.#submitMissing(tasks, jobs, status);
        }
        await this.#pause();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new CanceledError('Stopped watching; the jobs go on', { cause: error });
    } finally {
      this.#ended.abort();
      await this.#attempt;
      await this.#lock?.release();
    }
  }

  /** Takes the part of the launcher that submits, unless another has it. */
  async #lead(): Promise<void> {
    if (this.#lock !== undefined) {
      this.#lock.lost.throwIfAborted();
      return;
    }
    if (this.#attemptError !== undefined) throw this.#attemptError;
    const isFirst = this.#isFirstLead;
    this.#isFirstLead = false;
    this.#attempt ??= this.#tryToLead(isFirst)
      .catch((error: unknown) => {
        if (!this.#ended.signal.aborted) this.#attemptError = error;
      })
      .finally(() => (this.#attempt = undefined));
    if (!isFirst) return;
    await this.#attempt;
    if (this.#attemptError !== undefined) throw this.#attemptError;
  }

  async #tryToLead(isFirst: boolean): Promise<void> {
    const { host, pid: ownPid, isProcessAlive, onNote, signal } = this.#options;
    const { folder } = this.#plan;
    try {
      const lock = await acquireLock(path.join(folder, 'states', 'launch.lock'), {
        identity: { host, pid: ownPid },
        signal: AbortSignal.any([signal, this.#ended.signal]),
        ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
      });
      try {
        this.#record = await this.#settleRecord(await readEngineRecord(folder));
        if (isFirst) await this.#forgetHopeless();
      } catch (error) {
        await lock.release();
        throw error;
      }
      this.#lock = lock;
      if (!isFirst) onNote?.('the launcher that had submitted this plan is gone: taking over');
    } catch (error) {
      if (!(error instanceof LockTakenError)) throw error;
      const earlier = await readEngineRecord(folder);
      if (earlier !== undefined) this.#record = this.#requireSameEngine(earlier);
      const { holder } = error;
      if (isFirst) onNote?.(`process ${holder.pid} on ${holder.host} has submitted this plan: looking on`);
    }
  }

  /** Lays down with what is submitted, before anything is. */
  async #settleRecord(earlier: EngineRecord | undefined): Promise<EngineRecord> {
    const { record } = this.#options;
    const { folder } = this.#plan;
    const isCanceled = (await readCancelMark(folder)) !== undefined;
    const isOther = earlier !== undefined && earlier.engine !== record.engine;
    // Jobs that were canceled are of no more account.
    const kept = earlier === undefined || (isOther && isCanceled) ? undefined : this.#requireSameEngine(earlier);
    const settled = kept === undefined ? record : { ...record, facts: kept.facts };
    await writeEngineRecord(folder, settled);
    await this.#requireNotCanceled();
    await removeCancelMark(folder);
    this.#earlierMark = undefined;
    return settled;
  }

  #requireSameEngine(earlier: EngineRecord): EngineRecord {
    if (earlier.engine === this.#record.engine) return earlier;
    const { folder } = this.#plan;
    throw new OutputError(`The plan in "${folder}" was submitted to ${earlier.engine}, not to ${this.#record.engine}`, {
      path: folder,
      hint: `Go on with --backend ${earlier.engine}, or end those jobs first: cutroom cancel ${folder}.`,
    });
  }

  async #forgetHopeless(): Promise<void> {
    for (const task of this.#listHopeless(await this.#status.read())) await this.#states.clearFailure(task);
  }

  #listHopeless(status: PlanStatus): number[] {
    return status.failed.filter(({ failure }) => failure.tries > this.#record.retries).map(({ task }) => task);
  }

  async #requireNotCanceled(): Promise<void> {
    const mark = await readCancelMark(this.#plan.folder);
    if (mark === undefined || mark === this.#earlierMark) return;
    // What this launcher may have submitted since.
    if (this.#lock !== undefined) await this.#options.engine.cancel(this.#plan, this.#record);
    throw new CanceledError('The jobs of the plan were canceled', {
      hint: 'The same command submits what is left; what is done stays done.',
    });
  }

  async #submitMissing(
    open: readonly number[],
    jobs: ReadonlyMap<number, EngineJob>,
    status: PlanStatus,
  ): Promise<void> {
    const missing: number[] = [];
    const { engine } = this.#options;
    const findMissing = this.#silentEnds.judge(status);
    for (const task of open) {
      const job = jobs.get(task);
      const verdict = findMissing(task, job);
      if (verdict === 'missing') missing.push(task);
      if (verdict !== 'silent' || job === undefined) continue;
      const log = await engine.log(this.#plan, this.#record, task);
      await this.#silentEnds.note(task, job, { log, where: this.#record.engine });
    }
    if (missing.length === 0) return;
    const attempt = this.#silentEnds.noteSubmitted(missing, status);
    const record = await engine.submit(this.#plan, this.#record, missing, attempt);
    if (record === this.#record) return;
    this.#record = record;
    await writeEngineRecord(this.#plan.folder, record);
  }

  async #pause(): Promise<void> {
    const pollMs = this.#options.pollMs ?? POLL_MS;
    this.#looks += 1;
    await sleep(Math.min(pollMs, FIRST_POLL_MS * this.#looks), undefined, { signal: this.#options.signal });
  }
}
