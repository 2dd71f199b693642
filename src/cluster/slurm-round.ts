import path from 'node:path';
import { OutputError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import type { EngineRecord } from './engine.js';
import { PLAN_FILES, type PlanFolder } from './plan-folder.js';
import { formatRanges, indicesOf, type TaskArray } from './slurm-arrays.js';
import { askSlurm, isOutOfReach, type Environment } from './slurm-command.js';
import { slurmFactsOf, type SlurmFacts, type Submission } from './slurm-record.js';
import { jobNameOf, SCRIPTS } from './slurm-script.js';
import type { SlurmOptions } from './slurm-options.js';

/** Keeps a record before and after each step. */
export type RecordKeeper = (record: EngineRecord) => Promise<void>;

/** One time of handing tasks to Slurm. */
export class SubmissionRound {
  readonly #environment: Environment;
  readonly #plan: PlanFolder;
  readonly #keep: RecordKeeper;
  /** Jobs of the plan that are not over, and how many elements of each are not. */
  readonly #live: Map<string, number>;
  #record: EngineRecord;
  #hasSubmitted = false;

  constructor(
    environment: Environment,
    plan: PlanFolder,
    record: EngineRecord,
    { keep, live }: { keep: RecordKeeper; live: Map<string, number> },
  ) {
    this.#environment = environment;
    this.#plan = plan;
    this.#record = record;
    this.#keep = keep;
    this.#live = live;
  }

  /** As far as it has come. */
  get record(): EngineRecord {
    return this.#record;
  }

  /** Whether any job of the plan is not over. */
  get hasLive(): boolean {
    return this.#live.size > 0;
  }

  /**
   * Submits an array.
   *
   * @returns what Slurm says when it refuses; undefined when it took it.
   */
  async submitArray(array: TaskArray): Promise<string | undefined> {
    const { submissions, count } = slurmFactsOf(this.#record);
    const name = `${jobNameOf(this.#plan, this.#record)}-${count + 1}`;
    const submission: Submission = { name, job: null, tasks: formatRanges(array.tasks), offset: array.offset };
    const { maxRunning } = this.#record;
    const args = [
      '--parsable',
      `--job-name=${name}`,
      `--array=${indicesOf(array)}${maxRunning === null ? '' : `%${maxRunning}`}`,
      ...this.#dependency(array.tasks.length),
      path.join(this.#plan.folder, SCRIPTS.tasks),
      ...(await this.#placeArguments(name, array)),
    ];
    // Whoever comes when this process is gone finds the job by its name.
    await this.#note({ count: count + 1, submissions: [...submissions, submission] });
    const answer = await askSlurm('sbatch', args, this.#environment);
    if (!answer.isDone) {
      // It may have been taken, if the answer alone was lost.
      if (!isOutOfReach(answer.words)) await this.#note({ submissions });
      return answer.words;
    }
    const job = jobNumber(answer.stdout);
    this.#live.set(job, array.tasks.length);
    this.#hasSubmitted = true;
    await this.#note({ submissions: [...submissions, { ...submission, job }] });
    return undefined;
  }

  /** Has the plan finished by a job of its own when all that runs or waits now is over, where that is asked for. */
  async submitFinish({ finishJob: isAsked }: SlurmOptions): Promise<void> {
    if (!isAsked || !this.#hasSubmitted) return;
    const { finishJob } = slurmFactsOf(this.#record);
    // It knows nothing of what was submitted after it. One that is over already is no error.
    if (finishJob !== null) await askSlurm('scancel', ['--quiet', finishJob], this.#environment);
    await this.#note({ finishJob: null });
    const script = path.join(this.#plan.folder, SCRIPTS.finish);
    const args = ['--parsable', `--dependency=afterany:${[...this.#live.keys()].join(':')}`, script];
    const { isDone, stdout } = await askSlurm('sbatch', args, this.#environment);
    // Without it, the launcher or the user finishes: tasks are not given up for that.
    if (isDone) await this.#note({ finishJob: jobNumber(stdout) });
  }

  /** An array by itself runs no more elements at once than it may; several wait for each other. */
  #dependency(count: number): string[] {
    const { maxRunning } = this.#record;
    let live = 0;
    for (const elements of this.#live.values()) live += elements;
    if (maxRunning === null || live === 0 || live + count <= maxRunning) return [];
    return [`--dependency=afterany:${[...this.#live.keys()].join(':')}`];
  }

  /** Arguments of the script: they tell an element its task. */
  async #placeArguments(name: string, { tasks, offset }: TaskArray): Promise<string[]> {
    if (offset !== null) return offset === 0 ? [] : [String(offset)];
    const file = `${PLAN_FILES.logs}/${name}.tasks`;
    await writeFileAtomic(path.join(this.#plan.folder, file), (write) => write(`${tasks.join('\n')}\n`));
    return ['--list', `${this.#record.remoteFolder}/${file}`];
  }

  async #note(changes: Partial<SlurmFacts>): Promise<void> {
    this.#record = { ...this.#record, facts: { ...slurmFactsOf(this.#record), ...changes } };
    await this.#keep(this.#record);
  }
}

/** `sbatch --parsable` answers `job` or `job;cluster`. */
function jobNumber(stdout: string): string {
  const job = /^(\d+)(?:;.*)?$/mu.exec(stdout)?.[1];
  if (job !== undefined) return job;
  throw new OutputError(`Cannot read what sbatch answered: ${JSON.stringify(stdout)} names no job`, {
    hint: 'See whether "sbatch" is the program of Slurm or something that a site put before it.',
  });
}
