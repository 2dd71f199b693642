import type { TaskOutcome, TaskProgress } from '../run/task.js';
import { CanceledError, errorMessage } from '../errors.js';
import type { PlanFolder } from './plan-folder.js';
import { resolveRunTaskOptions, runTask, type ResolvedRunTaskOptions, type RunTaskOptions } from './run-task.js';
import { STALE_MS, TaskStates, type TaskBeat } from './task-states.js';

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
  /** Tasks that were done here, or have been done elsewhere meanwhile. */
  done: number;
  failed: number;
  /** Tasks that others have. */
  elsewhere: number;
}

/** How all tasks that are left are run. */
export interface RunLeftOptions extends Omit<RunTaskOptions, 'onProgress'> {
  onProgress?: ((progress: TaskProgress, task: number) => void) | undefined;
  onTaskEnd?: ((end: TaskEnd) => void) | undefined;
}

/**
 * Runs all tasks of a plan that are left, one after the other; a task that fails costs itself only. Several machines may do so at once: tasks that
 * others have are looked at last.
 *
 * @throws {CanceledError} when it was stopped.
 */
export async function runLeft(plan: PlanFolder, given: RunLeftOptions = {}): Promise<RunLeftResult> {
  const { onProgress, onTaskEnd, ...others } = given;
  const options = resolveRunTaskOptions(others);
  const { signal } = options;
  const states = new TaskStates(plan.folder, plan.record.tasks);
  const { done } = await states.list();
  const result = { done: 0, failed: 0, elsewhere: 0 };
  const runOne = async (task: number): Promise<void> => {
    if (signal.aborted) throw stopped(signal.reason);
    const end = await endTask(plan, task, { ...options, onProgress: (progress) => onProgress?.(progress, task) });
    if (end.elsewhere !== undefined) result.elsewhere += 1;
    else if (end.outcome === undefined) result.failed += 1;
    else result.done += 1;
    onTaskEnd?.(end);
  };
  const busy: number[] = [];
  for (let task = 0; task < plan.record.tasks; task += 1) {
    if (done.has(task)) continue;
    // A lock of another machine takes a while to judge, what a runner says of itself does not.
    if ((await findRunner(states, task, options)) === undefined) await runOne(task);
    else busy.push(task);
  }
  for (const task of busy) {
    const runner = options.onRunning === 'wait' ? undefined : await findRunner(states, task, options);
    if (runner === undefined) {
      await runOne(task);
      continue;
    }
    result.elsewhere += 1;
    const elsewhere = { host: runner.host, pid: runner.pid };
    onTaskEnd?.({ task, outcome: undefined, error: undefined, elsewhere });
  }
  return result;
}

async function endTask(plan: PlanFolder, task: number, options: ResolvedRunTaskOptions): Promise<TaskEnd> {
  const end: TaskEnd = { task, outcome: undefined, error: undefined, elsewhere: undefined };
  try {
    const ran = await runTask(plan, task, options);
    if (ran.kind === 'running_elsewhere') end.elsewhere = { host: ran.host, pid: ran.pid };
    else end.outcome = ran.outcome;
  } catch (error) {
    if (error instanceof CanceledError || options.signal.aborted) throw stopped(error);
    end.error = error;
  }
  return end;
}

/** Who says that it is alive and has the task; one of this machine is judged by its lock, at once. */
async function findRunner(
  states: TaskStates,
  task: number,
  { host }: Pick<ResolvedRunTaskOptions, 'host'>,
): Promise<TaskBeat | undefined> {
  const silentMs = (await states.silences([task])).get(task);
  if (silentMs === undefined || silentMs >= STALE_MS) return undefined;
  const beat = await states.readBeat(task);
  return beat?.host === host ? undefined : beat;
}

function stopped(error: unknown): CanceledError {
  if (error instanceof CanceledError) return error;
  return new CanceledError(`The run was stopped: ${errorMessage(error)}`, { cause: error });
}
