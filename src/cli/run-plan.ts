import type { PathMapping } from '../run/path-map.js';
import { UsageError } from '../errors.js';
import type { PlanFolder } from '../cluster/plan-folder.js';
import type { TaskDivision } from '../run/task.js';
import { countWords } from '../count-words.js';
import type { CliContext } from './context.js';
import type { DividedCommand } from './divided-command.js';
import { formatNextSteps, formatPlanSummary, planAsJson } from './plan-summary.js';
import { ProgressLine } from './progress-line.js';

/** Of every command that plans. */
export interface PlanFlags {
  plan: string;
  tasks?: number;
  taskHours?: number;
  map?: readonly PathMapping[];
  json: boolean;
  quiet: boolean;
}

/** Runs `cutroom plan …`. */
export async function runPlan(context: CliContext, command: DividedCommand, flags: PlanFlags): Promise<void> {
  const { stdout, stderr } = context.process;
  const division = divisionOf(flags);
  if (division === undefined) {
    throw new UsageError('--tasks or --task-hours is missing: one of them says how the work is divided', {
      hint: 'Such as --tasks 100, or --task-hours 5.',
    });
  }
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const { plan, isNew } = await planDivided(context, command, { folder: flags.plan, division, map: flags.map, line });
    line.end();
    if (flags.json) stdout.write(`${JSON.stringify(planAsJson(plan, isNew))}\n`);
    if (!flags.quiet) stderr.write(`${formatPlanSummary(plan, isNew)}\n${formatNextSteps(plan)}\n`);
  } finally {
    line.end();
  }
}

/** Plans, or opens the same plan that is there. */
export async function planDivided(
  context: CliContext,
  { kind, request, environment }: DividedCommand,
  {
    folder,
    division,
    map,
    line,
  }: { folder: string; division: TaskDivision; map: readonly PathMapping[] | undefined; line: ProgressLine },
): Promise<{ plan: PlanFolder; isNew: boolean }> {
  const { makePlan } = await import('../cluster/make-plan.js');
  return await makePlan({
    kind,
    request,
    folder,
    map: map ?? [],
    division,
    environment,
    signal: context.signal,
    onProgress: (rows) => line.show(() => `planning: ${countWords(rows, 'row')} read`),
    onWarning: (message) => line.note(`warning: ${message}`),
    isProcessAlive: (pid) => context.isProcessAlive(pid),
  });
}

/** How the work is to be divided; undefined where nothing says so. */
export function divisionOf({ tasks, taskHours }: Pick<PlanFlags, 'tasks' | 'taskHours'>): TaskDivision | undefined {
  if (tasks !== undefined && taskHours !== undefined) {
    throw new UsageError('--tasks and --task-hours exclude each other');
  }
  if (tasks !== undefined) return { count: tasks };
  return taskHours === undefined ? undefined : { hours: taskHours };
}
