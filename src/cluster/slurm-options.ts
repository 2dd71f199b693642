import { UsageError } from '../errors.js';
import type { EngineRecord } from './engine.js';

/** What a job of Slurm is asked for. */
export interface SlurmOptions {
  partition: string | undefined;
  /** As `sbatch --time` takes it. */
  time: string | undefined;
  mem: string | undefined;
  cpusPerTask: number | undefined;
  account: string | undefined;
  qos: string | undefined;
  /** Further arguments of `sbatch`, each with its dashes. */
  sbatchArgs: readonly string[];
  /** Whether a job of its own finishes the plan when the tasks are over. */
  finishJob: boolean;
}

/**
 * The options of a record.
 *
 * @throws {UsageError} for an argument of `sbatch` that the engine gives itself.
 */
export function slurmOptionsOf({ options }: EngineRecord): SlurmOptions {
  const text = (name: string): string | undefined => (typeof options[name] === 'string' ? options[name] : undefined);
  const { sbatchArg, cpusPerTask } = options;
  const sbatchArgs = Array.isArray(sbatchArg) ? sbatchArg.map((argument) => joinShort(String(argument))) : [];
  for (const argument of sbatchArgs) requireFreeArgument(argument);
  return {
    partition: text('partition'),
    time: text('time'),
    mem: text('mem'),
    cpusPerTask: typeof cpusPerTask === 'number' ? cpusPerTask : undefined,
    account: text('account'),
    qos: text('qos'),
    sbatchArgs,
    finishJob: options['finishJob'] === true,
  };
}

/** A short one and its value may be given as in a shell. */
function joinShort(argument: string): string {
  return argument.trim().replace(/^(-[^\s-])\s+/u, '$1');
}

/** What the engine itself says, by what to say instead. */
const OWN_ARGUMENTS: Readonly<Record<string, string>> = {
  array: 'Which tasks run is what the plan says, and how many at once --max-running.',
  output: 'Logs of tasks are in the folder "logs" of the plan.',
  error: 'Logs of tasks are in the folder "logs" of the plan.',
  'open-mode': 'Logs of tasks are in the folder "logs" of the plan.',
  input: 'A task reads its plan.',
  'job-name': 'Jobs are found again by their names.',
  dependency: 'Jobs wait for each other as --max-running asks for; submit "tasks.sbatch" by hand to wait for others.',
  wrap: 'What runs is the script "tasks.sbatch" of the plan, and in it --worker-command.',
  parsable: 'Its answer is read by cutroom.',
  quiet: 'Its answer is read by cutroom.',
  'test-only': 'Nothing would run.',
  wait: 'cutroom waits by itself.',
  ntasks: 'A job runs one task; its cores are --cpus-per-task.',
  chdir: 'Paths of a plan are absolute; workers that have folders elsewhere are told by --map.',
  clusters: 'Log in where the cluster is at home.',
  uid: 'Jobs are those of the user who submits.',
};
const SHORT: Readonly<Record<string, string>> = {
  a: 'array',
  o: 'output',
  e: 'error',
  i: 'input',
  J: 'job-name',
  d: 'dependency',
  Q: 'quiet',
  W: 'wait',
  n: 'ntasks',
  D: 'chdir',
  M: 'clusters',
};
/** Short ones that take no value, which another may follow at once. */
const BARE = /^-[HIOhksvV]+/u;

function requireFreeArgument(argument: string): void {
  const name = ownNameOf(argument);
  if (name === undefined) return;
  throw new UsageError(`--sbatch-arg cannot give ${JSON.stringify(argument)}: cutroom itself says --${name}`, {
    hint: OWN_ARGUMENTS[name],
  });
}

function ownNameOf(argument: string): string | undefined {
  const long = /^--([^=]+)/u.exec(argument)?.[1];
  // Programs take the beginning of a long name for the name.
  if (long !== undefined) return Object.keys(OWN_ARGUMENTS).find((name) => name.startsWith(long));
  return SHORT[argument.replace(BARE, '-').charAt(1)];
}

/** Seconds of a time as Slurm takes it: minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S; undefined for one without limit. */
export function slurmSeconds(time: string): number | undefined {
  const match = /^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$/u.exec(time);
  if (match === null) return undefined;
  const [first, second, third] = [match[2], match[3], match[4]].map((part) =>
    part === undefined ? undefined : Number(part),
  );
  if (match[1] !== undefined) {
    return Number(match[1]) * 86_400 + (first ?? 0) * 3600 + (second ?? 0) * 60 + (third ?? 0);
  }
  if (third !== undefined) return (first ?? 0) * 3600 + (second ?? 0) * 60 + third;
  return (first ?? 0) * 60 + (second ?? 0);
}
