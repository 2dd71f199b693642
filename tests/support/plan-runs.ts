// Plans in folders, made, run and finished in this process.
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { expect } from 'vitest';
import { finishPlan, type FinishPlanOptions } from '#cutroom/cluster/finish-plan.js';
import { makePlan, type MakePlanOptions } from '#cutroom/cluster/make-plan.js';
import type { PlanFolder } from '#cutroom/cluster/plan-folder.js';
import { runTask, type RunTaskOptions, type RunTaskResult } from '#cutroom/cluster/run-task.js';
import type { FinishResult, KindName } from '#cutroom/cluster/task-kind.js';

/** A signal that never fires. */
export const NEVER = new AbortController().signal;

/** What tasks of tests are run with. */
export const RUN_OPTIONS: RunTaskOptions = { jobs: 1, signal: NEVER, host: hostname(), pid };

/** Plans work in a folder. */
export async function planWork(
  folder: string,
  kind: KindName,
  request: unknown,
  changes: Partial<MakePlanOptions> = {},
): Promise<PlanFolder> {
  const context = { division: { count: 2 }, signal: NEVER, environment: {}, map: [] };
  const { plan } = await makePlan({ kind, request, folder, ...context, ...changes });
  return plan;
}

/** Runs all tasks of a plan, the last first. */
export async function runAll(plan: PlanFolder, changes: Partial<RunTaskOptions> = {}): Promise<RunTaskResult[]> {
  const results: RunTaskResult[] = [];
  for (const { task } of plan.plan.extents.toReversed()) {
    results.push(await runTask(plan, task, { ...RUN_OPTIONS, ...changes }));
  }
  return results;
}

/** Makes the finals of a plan. */
export async function finish(plan: PlanFolder, changes: Partial<FinishPlanOptions> = {}): Promise<FinishResult> {
  return await finishPlan(plan, { signal: NEVER, ...changes });
}

/** Every file of a folder and the folders in it, by its name there, and its bytes in Latin-1. */
export function treeOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(path.join(folder, name), 'latin1')]));
}

/** Work that is done by one run and by tasks. */
export interface ComparedWork {
  kind: KindName;
  request: unknown;
  /** Folder of the outputs. */
  out: string;
  planFolder: string;
  /** Does it by one run. */
  local: () => Promise<{ kind: string }>;
  /** A file that planning alone needs. */
  input?: string | undefined;
  environment?: Record<string, string> | undefined;
}

/**
 * Expects that tasks make the bytes of one run, and that finishing again and one run after that change nothing.
 *
 * @returns how the tasks and the plan ended.
 */
export async function expectBytesOfOneRun(work: ComparedWork): Promise<{ tasks: RunTaskResult[]; end: FinishResult }> {
  const { kind, request, out, planFolder, local, input, environment = {} } = work;
  await local();
  const expected = treeOf(out);
  rmSync(out, { recursive: true });
  const plan = await planWork(planFolder, kind, request, { environment });
  if (input !== undefined) renameSync(input, `${input}.away`);
  const tasks = await runAll(plan);
  const end = await finish(plan);
  if (input !== undefined) renameSync(`${input}.away`, input);
  expect(end.kind).toBe('finished');
  expect(treeOf(out)).toEqual(expected);
  expect((await finish(plan)).kind).toBe('already_done');
  expect(['already_done', 'unchanged']).toContain((await local()).kind);
  expect(treeOf(out)).toEqual(expected);
  return { tasks, end };
}
