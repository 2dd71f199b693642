import { CutroomError, errorMessage } from '../errors.js';
import { AbortListeners } from './abort-listeners.js';
import { PoolProcess } from './pool-process.js';

export interface ProcessPoolOptions {
  /** A program that calls `serveJobs`. */
  program: URL;
  /** How many processes there are at most. */
  size: number;
  /** A process that says nothing for so long while it has a job counts as hung, and is killed. */
  silenceMs: number;
  /** Open files that each process has too: the first one is its file 4, the next one 5, and so on. */
  inheritedFiles?: readonly number[];
}

/** What became of a job. Only `done` speaks for the job; the others speak for the process that had it. */
export type JobOutcome<R> =
  { kind: 'done'; value: R } | { kind: 'died'; how: string } | { kind: 'hung'; seconds: number };

export interface RunJobOptions {
  /** Kills the process that has the job; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Takes what the job reports on its way. */
  onReport?(report: unknown): void;
}

/** Processes that are killed before they can take a job, as a system short of memory does, are started again so often. */
const MAX_STARTS = 3;

/**
 * Child processes that take one job at a time each, so that a crash in native code costs that job and nothing else.
 * They are started when they are needed, and end with their parent.
 */
export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  readonly #idle: PoolProcess[] = [];
  readonly #all = new Set<PoolProcess>();
  readonly #waiting: (() => void)[] = [];
  readonly #aborts = new AbortListeners();
  #busy = 0;
  #isClosed = false;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  /**
   * Has a job done by one of the processes. A job and its result are plain data.
   *
   * @throws what the job threw, as an `Error` with its message; the signal's reason; CutroomError when no process can be
   *   started, which is no fault of the job.
   */
  async run<R>(job: unknown, options: RunJobOptions = {}): Promise<JobOutcome<R>> {
    while (this.#busy >= this.#options.size) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    this.#busy += 1;
    try {
      for (let starts = 1; ; starts += 1) {
        options.signal?.throwIfAborted();
        if (this.#isClosed) throw new Error('The process pool is closed');
        const worker = this.#idle.pop() ?? this.#start();
        const outcome = await worker.run(job, this.#options.silenceMs, options, this.#aborts);
        if (outcome.kind === 'died' || outcome.kind === 'hung') return outcome;
        if (outcome.kind !== 'not_started') {
          this.#idle.push(worker);
          if (outcome.kind === 'failed') throw new Error(outcome.message);
          return { kind: 'done', value: outcome.value as R };
        }
        if (!outcome.isStopped || starts === MAX_STARTS) throw cannotStart(outcome.how);
      }
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Ends all processes at once; what they have on disk by then stays. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((worker) => worker.kill()));
  }

  #start(): PoolProcess {
    try {
      const { program, inheritedFiles = [] } = this.#options;
      const worker = new PoolProcess(program, inheritedFiles, () => {
        this.#all.delete(worker);
        const at = this.#idle.indexOf(worker);
        if (at >= 0) this.#idle.splice(at, 1);
      });
      this.#all.add(worker);
      return worker;
    } catch (error) {
      throw cannotStart(errorMessage(error), error);
    }
  }
}

function cannotStart(how: string, cause?: unknown): CutroomError {
  return new CutroomError('output', `Cannot start a decoder process: ${how}`, {
    cause,
    hint: 'See that memory is free and that the package is installed whole; fewer --jobs need less of it.',
  });
}
