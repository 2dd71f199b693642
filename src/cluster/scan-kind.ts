import path from 'node:path';
import { runScanTask } from '../sample/run-scan-task.js';
import type { ScanOptions } from '../sample/scan-options.js';
import { finishScanTasks, planScanTasks } from '../sample/scan-tasks.js';
import type { KindPlan, TaskKind } from './task-kind.js';

/** What a plan of a scan is asked for: `onError` as the command has it, `fail` unless it is said. */
export type ScanRequest = ScanOptions & { onError?: 'fail' | 'skip' | undefined };

const DIGITS = 5;

/** `cutroom scan` in tasks: each reads a stretch of the files into a journal of its own. */
export const scanKind: TaskKind = {
  name: 'scan',

  async plan(request, folder, { division, signal, onProgress }) {
    const { onError, ...options } = request as ScanRequest;
    void onError;
    return await planScanTasks(options, folder, { division, signal, onFiles: onProgress });
  },

  async run(plan, task, context) {
    return await runScanTask(plan.folder, task, folderOf(plan, task.task), context);
  },

  /** The summary is a `ScanResult`; what is salvaged, without one, is the journal that the same scan on one machine goes on from. */
  async finish(plan, { signal, mappings, salvage, done }) {
    const result = await finishScanTasks(plan.folder, {
      extents: plan.extents,
      signal,
      mappings,
      salvage: salvage ? [...done.keys()] : undefined,
      folderOf: (task) => folderOf(plan, task),
    });
    if ('journal' in result) return { kind: 'salvaged', outputs: [result.journal], summary: null, isWithinLimit: true };
    const { summary, outputs } = result;
    const isFailed = Object.keys(summary.failed).length > 0;
    const { onError = 'fail' } = plan.request as ScanRequest;
    return {
      kind: result.kind === 'unchanged' ? 'already_done' : 'finished',
      outputs: [outputs.scan, outputs.failures, outputs.metrics],
      summary: result,
      // A scan of no file is of no use, whatever may fail.
      isWithinLimit: summary.files > 0 && (!isFailed || onError === 'skip'),
    };
  },
};

function folderOf({ folder }: KindPlan, task: number): string {
  return path.join(folder, 'tasks', String(task).padStart(DIGITS, '0'));
}
