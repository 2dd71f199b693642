import path from 'node:path';
import type { CutResult } from '../cut/cut.js';
import { finishCutTasks } from '../cut/finish-tasks.js';
import type { CutOptions } from '../cut/options.js';
import { planCutTasks } from '../cut/plan-tasks.js';
import { runCutTask } from '../cut/run-task.js';
import type { KindPlan, TaskKind } from './task-kind.js';

/** Where the tasks of a plan have their outputs, a folder each. */
const TASKS_FOLDER = 'tasks';
const DIGITS = 5;

/** `cutroom cut` in tasks: each cuts a stretch of the recordings, in the order of member names, into a tar of its own. */
export const cutKind: TaskKind = {
  name: 'cut',

  async plan(request, folder, { division, signal, onProgress, onWarning, environment }) {
    return await planCutTasks(request as CutOptions, folder, {
      division,
      signal,
      onRows: onProgress,
      onWarning,
      environment,
    });
  },

  async run(plan, task, context) {
    const { recordingTimeoutSeconds = 300 } = plan.request as CutOptions;
    return await runCutTask(plan.folder, task, folderOf(plan, task.task), {
      ...context,
      hash: plan.hash,
      recordingTimeoutSeconds,
    });
  },

  /** The summary is a `CutResult`. */
  async finish(plan, context) {
    const startMs = performance.now();
    const place = (task: number): string => folderOf(plan, task);
    const finished = await finishCutTasks(plan.folder, place, plan.request as CutOptions, {
      ...context,
      hash: plan.hash,
    });
    const { kind, outputs, files, summary, isWithinLimit } = finished;
    const result: CutResult = {
      kind: kind === 'finished' ? 'cut' : kind,
      outputs,
      summary,
      isWithinLimit,
      seconds: (performance.now() - startMs) / 1000,
    };
    return { kind, outputs: files, summary: result, isWithinLimit };
  },
};

function folderOf({ folder }: KindPlan, task: number): string {
  return path.join(folder, TASKS_FOLDER, String(task).padStart(DIGITS, '0'));
}
