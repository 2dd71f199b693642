import { open } from 'node:fs/promises';
import path from 'node:path';
import { OutputError, systemCode, UsageError } from '../errors.js';
import { writeEngineRecord } from './engine-record.js';
import type { Engine, EngineJob, EngineRecord } from './engine.js';
import { PLAN_FILES, type PlanFolder } from './plan-folder.js';
import { askSlurm, hintFor, type Environment } from './slurm-command.js';
import { SlurmQueue } from './slurm-queue.js';
import { findPlaces, slurmFactsOf, type SlurmFacts, type TaskPlace } from './slurm-record.js';
import { logNameOf } from './slurm-script.js';
import { jobOf, type SlurmJob, type SlurmRow } from './slurm-states.js';
import { SlurmSubmitter } from './slurm-submit.js';

/** The engine that runs tasks as array jobs of Slurm, by the programs of this machine. */
export function createEngine(environment: Environment): Engine {
  return new SlurmEngine(environment);
}

/** So often a task is submitted anew because the cluster stopped it; then each stop is a failure. */
const MAX_STOPS = 20;
/** Of the end of a log. */
const LOG_BYTES = 16_384;
const JOBS_A_CALL = 500;

class SlurmEngine implements Engine {
  readonly #environment: Environment;
  readonly #queue: SlurmQueue;
  readonly #submitter: SlurmSubmitter;
  /** Arrays that this launcher submitted, and elements that it has seen before they were over. */
  readonly #own = new Set<string>();
  /** What was said last, for while the controller does not answer. */
  #last = new Map<number, SlurmJob>();

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#queue = new SlurmQueue(environment);
    this.#submitter = new SlurmSubmitter(environment, this.#queue);
  }

  async submit(
    plan: PlanFolder,
    record: EngineRecord,
    tasks: readonly number[],
    _attempt: number,
  ): Promise<EngineRecord> {
    if (/[\n\r]/u.test(record.remoteFolder)) {
      throw new UsageError(`Cannot submit the plan in ${JSON.stringify(record.remoteFolder)}: its name has two lines`);
    }
    const known = await this.#ask(record, tasks);
    const stops: Record<string, number> = { ...slurmFactsOf(record).stops };
    const missing: number[] = [];
    for (const task of tasks.toSorted((a, b) => a - b)) {
      const job = known.get(task);
      if (job?.state === 'queued' || job?.state === 'running') continue;
      if (job?.isInnocent === true) stops[task] = (stops[task] ?? 0) + 1;
      missing.push(task);
    }
    if (missing.length === 0) return record;
    const before = new Set(slurmFactsOf(record).submissions.map(({ job }) => job));
    const submitted = await this.#submitter.submit(plan, withFacts(record, { stops }), missing, (current) =>
      writeEngineRecord(plan.folder, current),
    );
    for (const { job } of slurmFactsOf(submitted).submissions) if (job !== null && !before.has(job)) this.#own.add(job);
    return submitted;
  }

  async look(_plan: PlanFolder, record: EngineRecord, tasks: readonly number[]): Promise<Map<number, EngineJob>> {
    const jobs = new Map<number, EngineJob>(this.#submitter.held(tasks));
    const { stops } = slurmFactsOf(record);
    for (const [task, job] of await this.#ask(record, tasks)) {
      if (jobs.has(task)) continue;
      // One that is not named is submitted anew.
      if (job.isInnocent && (stops[task] ?? 0) < MAX_STOPS) continue;
      if (this.#isOfEarlierLaunch(job)) continue;
      const { id, state, reason } = job;
      const often = job.isInnocent ? `${reason ?? state}, as ${MAX_STOPS} times before` : reason;
      jobs.set(task, { id, state, reason: often });
    }
    return jobs;
  }

  async cancel(plan: PlanFolder, record: EngineRecord): Promise<number> {
    const facts = slurmFactsOf(record);
    const rows = await this.#queue.list(facts.submissions.map(({ name }) => name));
    if (rows === undefined) {
      throw new OutputError('Cannot cancel the jobs of the plan: the controller of Slurm does not answer', {
        hint: 'Cancel them when it does: cutroom cancel.',
      });
    }
    const live = rows.filter((row) => ['queued', 'running'].includes(jobOf(row, row.job).state));
    const ids = [...new Set(live.map(({ job }) => job))];
    if (facts.finishJob !== null) ids.push(facts.finishJob);
    for (let at = 0; at < ids.length; at += JOBS_A_CALL) {
      const some = ids.slice(at, at + JOBS_A_CALL);
      // One that ended meanwhile is no error.
      const { isDone, words } = await askSlurm('scancel', ['--quiet', ...some], this.#environment);
      if (!isDone) throw new OutputError(`Cannot cancel the jobs of the plan: ${words}`, { hint: hintFor(words) });
    }
    // Whoever submits the plan again begins anew: these jobs have not failed.
    await writeEngineRecord(plan.folder, withFacts(record, { submissions: [], stops: {}, finishJob: null }));
    return live.length;
  }

  async log(plan: PlanFolder, record: EngineRecord, task: number): Promise<string | undefined> {
    const place = findPlaces(slurmFactsOf(record), [task]).get(task);
    if (place === undefined || place.submission.job === null) return undefined;
    return await readEnd(path.join(plan.folder, PLAN_FILES.logs, logNameOf(place.submission.job, place.index)));
  }

  /** Whether a job failed before this launcher came: that was told then, and whoever launches again wants another try. */
  #isOfEarlierLaunch({ id, state }: SlurmJob): boolean {
    if (state === 'queued' || state === 'running') this.#own.add(id);
    const isOver = state === 'failed' || state === 'stopped' || state === 'gone';
    return isOver && !this.#own.has(id) && !this.#own.has(id.replace(/_\d+$/u, ''));
  }

  /** What Slurm says of tasks, by one question for all of them. */
  async #ask(record: EngineRecord, tasks: readonly number[]): Promise<Map<number, SlurmJob>> {
    const places = findPlaces(slurmFactsOf(record), tasks);
    const names = [...new Set([...places.values()].map(({ submission }) => submission.name))];
    if (names.length === 0) return new Map();
    const rows = await this.#queue.list(names);
    if (rows === undefined) return this.#last;
    const found = new FoundRows(rows);
    const lost = [...places.values()].filter((place) => found.rowOf(place) === undefined);
    const forgotten = [...new Set(lost.map(({ submission }) => submission.job).filter((job) => job !== null))];
    const recalled = new FoundRows(await this.#queue.recall(forgotten));
    const jobs = new Map<number, SlurmJob>();
    for (const [task, place] of places) {
      const job = place.submission.job ?? found.jobNamed(place.submission.name);
      // It never came to be.
      if (job === undefined) continue;
      const id = `${job}_${place.index}`;
      const row = found.rowOf(place) ?? recalled.rowOf(place);
      jobs.set(
        task,
        row === undefined
          ? { id, state: 'gone', reason: 'Slurm knows it no longer', isInnocent: false }
          : jobOf(row, id),
      );
    }
    this.#last = jobs;
    return jobs;
  }
}

function withFacts(record: EngineRecord, changes: Partial<SlurmFacts>): EngineRecord {
  return { ...record, facts: { ...slurmFactsOf(record), ...changes } };
}

/** Rows by what they are of. */
class FoundRows {
  readonly #elements = new Map<string, SlurmRow>();
  /** Jobs as a whole: an array that was ended before any of it began is not told of by its elements. */
  readonly #wholes = new Map<string, SlurmRow>();
  readonly #names = new Map<string, string>();

  constructor(rows: readonly SlurmRow[]) {
    for (const row of rows) {
      if (row.index === undefined) this.#wholes.set(row.job, row);
      else this.#elements.set(`${row.job}_${row.index}`, row);
      // Of several the last one: Slurm keeps those that it refused for a while.
      if (Number(row.job) > Number(this.#names.get(row.name) ?? 0)) this.#names.set(row.name, row.job);
    }
  }

  rowOf({ submission, index }: TaskPlace): SlurmRow | undefined {
    const job = submission.job ?? this.jobNamed(submission.name);
    return this.#elements.get(`${job}_${index}`) ?? this.#wholes.get(job ?? '');
  }

  /** The number of a job of which only the name is known. */
  jobNamed(name: string): string | undefined {
    return this.#names.get(name);
  }
}

async function readEnd(file: string): Promise<string | undefined> {
  let handle;
  try {
    handle = await open(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - LOG_BYTES);
    const bytes = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
