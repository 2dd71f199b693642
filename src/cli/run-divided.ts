import { availableParallelism, hostname } from 'node:os';
import path from 'node:path';
import { execPath, pid } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { EngineName, EngineRecord } from '../cluster/engine.js';
import type { PlanFolder } from '../cluster/plan-folder.js';
import { TaskStates } from '../cluster/task-states.js';
import { countWords } from '../count-words.js';
import { CanceledError, CutroomError, EXIT_CODES, OutputError, UsageError } from '../errors.js';
import { mapPath } from '../run/path-map.js';
import type { TaskDivision } from '../run/task.js';
import type { BackendFlags } from './cluster-flags.js';
import type { CliContext } from './context.js';
import type { DividedCommand } from './divided-command.js';
import { formatError } from './error-text.js';
import { formatLaunchProgress, listFailedTasks } from './launch-text.js';
import { quoted } from './plan-summary.js';
import { ProgressLine } from './progress-line.js';
import { finishAndReport } from './run-finish.js';
import { RunMeter } from './run-meter.js';
import { divisionOf, planDivided } from './run-plan.js';

/** What all of the commands that can be divided are told. */
export type DividedFlags = BackendFlags & {
  jobs?: number;
  workers?: number;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
};

/** Into so many tasks work is divided where nothing says so: enough for the machines of most, and few enough to look at. */
const DEFAULT_TASKS = 100;
const DEFAULT_RETRIES = 2;

/** Plans a command, has its tasks done here or on a cluster, makes the outputs and prints the summary of the command. */
export async function runDivided(context: CliContext, command: DividedCommand, flags: DividedFlags): Promise<void> {
  const { backend, quiet } = flags;
  const line = new ProgressLine(context.process.stderr, quiet);
  if (backend.alias !== undefined) line.note(`note: --backend ${backend.alias} means ray here`);
  refuseWorkersJobs(flags);
  const folder = path.resolve(flags.plan ?? path.join(command.outputFolder, '.cutroom-plan'));
  const division = divisionOf(flags) ?? (await divisionOfEarlier(folder, flags));
  try {
    const { plan, isNew } = await planDivided(context, command, { folder, division, map: flags.map, line });
    line.note(describePlan(plan, isNew));
    const { done } = await new TaskStates(plan.folder, plan.record.tasks).list();
    const isFresh = done.size < plan.record.tasks;
    const isDone =
      !isFresh ||
      (backend.name === 'local'
        ? await runHere(context, flags, plan, line)
        : await runOnCluster(context, flags, plan, { name: backend.name, line }));
    line.end();
    if (isDone) await finishAndReport(context, plan, { ...flags, asShards: false, salvage: false, isFresh });
  } finally {
    line.end();
  }
}

function refuseWorkersJobs({ backend, jobs, workers }: DividedFlags): void {
  if (backend.name === 'local' || (jobs === undefined && workers === undefined)) return;
  throw new UsageError(`--${jobs === undefined ? 'workers' : 'jobs'} does not go with --backend ${backend.name}`, {
    hint: 'A task has a process for each core that it is given: --cpus-per-task N.',
  });
}

/** A plan that is there keeps its tasks. */
async function divisionOfEarlier(folder: string, { maxRunning }: BackendFlags): Promise<TaskDivision> {
  const { readPlanRecord } = await import('../cluster/plan-folder.js');
  return (await readPlanRecord(folder))?.division ?? { count: Math.max(DEFAULT_TASKS, 4 * (maxRunning ?? 0)) };
}

async function runHere(
  context: CliContext,
  flags: DividedFlags,
  plan: PlanFolder,
  line: ProgressLine,
): Promise<boolean> {
  const { stderr } = context.process;
  const meter = await RunMeter.ofAll(plan);
  const errors: unknown[] = [];
  const { runLeft } = await import('../cluster/run-left.js');
  const result = await runLeft(plan, {
    jobs: flags.jobs ?? (flags.workers === undefined || flags.workers < 1 ? availableParallelism() : flags.workers),
    signal: context.signal,
    host: hostname(),
    pid,
    onRunning: 'wait',
    isProcessAlive: (other) => context.isProcessAlive(other),
    onProgress: (progress) => line.show(() => meter.formatAll(progress)),
    onTaskEnd: (end) => {
      meter.noteEnd(end);
      if (end.error === undefined) return;
      errors.push(end.error);
      line.end();
      stderr.write(`task ${end.task}: ${formatError(end.error)}\n`);
    },
  });
  if (result.failed === 0) return true;
  const [first] = errors;
  stderr.write(`error: ${countWords(result.failed, 'task')} of ${plan.record.tasks} failed: no outputs were made\n`);
  stderr.write('hint: The same command tries them again.\n');
  context.process.exitCode = EXIT_CODES[first instanceof CutroomError ? first.code : 'output'];
  return false;
}

async function runOnCluster(
  context: CliContext,
  flags: DividedFlags,
  plan: PlanFolder,
  { name, line }: { name: EngineName; line: ProgressLine },
): Promise<boolean> {
  const [{ loadEngine }, { launch }] = await Promise.all([
    import('../cluster/engines.js'),
    import('../cluster/launch.js'),
  ]);
  const onNote = (message: string): void => line.note(`note: ${message}`);
  const engine = await loadEngine(name, { environment: context.process.env, signal: context.signal, onNote });
  try {
    const { isDone, failed, status } = await launch(plan, {
      engine,
      record: recordOf(flags, plan, name),
      host: hostname(),
      pid,
      signal: context.signal,
      onNote,
      isProcessAlive: (other) => context.isProcessAlive(other),
      onProgress: (progress) => line.show(() => formatLaunchProgress(plan, progress)),
    });
    line.end();
    if (isDone) return true;
    for (const text of listFailedTasks(status, flags.verbose)) context.process.stderr.write(`${text}\n`);
    throw new OutputError(`${countWords(failed.length, 'task')} of ${plan.record.tasks} failed: no outputs were made`, {
      path: plan.folder,
      hint: `The same command tries them again; cutroom finish ${quoted(plan.folder)} --salvage takes what is done.`,
    });
  } catch (error) {
    line.end();
    if (!(error instanceof CanceledError) || !context.signal.aborted) throw error;
    throw new CanceledError(error.message, {
      hint: `The same command watches them again; cutroom cancel ${quoted(plan.folder)} ends them.`,
      cause: error,
    });
  }
}

/** What is handed to an engine beside the plan. */
function recordOf(flags: DividedFlags, plan: PlanFolder, engine: EngineName): EngineRecord {
  const { partition, time, mem, cpusPerTask, account, qos, sbatchArg, rayAddress } = flags;
  const options =
    engine === 'slurm'
      ? { partition, time, mem, cpusPerTask, account, qos, sbatchArg, finishJob: true }
      : { rayAddress, cpusPerTask };
  return {
    engine,
    options,
    retries: flags.retries ?? DEFAULT_RETRIES,
    maxRunning: flags.maxRunning ?? null,
    workerCommand: flags.workerCommand ?? [execPath, fileURLToPath(new URL('./main.js', import.meta.url))],
    remoteFolder: mapPath(plan.folder, plan.record.map),
    facts: {},
  };
}

function describePlan({ folder, record }: PlanFolder, isNew: boolean): string {
  const { tasks, units } = record;
  const what = `${countWords(units.count, units.name.replace(/s$/u, ''))} in ${countWords(tasks, 'task')}`;
  return `${isNew ? 'planned' : 'going on with the plan'}: ${what}, in ${folder}`;
}
