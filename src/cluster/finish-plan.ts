import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError, InputError, OutputError, UsageError } from '../errors.js';
import { findMappings } from '../run/path-map.js';
import { acquireLock, LockTakenError, type Lock } from '../run/lock.js';
import { orderedMap } from '../run/ordered-map.js';
import type { TaskOutcome } from '../run/task.js';
import { loadKind } from './kinds.js';
import type { PlanFolder } from './plan-folder.js';
import type { FinishResult } from './task-kind.js';
import { AT_ONCE, TaskStates } from './task-states.js';

/** What finishing is asked for. */
export interface FinishPlanOptions {
  /** Stops it; the same call goes on. */
  signal?: AbortSignal | undefined;
  /** Makes finals of the tasks that are done, where others are not. */
  salvage?: boolean | undefined;
  /** Of `cut`: one tar and manifest a task, and a list. */
  asShards?: boolean | undefined;
  onProgress?: ((doneShare: number) => void) | undefined;
  /** What to do while another process finishes the plan. Default `refuse`. */
  onRunning?: 'refuse' | 'wait' | undefined;
  /** Called once where it is waited for. */
  onWait?: ((holder: { host: string; pid: number }) => void) | undefined;
  isProcessAlive?: ((pid: number) => boolean) | undefined;
}

/** So many tasks are named that are missing. */
const NAMED_TASKS = 10;
const WAIT_MS = 1_000;

/**
 * Makes the finals of a plan whose tasks are done, once and the same however often it is called.
 *
 * @throws {OutputError} when tasks are missing, or another process finishes the plan and is not waited for.
 * @throws {InputError} when what a task has made is gone or damaged.
 * @throws {UsageError} when tasks are to be shards as they are that are not of a cut.
 */
export async function finishPlan(plan: PlanFolder, options: FinishPlanOptions = {}): Promise<FinishResult> {
  const { signal = new AbortController().signal, salvage = false, asShards = false, onProgress } = options;
  const { tasks, kind: name } = plan.record;
  if (asShards && name !== 'cut') {
    throw new UsageError(`Only tasks of a cut can be shards as they are, and this is a plan of ${name}`, {
      hint: 'Finish it without: what it makes is the same.',
    });
  }
  const done = await readDone(plan, signal);
  if (done.size < tasks && !salvage) throw missingTasks(plan, done);
  if (done.size === 0 && tasks > 0) {
    throw new OutputError(`No task of "${plan.folder}" is done: there is nothing to salvage`, { path: plan.folder });
  }
  const kind = await loadKind(name);
  const lock = await lockFinish(plan, signal, options);
  try {
    return await kind.finish(plan.plan, {
      signal: AbortSignal.any([signal, lock.lost]),
      mappings: await findMappings(plan.record.map),
      salvage: done.size < tasks,
      asShards,
      done,
      onProgress,
    });
  } catch (error) {
    throw withRemedy(plan, error);
  } finally {
    await lock.release();
  }
}

/** What a task has made is made again when neither that nor the note that it is done is there. */
function withRemedy({ plan, record, folder }: PlanFolder, error: unknown): unknown {
  if (!(error instanceof InputError) || error.path === undefined) return error;
  const [tasks, name = ''] = path.relative(plan.folder, error.path).split(path.sep);
  if (tasks !== 'tasks' || !/^\d+$/u.test(name)) return error;
  const task = Number(name);
  const outputs = path.join(plan.folder, tasks, name);
  const { path: file, line, offsetBytes } = error;
  return new InputError(error.message, {
    path: file,
    line,
    offsetBytes,
    hint: `Remove "${outputs}" and "${new TaskStates(folder, record.tasks).donePath(task)}", and run task ${task} again.`,
    cause: error,
  });
}

async function lockFinish(
  plan: PlanFolder,
  signal: AbortSignal,
  { isProcessAlive, onRunning = 'refuse', onWait }: FinishPlanOptions,
): Promise<Lock> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await acquireLock(path.join(plan.folder, 'finish.lock'), {
        identity: { host: hostname(), pid },
        signal,
        ...(isProcessAlive === undefined ? {} : { isProcessAlive }),
      });
    } catch (error) {
      if (!(error instanceof LockTakenError) || onRunning === 'refuse') throw error;
      if (isFirst) onWait?.({ host: error.holder.host, pid: error.holder.pid });
    }
    try {
      await sleep(WAIT_MS, undefined, { signal });
    } catch (error) {
      throw new CanceledError('Stopped while another process makes the outputs', { cause: error });
    }
  }
}

async function readDone(plan: PlanFolder, signal: AbortSignal): Promise<Map<number, TaskOutcome>> {
  const states = new TaskStates(plan.folder, plan.record.tasks);
  const listed = await states.list();
  const done = new Map<number, TaskOutcome>();
  const outcomes = orderedMap(
    [...listed.done].toSorted((a, b) => a - b),
    { ...AT_ONCE, signal },
    async (task) => ({ task, outcome: await states.readDone(task) }),
  );
  for await (const { task, outcome } of outcomes) if (outcome !== undefined) done.set(task, outcome);
  return done;
}

function missingTasks(plan: PlanFolder, done: ReadonlyMap<number, TaskOutcome>): OutputError {
  const missing: number[] = [];
  const { tasks } = plan.record;
  for (let task = 0; task < tasks && missing.length < NAMED_TASKS; task += 1) if (!done.has(task)) missing.push(task);
  const count = tasks - done.size;
  const names = `${missing.join(', ')}${count > missing.length ? ', …' : ''}`;
  const state = count === 1 ? `task ${names} is not done` : `${count} of ${tasks} tasks are not done: ${names}`;
  return new OutputError(`Cannot finish the plan in "${plan.folder}": ${state}`, {
    path: plan.folder,
    hint: 'See "cutroom status", run them with "cutroom run", or take what is there with --salvage.',
  });
}
