import { OutputError } from '../errors.js';
import { askSlurm, hintFor, isOutOfReach, type Environment } from './slurm-command.js';
import { parseSacct, parseSqueue, SACCT_FIELDS, SQUEUE_FIELDS, type SlurmRow } from './slurm-states.js';

/** What Slurm takes at most. */
export interface SlurmLimits {
  /** Indices of arrays end below it. */
  maxArraySize: number;
  /** Elements of one array. */
  maxArrayTasks: number;
}

/** A controller that restarts is waited for so long. */
const PATIENCE_MS = 15 * 60_000;
const NAMES_A_CALL = 500;

/** What Slurm says of jobs. Remembers what it said last, for while its controller does not answer. */
export class SlurmQueue {
  readonly #environment: Environment;
  /** Undefined until it is known whether there is accounting. */
  #hasAccounting: boolean | undefined;
  #limits: SlurmLimits | undefined;
  #answeredMs: number | undefined;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * Jobs of these names, those that ended lately included; undefined while the controller does not answer.
   *
   * @throws {OutputError} when it has not answered yet or for long.
   */
  async list(names: readonly string[]): Promise<SlurmRow[] | undefined> {
    const rows: SlurmRow[] = [];
    for (let at = 0; at < names.length; at += NAMES_A_CALL) {
      const some = names.slice(at, at + NAMES_A_CALL).join(',');
      const args = ['--noheader', '--array', '--states=all', `--name=${some}`, `--Format=${SQUEUE_FIELDS}`];
      const { isDone, stdout, words } = await askSlurm('squeue', args, this.#environment);
      if (!isDone) {
        if (isOutOfReach(words) && this.isPatient) return undefined;
        throw new OutputError(`Cannot ask Slurm for the jobs of the plan: ${words}`, { hint: hintFor(words) });
      }
      rows.push(...parseSqueue(stdout));
    }
    this.#answeredMs = performance.now();
    return rows;
  }

  /** Whether the controller answered a while ago: then it may be restarting. */
  get isPatient(): boolean {
    return this.#answeredMs !== undefined && performance.now() - this.#answeredMs < PATIENCE_MS;
  }

  /** Jobs that the controller has forgotten, where there is accounting. */
  async recall(jobs: readonly string[]): Promise<SlurmRow[]> {
    if (this.#hasAccounting === false || jobs.length === 0) return [];
    const args = ['--noheader', '--parsable2', '--allocations', `--format=${SACCT_FIELDS}`, `--jobs=${jobs.join(',')}`];
    try {
      const { isDone, stdout } = await askSlurm('sacct', args, this.#environment);
      this.#hasAccounting ??= isDone;
      return isDone ? parseSacct(stdout) : [];
    } catch (error) {
      // Clusters without accounting may not have the program.
      if (!(error instanceof OutputError)) throw error;
      this.#hasAccounting = false;
      return [];
    }
  }

  /**
   * What it takes; undefined while the controller does not answer.
   *
   * @throws {OutputError} when it has not answered yet or for long.
   */
  async limits(): Promise<SlurmLimits | undefined> {
    if (this.#limits !== undefined) return this.#limits;
    const { isDone, stdout, words } = await askSlurm('scontrol', ['show', 'config'], this.#environment);
    if (!isDone) {
      if (isOutOfReach(words) && this.isPatient) return undefined;
      throw new OutputError(`Cannot ask Slurm for its limits: ${words}`, { hint: hintFor(words) });
    }
    this.#answeredMs = performance.now();
    this.#limits = parseLimits(stdout);
    return this.#limits;
  }
}

/**
 * Reads what `scontrol show config` prints.
 *
 * @throws {OutputError} when the cluster takes no array jobs.
 */
export function parseLimits(text: string): SlurmLimits {
  const size = /^MaxArraySize\s*=\s*(\d+)/mu.exec(text)?.[1];
  const most = /^SchedulerParameters\s*=.*\bmax_array_tasks=(\d+)/mu.exec(text)?.[1];
  // What it is where nothing says otherwise.
  const maxArraySize = Number(size ?? 1001);
  if (maxArraySize < 1) {
    throw new OutputError('Cannot submit tasks: this Slurm takes no array jobs (MaxArraySize is 0)', {
      hint: 'Have MaxArraySize raised, or run tasks by jobs of your own: cutroom run DIR --task I.',
    });
  }
  const maxArrayTasks = Math.max(1, Math.min(maxArraySize, Number(most ?? maxArraySize)));
  return { maxArraySize, maxArrayTasks };
}
