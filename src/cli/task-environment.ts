import { UsageError } from '../errors.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Which task a job is to do: that of `CUTROOM_TASK`, or the number in a Slurm array plus `CUTROOM_TASK_OFFSET`.
 *
 * @throws {UsageError} when neither is set, or one is no number of a task.
 */
export function taskFromEnvironment(environment: Environment): number {
  const named = environment['CUTROOM_TASK'];
  if (isGiven(named)) return parse('CUTROOM_TASK', named);
  const inArray = environment['SLURM_ARRAY_TASK_ID'];
  if (isGiven(inArray)) {
    const offset = environment['CUTROOM_TASK_OFFSET'];
    return parse('SLURM_ARRAY_TASK_ID', inArray) + (isGiven(offset) ? parse('CUTROOM_TASK_OFFSET', offset) : 0);
  }
  throw new UsageError('--task-from-env finds no task: neither CUTROOM_TASK nor SLURM_ARRAY_TASK_ID is set', {
    hint: 'Set CUTROOM_TASK, run it in a job array of Slurm, or give --task N.',
  });
}

/** What a cluster calls the job that this process is. */
export function jobFromEnvironment(environment: Environment): string | undefined {
  const { CUTROOM_JOB: named, SLURM_ARRAY_JOB_ID: array, SLURM_ARRAY_TASK_ID: place, SLURM_JOB_ID: job } = environment;
  if (isGiven(named)) return named;
  if (isGiven(array) && isGiven(place)) return `${array}_${place}`;
  return isGiven(job) ? job : undefined;
}

/** How many processes Slurm gave a job room for. */
export function jobsFromEnvironment(environment: Environment): number | undefined {
  const cores = environment['SLURM_CPUS_PER_TASK'];
  return isGiven(cores) && /^[1-9]\d{0,4}$/u.test(cores) ? Number(cores) : undefined;
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function parse(name: string, value: string): number {
  if (/^\d{1,9}$/u.test(value)) return Number(value);
  throw new UsageError(`${name} is ${JSON.stringify(value)}, which is no number of a task`, {
    hint: 'Tasks are counted from 0.',
  });
}
