// Plans in folders, made, run and finished in this process.
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
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
