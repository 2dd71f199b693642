import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, OutputError, systemCode } from '../errors.js';
import { partialPath, removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { orderedMap } from '../run/ordered-map.js';
import type { TaskOutcome, TaskProgress } from '../run/task.js';
import { writeFailure } from '../tar/write-failure.js';
import { PLAN_FILES } from './plan-folder.js';

/** Why a task could not be done. */
export interface TaskFailure {
  message: string;
  hint: string | undefined;
  /** Where it was tried: a host, or what the engine calls its job. */
  where: string;
  /** How often it has failed by now. */
  tries: number;
}

/** What a runner of a task says of itself. */
export interface TaskBeat extends TaskProgress {
  host: string;
  pid: number;
  /** What the engine calls the job, where one runs it. */
  job: string | undefined;
  /** Seconds since the runner began. */
  seconds: number;
}

export type TaskState = 'waiting' | 'running' | 'done' | 'failed' | 'stale';

const SUFFIXES = { done: '.done', failed: '.failed', beat: '.beat', lock: '.lock' } as const;
/** A runner that says nothing for so long is taken for gone. */
export const STALE_MS = 90_000;
export const BEAT_MS = 10_000;
/** Small files that are read at once: on a network file system each is a few round trips. */
export const AT_ONCE = { concurrency: 16, window: 64 } as const;

/** The states of a plan's tasks: small files in one folder, each written whole by whoever runs the task. */
export class TaskStates {
  readonly #folder: string;
  readonly #digits: number;

  /** @param folder of the plan. */
  constructor(folder: string, taskCount: number) {
    this.#folder = path.join(folder, PLAN_FILES.states);
    this.#digits = Math.max(5, String(Math.max(0, taskCount - 1)).length);
  }

  /** The number of a task as names have it. */
  nameOf(task: number): string {
    return String(task).padStart(this.#digits, '0');
  }

  lockPath(task: number): string {
    return this.#place(task, 'lock');
  }

  donePath(task: number): string {
    return this.#place(task, 'done');
  }

  async readDone(task: number): Promise<TaskOutcome | undefined> {
    return (await this.#read(task, 'done')) as TaskOutcome | undefined;
  }

  async readFailure(task: number): Promise<TaskFailure | undefined> {
    return (await this.#read(task, 'failed')) as TaskFailure | undefined;
  }

  /** What the runner of a task said last; undefined where it has said nothing. One that a crash tore says nothing: the next one comes soon. */
  async readBeat(task: number): Promise<TaskBeat | undefined> {
    const text = await this.#readText(task, 'beat');
    return text === undefined ? undefined : parseBeat(text);
  }

  /** Notes that a task is done: on the disk for sure, before anything else goes. */
  async noteDone(task: number, outcome: TaskOutcome): Promise<void> {
    await writeFileAtomic(this.#place(task, 'done'), (write) => write(`${JSON.stringify(outcome)}\n`));
    await removeFile(this.#place(task, 'failed'));
    await removeFile(this.#place(task, 'beat'));
  }

  /** Notes that a task could not be done, once more. */
  async noteFailure(task: number, failure: Omit<TaskFailure, 'tries'>): Promise<void> {
    const tries = ((await this.readFailure(task))?.tries ?? 0) + 1;
    const text = JSON.stringify({ ...failure, tries } satisfies TaskFailure);
    // First: on a disk that is full, what it took is room for the note.
    await removeFile(this.#place(task, 'beat'));
    await writeFileAtomic(this.#place(task, 'failed'), (write) => write(`${text}\n`));
  }

  /** Forgets a failure, before the task is tried again by hand. */
  async clearFailure(task: number): Promise<void> {
    await removeFile(this.#place(task, 'failed'));
  }

  /**
   * Says that a runner is alive. Not made sure of on the disk: the next one comes soon.
   *
   * @throws {OutputError} when it cannot be written.
   */
  async beat(task: number, beat: TaskBeat): Promise<void> {
    const place = this.#place(task, 'beat');
    try {
      await writeFile(partialPath(place), `${JSON.stringify(beat)}\n`);
      await rename(partialPath(place), place);
    } catch (error) {
      await removeFile(partialPath(place));
      throw writeFailure(error, { action: 'Cannot write', path: place });
    }
  }

  async clearBeat(task: number): Promise<void> {
    await removeFile(this.#place(task, 'beat'));
  }

  /**
   * The tasks that have files, by one reading of the folder.
   *
   * @throws {OutputError} when it cannot be read.
   */
  async list(): Promise<{ done: Set<number>; failed: Set<number>; beating: Set<number> }> {
    const found = { done: new Set<number>(), failed: new Set<number>(), beating: new Set<number>() };
    let names: string[];
    try {
      names = await readdir(this.#folder);
    } catch (error) {
      throw new OutputError(`Cannot read "${this.#folder}": ${errorMessage(error)}`, {
        path: this.#folder,
        cause: error,
      });
    }
    for (const name of names) {
      const match = /^(\d+)\.(done|failed|beat)$/u.exec(name);
      if (match === null) continue;
      const task = Number(match[1]);
      if (match[2] === 'done') found.done.add(task);
      else if (match[2] === 'failed') found.failed.add(task);
      else found.beating.add(task);
    }
    return found;
  }

  /** Milliseconds since each of these tasks last said something, by the clock of the file server alone. */
  async silences(tasks: Iterable<number>): Promise<Map<number, number>> {
    const silences = new Map<number, number>();
    let now: Promise<number> | undefined;
    const looks = orderedMap(tasks, AT_ONCE, async (task): Promise<[number, number] | undefined> => {
      const place = this.#place(task, 'beat');
      try {
        const { mtimeMs } = await stat(place);
        now ??= this.#serverTime();
        return [task, Math.max(0, (await now) - mtimeMs)];
      } catch (error) {
        // It has ended since the folder was read.
        if (systemCode(error) === 'ENOENT') return undefined;
        throw new OutputError(`Cannot read "${place}": ${errorMessage(error)}`, { path: place, cause: error });
      }
    });
    for await (const look of looks) if (look !== undefined) silences.set(...look);
    return silences;
  }

  /** What the file system says the time is: other machines' clocks stand elsewhere. */
  async #serverTime(): Promise<number> {
    const probe = path.join(this.#folder, 'clock');
    try {
      await writeFile(probe, '');
      const { mtimeMs } = await stat(probe);
      return mtimeMs;
    } catch (error) {
      if (!['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '')) throw error;
      return Date.now();
    }
  }

  #place(task: number, what: keyof typeof SUFFIXES): string {
    return path.join(this.#folder, `${this.nameOf(task)}${SUFFIXES[what]}`);
  }

  async #read(task: number, what: keyof typeof SUFFIXES): Promise<unknown> {
    const text = await this.#readText(task, what);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      const place = this.#place(task, what);
      throw new OutputError(`Cannot read "${place}": it is damaged`, {
        path: place,
        cause: error,
        hint: 'Remove it: the task is then looked at anew.',
      });
    }
  }

  async #readText(task: number, what: keyof typeof SUFFIXES): Promise<string | undefined> {
    const place = this.#place(task, what);
    try {
      return await readFile(place, 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw new OutputError(`Cannot read "${place}": ${errorMessage(error)}`, { path: place, cause: error });
    }
  }
}

function parseBeat(text: string): TaskBeat | undefined {
  try {
    return JSON.parse(text) as TaskBeat;
  } catch {
    return undefined;
  }
}
