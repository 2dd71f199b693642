import { spawn } from 'node:child_process';
import { errorMessage, OutputError, systemCode } from '../errors.js';

/** Variables of the user's shell. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How a program of Slurm ended. */
export interface SlurmAnswer {
  /** Its exit code is 0. */
  isDone: boolean;
  stdout: string;
  /** What it said of its failure, without its name before each line. */
  words: string;
}

/** A program that says nothing for so long is given up: Slurm's own patience with its controller is shorter. */
const PATIENCE_MS = 120_000;

/**
 * Runs a program of Slurm.
 *
 * @throws {OutputError} when it is not there or cannot be started.
 */
export async function askSlurm(
  program: string,
  args: readonly string[],
  environment: Environment,
): Promise<SlurmAnswer> {
  return await new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: slurmEnvironment(environment),
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C is for the one that watches: a submission that is under way is told of to the end.
      detached: true,
      timeout: PATIENCE_MS,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', (error) => reject(cannotStart(program, error)));
    child.on('close', (code, signal) => {
      const words = withoutNames(stderr);
      const silence = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
      resolve({ isDone: code === 0, stdout, words: words === '' ? silence : words });
    });
  });
}

/**
 * Variables for a program of Slurm. Those of a job, and a user's presets of the programs (`SBATCH_PARTITION`, `SQUEUE_FORMAT`, …), would change
 * what is submitted and how answers are written; what names the cluster and proves who asks stays.
 */
export function slurmEnvironment(environment: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || (PRESETS.test(name) && !CLUSTER.has(name))) continue;
    kept[name] = value;
  }
  return { ...kept, LC_ALL: 'C' };
}

const PRESETS = /^(?:SLURM|SBATCH|SALLOC|SRUN|SQUEUE|SCANCEL|SCONTROL|SACCT|SINFO|CUTROOM_TASK)(?:_|$)/u;
const CLUSTER = new Set(['SLURM_CONF', 'SLURM_JWT']);

function withoutNames(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^\w+(?: error)?: (?:error: |fatal: )?/u, '').trim());
  return lines.filter((line) => line !== '').join('; ');
}

function cannotStart(program: string, error: unknown): OutputError {
  if (systemCode(error) !== 'ENOENT') {
    return new OutputError(`Cannot run "${program}": ${errorMessage(error)}`, { cause: error });
  }
  return new OutputError(`Cannot run "${program}": there is no such program here`, {
    cause: error,
    hint: "Start it where Slurm's programs are, on a login node of the cluster, or see that they are in PATH.",
  });
}

/** Whether the controller did not answer: it may be restarting. */
export function isOutOfReach(words: string): boolean {
  return OUT_OF_REACH.test(words);
}

const OUT_OF_REACH =
  /unable to contact slurm controller|connection (?:refused|timed out|reset)|socket timed out|zero bytes were transmitted|transport endpoint|message (?:send|receive) failure|backup controller|communications connection failure|ended by SIGTERM/iu;

/** Whether what is refused may be taken later: when there is room, perhaps (older versions do not say which limit it is), or never as it is. */
export function refusalOf(words: string): 'for now' | 'unclear' | 'for good' {
  if (TOO_MANY.test(words)) return 'for now';
  return /violates accounting/iu.test(words) && !/\b(?:QOS|Assoc)\w+/u.test(words) ? 'unclear' : 'for good';
}

const TOO_MANY = /(?:QOS|Assoc)\w*Submit|MaxJobCount|temporarily unable|resource temporarily unavailable/u;

/** What to do about what Slurm says; undefined where it speaks for itself. */
export function hintFor(words: string): string | undefined {
  return HINTS.find(([pattern]) => pattern.test(words))?.[1];
}

const HINTS: readonly (readonly [RegExp, string])[] = [
  [OUT_OF_REACH, 'See whether the controller answers: scontrol ping.'],
  [/partition/iu, 'See the partitions with "sinfo", and name one with --partition.'],
  [/qos/iu, 'See your limits with "sacctmgr show assoc where user=$USER", and name a quality of service with --qos.'],
  [/account/iu, 'See your accounts with "sacctmgr show assoc where user=$USER", and name one with --account.'],
  [/time limit|--time/iu, 'See the limits of partitions with "sinfo -o \'%P %l\'", and give a --time within them.'],
  [
    /node configuration|memory specification|cpu count|more processors/iu,
    'See what nodes have with "sinfo -o \'%P %c %m\'", and ask for less with --cpus-per-task or --mem.',
  ],
  [/configuration (?:source|file)/iu, 'See that this machine belongs to a cluster: scontrol ping.'],
  [/dependency/iu, 'Run the same command again: what is submitted already is found.'],
];
