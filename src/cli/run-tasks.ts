import { availableParallelism, hostname } from 'node:os';
import { pid } from 'node:process';
import type { PlanFolder } from '../cluster/plan-folder.js';
import type { RunLeftResult, TaskEnd } from '../cluster/run-left.js';
import type { RunTaskOptions } from '../cluster/run-task.js';
import { CanceledError, CutroomError, EXIT_CODES, UsageError } from '../errors.js';
import { countAnd, countWords } from '../count-words.js';
import type { RunFlags } from './commands/run.js';
import type { CliContext } from './context.js';
import { formatError } from './error-text.js';
import { finishAndReport } from './run-finish.js';
import { ProgressLine } from './progress-line.js';
import { quoted } from './plan-summary.js';
import { jobFromEnvironment, jobsFromEnvironment, taskFromEnvironment } from './task-environment.js';
import { RunMeter } from './run-meter.js';

/** As a shell tells of a process that SIGTERM ended. */
const TERMINATED_EXIT_CODE = 143;

/** Runs `cutroom run`. */
export async function runTasks(context: CliContext, flags: RunFlags, folder: string): Promise<void> {
  const task = taskOf(flags, context.process.env);
  const { openPlanFolder } = await import('../cluster/plan-folder.js');
  const plan = await openPlanFolder(folder);
  const line = new ProgressLine(context.process.stderr, flags.quiet);
  try {
    if (task === undefined) await runAllLeft(context, flags, plan, line);
    else await runOne(context, flags, plan, task, line);
    line.end();
    await tellOfEnd(context, flags, plan);
  } catch (error) {
    line.end();
    if (!isTerminated(error, context.signal)) throw error;
    context.process.stderr.write(`${formatError(error)}\n`);
    context.process.exitCode = TERMINATED_EXIT_CODE;
  } finally {
    line.end();
  }
}

function taskOf(
  { task, taskFromEnv, quiet, verbose }: RunFlags,
  environment: CliContext['process']['env'],
): number | undefined {
  if (quiet && verbose) throw new UsageError('--quiet and --verbose exclude each other');
  if (task !== undefined && taskFromEnv) throw new UsageError('--task and --task-from-env exclude each other');
  return taskFromEnv ? taskFromEnvironment(environment) : task;
}

async function runOne(
  context: CliContext,
  flags: RunFlags,
  plan: PlanFolder,
  task: number,
  line: ProgressLine,
): Promise<void> {
  const { runTask } = await import('../cluster/run-task.js');
  const meter = new RunMeter(plan, task);
  const ran = await runTask(plan, task, {
    ...optionsOf(context, flags),
    onProgress: (progress) => line.show(() => meter.formatTask(progress)),
  });
  line.end();
  if (flags.json) {
    const { host, pid: other } = ran.kind === 'running_elsewhere' ? ran : { host: null, pid: null };
    const outcome = ran.kind === 'running_elsewhere' ? null : outcomeAsJson(ran.outcome);
    context.process.stdout.write(`${JSON.stringify({ result: ran.kind, task, outcome, host, pid: other })}\n`);
  }
  if (flags.quiet) return;
  const { stderr } = context.process;
  if (ran.kind === 'running_elsewhere') {
    stderr.write(`Task ${task} is being run by process ${ran.pid} on ${ran.host}; nothing was done.\n`);
  } else if (ran.kind === 'already_done') {
    stderr.write(`Task ${task} is done already; nothing was done.\n`);
  } else {
    stderr.write(`${meter.formatOutcome(task, ran.outcome)}\n`);
  }
}

async function runAllLeft(context: CliContext, flags: RunFlags, plan: PlanFolder, line: ProgressLine): Promise<void> {
  const { stderr, stdout } = context.process;
  const meter = await RunMeter.ofAll(plan);
  let firstError: unknown;
  const { runLeft } = await import('../cluster/run-left.js');
  const result = await runLeft(plan, {
    ...optionsOf(context, flags),
    onProgress: (progress) => line.show(() => meter.formatAll(progress)),
    onTaskEnd: (end) => {
      meter.noteEnd(end);
      firstError ??= end.error;
      if (end.error !== undefined) {
        line.end();
        stderr.write(`task ${end.task}: ${formatError(end.error)}\n`);
      } else if (flags.verbose) line.note(formatEnd(end, meter));
    },
  });
  line.end();
  if (flags.json) stdout.write(`${JSON.stringify({ result: result.failed > 0 ? 'failed' : 'run', ...result })}\n`);
  if (!flags.quiet) stderr.write(`${formatLeft(result)}\n`);
  if (result.failed > 0) {
    context.process.exitCode = EXIT_CODES[firstError instanceof CutroomError ? firstError.code : 'output'];
  }
}

function optionsOf(context: CliContext, { jobs, wait, taskFromEnv }: RunFlags): Omit<RunTaskOptions, 'onProgress'> {
  const { env } = context.process;
  return {
    jobs: jobs ?? (taskFromEnv ? jobsFromEnvironment(env) : undefined) ?? availableParallelism(),
    signal: context.signal,
    host: hostname(),
    pid,
    job: jobFromEnvironment(env),
    onRunning: wait ? 'wait' : 'leave',
    isProcessAlive: (other) => context.isProcessAlive(other),
  };
}

function formatEnd({ task, outcome, elsewhere }: TaskEnd, meter: RunMeter): string {
  if (outcome !== undefined) return meter.formatOutcome(task, outcome);
  return `task ${task}: process ${elsewhere?.pid ?? 0} on ${elsewhere?.host ?? ''} has it`;
}

function formatLeft({ done, failed, elsewhere }: RunLeftResult): string {
  if (done + failed + elsewhere === 0) return 'No task is left; nothing was done.';
  const parts = [`${countAnd(done, 'task', 'is|are')} done`];
  if (elsewhere > 0) parts.push(`${countAnd(elsewhere, 'task', 'is|are')} being run by others`);
  if (failed > 0) parts.push(`${countWords(failed, 'task')} failed`);
  return `${parts.join(', ')}.`;
}

/** Says how to go on, or does so. */
async function tellOfEnd(context: CliContext, flags: RunFlags, plan: PlanFolder): Promise<void> {
  const { TaskStates } = await import('../cluster/task-states.js');
  const { done } = await new TaskStates(plan.folder, plan.record.tasks).list();
  if (done.size < plan.record.tasks) return;
  if (flags.finish) {
    await finishAndReport(context, plan, { ...flags, asShards: false, salvage: false });
    return;
  }
  if (flags.quiet) return;
  context.process.stderr.write(`All tasks are done. Make the outputs: cutroom finish ${quoted(plan.folder)}\n`);
}

function outcomeAsJson(outcome: NonNullable<TaskEnd['outcome']>): Record<string, unknown> {
  const { units, audioSeconds, bytes, failures } = outcome;
  return { units, audio_sec: audioSeconds, bytes, failures };
}

function isTerminated(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return error instanceof CanceledError && aborted && reason instanceof Error && reason.message === 'SIGTERM';
}
