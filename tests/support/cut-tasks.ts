// Cuts that are divided into tasks, run in this process.
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
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

  static async plan({ folder, options }: Corpus, division: TaskDivision): Promise<DividedCut> {
    const place = path.join(folder, 'plan');
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
      jobs: 2,
      signal: new AbortController().signal,
      mappings: [],
      recordingTimeoutSeconds: 60,
      ...changes,
    });
    this.done.set(task, outcome);
    return outcome;
  }

  /** In no particular order. */
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
