// Cuts that are divided into tasks, run in this process.
import { mkdir, rm } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { finishCutTasks } from '#cutroom/cut/finish-tasks.js';
import type { FinishedTasks, FinishTasksContext } from '#cutroom/cut/finish-tasks.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { planCutTasks } from '#cutroom/cut/plan-tasks.js';
import { runCutTask } from '#cutroom/cut/run-task.js';
import type { CutTaskContext } from '#cutroom/cut/run-task.js';
import type { PlannedTasks, TaskDivision, TaskOutcome } from '#cutroom/run/task.js';
import type { Corpus } from './cut-runs.js';

/** A plan in a folder of its own beside its corpus. */
export class DividedCut {
  readonly folder: string;
  readonly planned: PlannedTasks;
  readonly done = new Map<number, TaskOutcome>();
  readonly #options: CutOptions;

  private constructor(folder: string, options: CutOptions, planned: PlannedTasks) {
    this.folder = folder;
    this.#options = options;
    this.planned = planned;
  }

  static async plan({ folder, options }: Corpus, division: TaskDivision, name = 'plan'): Promise<DividedCut> {
    const place = path.join(folder, name);
    await rm(place, { recursive: true, force: true });
    await mkdir(place);
    return new DividedCut(place, options, await planCutTasks(options, place, { division }));
  }

  folderOf(task: number): string {
    return path.join(this.folder, 'tasks', String(task));
  }

  async run(task: number, changes: Partial<CutTaskContext> = {}): Promise<TaskOutcome> {
    const extent = this.planned.extents[task];
    if (extent === undefined) throw new RangeError(`no task ${task}`);
    const outcome = await runCutTask(this.folder, extent, this.folderOf(task), {
      hash: this.planned.hash,
      jobs: 1,
      signal: new AbortController().signal,
      mappings: [],
      recordingTimeoutSeconds: 60,
      ...changes,
    });
    this.done.set(task, outcome);
    return outcome;
  }

  /** Runs a task in a process of its own, which is killed when so many of its recordings are done; answers by what it ended. */
  async runAndDie(task: number, dieAtUnits: number): Promise<NodeJS.Signals | null> {
    const extent = this.planned.extents[task];
    return await drive({ ...this.#place, extent, outputFolder: this.folderOf(task), dieAtUnits });
  }

  /** Makes the finals in a process of its own, which is killed at that share of the recordings. */
  async finishAndDie(dieAtShare: number): Promise<NodeJS.Signals | null> {
    return await drive({ ...this.#place, options: this.#options, tasks: [...this.done.keys()], dieAtShare });
  }

  get #place(): { folder: string; hash: string } {
    return { folder: this.folder, hash: this.planned.hash };
  }

  /** The last first: the order is of no account. */
  async runAll(changes: Partial<CutTaskContext> = {}): Promise<void> {
    for (const { task } of this.planned.extents.toReversed()) await this.run(task, changes);
  }

  async finish(changes: Partial<FinishTasksContext> = {}, options: Partial<CutOptions> = {}): Promise<FinishedTasks> {
    return await finishCutTasks(
      this.folder,
      (task) => this.folderOf(task),
      { ...this.#options, ...options },
      {
        hash: this.planned.hash,
        signal: new AbortController().signal,
        mappings: [],
        salvage: false,
        asShards: false,
        done: this.done,
        ...changes,
      },
    );
  }
}

async function drive(asked: object): Promise<NodeJS.Signals | null> {
  const program = fileURLToPath(new URL('cut-task-driver.js', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(asked)], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = (await once(child, 'close')) as [unknown, NodeJS.Signals | null];
  return signal;
}
