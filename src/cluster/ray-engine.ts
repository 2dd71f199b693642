import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError, OutputError } from '../errors.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import type { Engine, EngineJob, EngineRecord } from './engine.js';
import { PLAN_FILES, type PlanFolder } from './plan-folder.js';
import { resolveRayAddress, type RayAddress } from './ray-address.js';
import { RayClient } from './ray-client.js';
import { submissionOf } from './ray-entrypoint.js';
import { RayUnreachableError } from './ray-http.js';
import { addJob, isAlive, isNeverStarted, jobPrefix, toEngineJob, type RayJob, type RayJobs } from './ray-jobs.js';
import { Outage } from './ray-outage.js';
import { resolveRayToken } from './ray-token.js';
import { TaskStates } from './task-states.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** What an engine of Ray is given beside the environment. */
export interface RayEngineOptions {
  /** Takes what is worth knowing once: an address without TLS, a head that does not answer. */
  onNote?: ((message: string) => void) | undefined;
  /** Stops calls that wait for an answer. */
  signal?: AbortSignal | undefined;
  /** Where `.ray/auth_token` is looked for. Default `HOME`, else what the system says. */
  homeDir?: string | undefined;
  /** How often a head that never answered is asked: a wrong address is more likely than a restart. Default 4. */
  firstTries?: number | undefined;
  /** Before a head that does not answer is asked again, in milliseconds; doubles each time. Default 1,000. */
  firstPauseMs?: number | undefined;
  /** A head that was there may be away for so long, in milliseconds. Default 15 minutes. */
  patienceMs?: number | undefined;
  /** An answer must be whole by then, in milliseconds. Default 60,000. */
  answerTimeoutMs?: number | undefined;
}

const FIRST_TRIES = 4;
const LONGEST_PAUSE_MS = 30_000;
/** Ray gives up jobs that wait for 15 minutes, and each that waits costs it an actor: more are handed in as these start. */
const MAX_QUEUED = 64;
const CALLS_AT_ONCE = 8;
/** Logs of failed jobs that one look fetches. */
const LOGS_PER_LOOK = 8;

/** Runs tasks as jobs of a Ray cluster, one a task, through its Jobs REST API. */
export function createEngine(environment: Environment, options: RayEngineOptions = {}): Engine {
  return new RayEngine(environment, options);
}

/** One plan on one cluster. */
interface Place {
  address: RayAddress;
  client: RayClient;
  prefix: string;
  outage: Outage;
  /** As Ray told last. */
  jobs: RayJobs | undefined;
  /** Nothing was submitted since Ray told. */
  isFresh: boolean;
  /** Tasks that are to be submitted and wait for room: what became of their earlier jobs was told, and is not told again. */
  waiting: Set<number>;
  /** Jobs whose logs were fetched. */
  logged: Set<string>;
}

class RayEngine implements Engine {
  readonly #environment: Environment;
  readonly #options: RayEngineOptions;
  readonly #places = new Map<string, Place>();
  readonly #told = new Set<string>();

  constructor(environment: Environment, options: RayEngineOptions) {
    this.#environment = environment;
    this.#options = options;
  }

  async submit(plan: PlanFolder, record: EngineRecord, tasks: readonly number[]): Promise<EngineRecord> {
    const place = await this.#open(plan, record);
    const jobs = place.isFresh && place.jobs !== undefined ? place.jobs : await this.#refresh(place);
    for (const task of tasks) place.waiting.add(task);
    if (!place.outage.isAway) {
      place.isFresh = false;
      try {
        await this.#submitRoom(plan, record, place, jobs, tasks);
      } catch (error) {
        place.outage.note(error);
      }
    }
    const { facts } = record;
    if (facts['address'] === place.address.text && facts['jobPrefix'] === place.prefix) return record;
    return { ...record, facts: { ...facts, address: place.address.text, jobPrefix: place.prefix } };
  }

  async look(plan: PlanFolder, record: EngineRecord, tasks: readonly number[]): Promise<Map<number, EngineJob>> {
    const place = await this.#open(plan, record);
    const jobs = await this.#refresh(place);
    const found = new Map<number, EngineJob>();
    const failed: RayJob[] = [];
    for (const task of tasks) {
      const job = jobs.last.get(task);
      if (job === undefined) continue;
      if (isNeverStarted(job))
        this.#tellOnce(
          'queue',
          `Ray gave up starting a job that waited too long (${job.message}); it is handed in again`,
        );
      else if (job.status === 'FAILED') failed.push(job);
      const known = place.waiting.has(task) && !isAlive(job) ? undefined : toEngineJob(job);
      if (known !== undefined) found.set(task, known);
    }
    await this.#saveLogs(plan, place, failed);
    return found;
  }

  async cancel(plan: PlanFolder, record: EngineRecord): Promise<number> {
    const place = await this.#open(plan, record);
    const { alive } = await this.#askAgain(place, async () => await place.client.list(place.prefix));
    await this.#forEach([...alive.keys()], async (id) => {
      await this.#askAgain(place, async () => await place.client.stop(id));
    });
    return alive.size;
  }

  async log(plan: PlanFolder, record: EngineRecord, task: number): Promise<string | undefined> {
    const place = await this.#open(plan, record);
    const job = (place.jobs ?? (await this.#refresh(place))).last.get(task);
    if (job === undefined || place.outage.isPausing) return undefined;
    try {
      return withoutRayLines(await place.client.log(job.id), job.id);
    } catch (error) {
      if (error instanceof RayUnreachableError) return undefined;
      throw error;
    }
  }

  /** Hands in as many jobs as there is room for. */
  async #submitRoom(
    { record: { hash } }: PlanFolder,
    record: EngineRecord,
    { client, prefix, waiting }: Place,
    jobs: RayJobs,
    tasks: readonly number[],
  ): Promise<void> {
    let queued = 0;
    for (const { status } of jobs.alive.values()) if (status === 'PENDING') queued += 1;
    const room = Math.min((record.maxRunning ?? Infinity) - jobs.alive.size, MAX_QUEUED - queued);
    const next: { task: number; attempt: number }[] = [];
    for (const task of tasks) {
      const last = jobs.last.get(task);
      if (last !== undefined && isAlive(last)) continue;
      if (next.length >= room) break;
      next.push({ task, attempt: last === undefined ? 0 : last.attempt + 1 });
    }
    await this.#forEach(next, async ({ task, attempt }) => {
      const submission = submissionOf(record, { prefix, task, attempt, hash });
      await client.submit(submission);
      waiting.delete(task);
      const id = submission.submission_id;
      addJob(jobs, { id, task, attempt, status: 'PENDING', message: undefined, errorType: undefined });
    });
  }

  /** What Ray says; while it does not answer, what it said last. */
  async #refresh(place: Place): Promise<RayJobs> {
    const { jobs: earlier, outage, client, prefix } = place;
    if (earlier === undefined) {
      place.jobs = await this.#askAgain(place, async () => await client.list(prefix));
      place.isFresh = true;
      return place.jobs;
    }
    if (outage.isPausing) return earlier;
    try {
      place.jobs = await client.list(prefix);
      place.isFresh = true;
      outage.end();
      return place.jobs;
    } catch (error) {
      outage.note(error);
      return earlier;
    }
  }

  /** Asks a few times, with growing pauses. */
  async #askAgain<T>({ address }: Place, ask: () => Promise<T>): Promise<T> {
    const { firstPauseMs = 1_000, firstTries = FIRST_TRIES } = this.#options;
    let pauseMs = firstPauseMs;
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof RayUnreachableError)) throw error;
        if (tries === firstTries) {
          throw new OutputError(error.message, {
            hint: `Is the head up, and is ${address.text} its dashboard? --ray-address or RAY_ADDRESS names another.`,
            cause: error,
          });
        }
      }
      await this.#pause(pauseMs);
      pauseMs *= 2;
    }
  }

  /** Keeps the logs of failed jobs beside the plan: Ray forgets them with the node. */
  async #saveLogs({ folder, record }: PlanFolder, place: Place, failed: readonly RayJob[]): Promise<void> {
    if (place.outage.isAway) return;
    const states = new TaskStates(folder, record.tasks);
    const next = failed.filter(({ id }) => !place.logged.has(id)).slice(0, LOGS_PER_LOOK);
    for (const { id, task } of next) {
      place.logged.add(id);
      try {
        const log = await place.client.log(id);
        if (log === undefined) continue;
        const file = path.join(folder, PLAN_FILES.logs, `${states.nameOf(task)}.log`);
        await writeFileAtomic(file, async (write) => await write(log));
      } catch (error) {
        // The watch does not end for a log.
        if (!(error instanceof OutputError)) throw error;
        this.#tellOnce('log', `The log of job ${id} cannot be kept: ${error.message}`);
      }
    }
  }

  async #open(plan: PlanFolder, record: EngineRecord): Promise<Place> {
    const { facts } = record;
    const address = resolveRayAddress(record.options['rayAddress'], facts['address'], this.#environment);
    const key = `${address.text} ${plan.folder}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const { signal, answerTimeoutMs = 60_000, firstPauseMs = 1_000, patienceMs = 15 * 60_000 } = this.#options;
    const token = await resolveRayToken(
      this.#environment,
      this.#options.homeDir ?? this.#environment['HOME'] ?? homedir(),
    );
    if (address.isOpen) {
      const what = token === undefined ? 'commands' : 'commands and the token';
      this.#note(`${address.text} is another machine, and without TLS ${what} can be read on the way`);
    }
    // The time tells a plan that was made anew in this folder from the one before.
    const { mtimeMs } = await stat(path.join(plan.folder, PLAN_FILES.plan));
    const place: Place = {
      address,
      client: new RayClient({ address, token, answerTimeoutMs, signal }),
      prefix: jobPrefix(plan.record.hash, record.remoteFolder, Math.floor(mtimeMs / 1000)),
      outage: new Outage({
        firstPauseMs,
        longestPauseMs: LONGEST_PAUSE_MS,
        patienceMs,
        onNote: (message) => this.#note(message),
        now: () => performance.now(),
      }),
      jobs: undefined,
      isFresh: false,
      waiting: new Set(),
      logged: new Set(),
    };
    this.#places.set(key, place);
    return place;
  }

  /** Some at once, each once; the first error ends it when the others that were begun are over. */
  async #forEach<T>(items: readonly T[], call: (item: T) => Promise<void>): Promise<void> {
    let next = 0;
    let isFailed = false;
    const work = async (): Promise<void> => {
      while (next < items.length && !isFailed) {
        const item = items[next]!;
        next += 1;
        try {
          await call(item);
        } catch (error) {
          isFailed = true;
          throw error;
        }
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: CALLS_AT_ONCE }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { signal: this.#options.signal });
    } catch (error) {
      throw new CanceledError('Stopped while waiting for Ray', { cause: error });
    }
  }

  #note(message: string): void {
    this.#options.onNote?.(message);
  }

  #tellOnce(what: string, message: string): void {
    if (this.#told.has(what)) return;
    this.#told.add(what);
    this.#note(message);
  }
}

/** What the worker said. Ray's own lines come before or behind it. */
function withoutRayLines(log: string | undefined, id: string): string | undefined {
  const isOfRay = (line: string): boolean =>
    line.startsWith(`Running entrypoint for job ${id}: `) || line.endsWith(' -- Runtime env is setting up.');
  const lines = log?.split('\n').filter((line) => !isOfRay(line)) ?? [];
  return lines.some((line) => line.trim() !== '') ? lines.join('\n') : undefined;
}
