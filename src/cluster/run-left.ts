import type { TaskOutcome } from '../run/task.js';
import { CanceledError, errorMessage } from '../errors.js';
import type { PlanFolder } from './plan-folder.js';
import { runTask, type RunTaskOptions } from './run-task.js';
import { TaskStates } from './task-states.js';

/** What is told of each task as it ends. */
export interface TaskEnd {
  task: number;
  outcome: TaskOutcome | undefined;
  /** Why it failed. */
  error: unknown;
  /** Set where another runner has it. */
  elsewhere: { host: string; pid: number } | undefined;
}

/** What came of all that were left. */
export interface RunLeftResult {
  done: number;
  failed: number;
  elsewhere: number;
}

/**
 * Runs all tasks of a plan that are left, one after the other; a task that fails costs itself only.
 *
 * @throws {CanceledError} when it was stopped.
 */
export async function runLeft(
  plan: PlanFolder,
  options: RunTaskOptions & { onTaskEnd?: ((end: TaskEnd) => void) | undefined },
): Promise<RunLeftResult> {
  const states = new TaskStates(plan.folder, plan.record.tasks);
  const { done } = await states.list();
  const result = { done: 0, failed: 0, elsewhere: 0 };
  for (let task = 0; task < plan.record.tasks; task += 1) {
    if (done.has(task)) continue;
    options.signal.throwIfAborted();
    const end: TaskEnd = { task, outcome: undefined, error: undefined, elsewhere: undefined };
    try {
      const ran = await runTask(plan, task, options);
      if (ran.kind === 'running_elsewhere') {
        end.elsewhere = { host: ran.host, pid: ran.pid };
        result.elsewhere += 1;
      } else {
        end.outcome = ran.outcome;
        result.done += 1;
      }
    } catch (error) {
      if (error instanceof CanceledError || options.signal.aborted) throw stopped(error);
      end.error = error;
      result.failed += 1;
    }
    options.onTaskEnd?.(end);
  }
  return result;
}

function stopped(error: unknown): CanceledError {
  if (error instanceof CanceledError) return error;
  return new CanceledError(`The run was stopped: ${errorMessage(error)}`, { cause: error });
}
