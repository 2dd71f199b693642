import path from 'node:path';
import { OutputError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import type { EngineJob, EngineRecord } from './engine.js';
import type { PlanFolder } from './plan-folder.js';
import { planArrays, type TaskArray } from './slurm-arrays.js';
import { hintFor, isOutOfReach, refusalOf, type Environment } from './slurm-command.js';
import { slurmOptionsOf } from './slurm-options.js';
import type { SlurmQueue } from './slurm-queue.js';
import { slurmFactsOf } from './slurm-record.js';
import { SubmissionRound, type RecordKeeper } from './slurm-round.js';
import { finishScript, SCRIPTS, taskScript } from './slurm-script.js';
import { jobOf } from './slurm-states.js';

/** What Slurm does not take now is offered again after so long. */
const HOLD_MS = 30_000;

/** Hands tasks to Slurm, in as many array jobs as it takes. */
export class SlurmSubmitter {
  readonly #environment: Environment;
  readonly #queue: SlurmQueue;
  readonly #held = new Set<number>();
  #heldUntilMs = 0;
  #heldReason = '';

  constructor(environment: Environment, queue: SlurmQueue) {
    this.#environment = environment;
    this.#queue = queue;
  }

  /** Tasks that Slurm did not take for now, as jobs that wait; they are offered again when they are no longer named. */
  held(tasks: readonly number[]): Map<number, EngineJob> {
    if (performance.now() >= this.#heldUntilMs) this.#held.clear();
    const reason = `not taken yet: ${this.#heldReason}`;
    const job: EngineJob = { id: 'none', state: 'queued', reason };
    return new Map(tasks.filter((task) => this.#held.has(task)).map((task) => [task, job]));
  }

  /**
   * Submits tasks, none of which has a job.
   *
   * @param tasks ascending
   * @throws {OutputError} when Slurm refuses them, in its words.
   */
  async submit(
    plan: PlanFolder,
    record: EngineRecord,
    tasks: readonly number[],
    keep: RecordKeeper,
  ): Promise<EngineRecord> {
    await writeScripts(plan, record);
    const limits = await this.#queue.limits();
    const live = limits === undefined ? undefined : await this.#listLive(record);
    if (limits === undefined || live === undefined) {
      this.#hold(tasks, 'the controller does not answer');
      return record;
    }
    const round = new SubmissionRound(this.#environment, plan, record, { keep, live });
    const arrays = planArrays(tasks, limits.maxArraySize, limits.maxArrayTasks);
    for (let array = arrays.shift(); array !== undefined; array = arrays.shift()) {
      const words = await round.submitArray(array);
      if (words === undefined) continue;
      const refusal = refusalOf(words);
      // The limit is not told: what fits is looked for, and the rest waits for room.
      if (refusal !== 'for good' && array.tasks.length > 1) {
        const rest = arrays.splice(0);
        arrays.push(...halve(array));
        this.#hold(
          rest.flatMap(({ tasks: left }) => left),
          words,
        );
        continue;
      }
      const mayPass =
        refusal === 'for now' ||
        (refusal === 'unclear' && round.hasLive) ||
        (isOutOfReach(words) && this.#queue.isPatient);
      if (!mayPass) {
        throw new OutputError(`Cannot submit tasks to Slurm: ${words}`, { hint: hintFor(words) });
      }
      this.#hold(
        [array, ...arrays].flatMap(({ tasks: left }) => left),
        words,
      );
      break;
    }
    await round.submitFinish(slurmOptionsOf(record));
    return round.record;
  }

  #hold(tasks: readonly number[], reason: string): void {
    for (const task of tasks) this.#held.add(task);
    this.#heldUntilMs = performance.now() + HOLD_MS;
    this.#heldReason = reason;
  }

  /** Numbers of the plan's jobs that are not over, and how many elements of each are not; undefined where Slurm does not tell now. */
  async #listLive(record: EngineRecord): Promise<Map<string, number> | undefined> {
    const { submissions } = slurmFactsOf(record);
    const live = new Map<string, number>();
    if (submissions.length === 0) return live;
    const rows = await this.#queue.list(submissions.map(({ name }) => name));
    for (const row of rows ?? []) {
      const { state } = jobOf(row, row.job);
      if (state === 'queued' || state === 'running') live.set(row.job, (live.get(row.job) ?? 0) + 1);
    }
    return rows === undefined ? undefined : live;
  }
}

async function writeScripts(plan: PlanFolder, record: EngineRecord): Promise<void> {
  await writeFileAtomic(path.join(plan.folder, SCRIPTS.tasks), (write) => write(taskScript(plan, record)));
  if (!slurmOptionsOf(record).finishJob) return;
  await writeFileAtomic(path.join(plan.folder, SCRIPTS.finish), (write) => write(finishScript(plan, record)));
}

function halve({ tasks, offset }: TaskArray): TaskArray[] {
  const middle = Math.ceil(tasks.length / 2);
  return [tasks.slice(0, middle), tasks.slice(middle)].map((part) => ({ tasks: part, offset }));
}
