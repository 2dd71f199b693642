import { CutroomError, errorMessage } from '../errors.js';
import { AbortListeners } from './abort-listeners.js';
import { PoolThread } from './pool-thread.js';
import type { ThreadJob, ThreadOutcome } from './pool-thread.js';

export interface ThreadPoolOptions {
  /** A program that calls `serveThreadJobs`. */
  program: URL;
  /** How many threads there are at most. */
  size: number;
}

/** What became of a job: `died` speaks for the thread that had it, which was at this step. */
export type ThreadJobOutcome<R> = { kind: 'done'; value: R } | { kind: 'died'; how: string; step: number };

/**
 * Threads of this process that take one job at a time each, in the order in which jobs come. One that ends by itself costs that job; a crash in
 * native code ends all.
 */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #idle: PoolThread[] = [];
  readonly #all = new Set<PoolThread>();
  readonly #waiting: (() => void)[] = [];
  readonly #aborts = new AbortListeners();
  #busy = 0;
  #isClosed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /** Whether threads were started, and none of them can take a job so far. */
  get isStarting(): boolean {
    return this.#all.size > 0 && ![...this.#all].some((thread) => thread.isReady);
  }

  /** Starts all threads before there is work for them. What fails here fails in `run`, too, which says so. */
  warmUp(): void {
    try {
      while (this.#all.size < this.#options.size) this.#idle.push(this.#start());
    } catch {
      // See above.
    }
  }

  /**
   * Has a job done by one of the threads.
   *
   * @param make is called when its turn comes. A job and its result are plain data.
   * @throws what the job threw, as an `Error` with its message; CutroomError when no thread can be started, which is no fault of the job; the signal's
   *   reason, at once: a thread that is at the job leaves out the rest of it, and its result is dropped.
   */
  async run<R>(make: () => ThreadJob, signal?: AbortSignal): Promise<ThreadJobOutcome<R>> {
    if (signal === undefined) return await this.#run<R>(make, signal);
    signal.throwIfAborted();
    return await new Promise((resolve, reject) => {
      const stopHearing = this.#aborts.add(signal, () => reject(signal.reason as Error));
      this.#run<R>(make, signal).finally(stopHearing).then(resolve, reject);
    });
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((thread) => thread.close()));
  }

  async #run<R>(make: () => ThreadJob, signal: AbortSignal | undefined): Promise<ThreadJobOutcome<R>> {
    while (this.#busy >= this.#options.size) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    this.#busy += 1;
    try {
      signal?.throwIfAborted();
      if (this.#isClosed) throw new Error('The thread pool is closed');
      const outcome = await this.#runOn(this.#idle.pop() ?? this.#start(), make(), signal);
      if (outcome.kind === 'failed') throw new Error(outcome.message);
      if (outcome.kind === 'not_started') throw cannotStart(outcome.how);
      return outcome.kind === 'died' ? outcome : { kind: 'done', value: outcome.value as R };
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #runOn(thread: PoolThread, job: ThreadJob, signal: AbortSignal | undefined): Promise<ThreadOutcome> {
    const stopHearing = signal && this.#aborts.add(signal, () => thread.drop());
    try {
      return await thread.run(job);
    } finally {
      stopHearing?.();
      if (this.#all.has(thread)) this.#idle.push(thread);
    }
  }

  #start(): PoolThread {
    try {
      const thread = new PoolThread(this.#options.program, () => {
        this.#all.delete(thread);
        const at = this.#idle.indexOf(thread);
        if (at >= 0) this.#idle.splice(at, 1);
      });
      this.#all.add(thread);
      return thread;
    } catch (error) {
      throw cannotStart(errorMessage(error), error);
    }
  }
}

function cannotStart(how: string, cause?: unknown): CutroomError {
  return new CutroomError('output', `Cannot start a decoder thread: ${how}`, {
    cause,
    hint: 'See that memory is free and that the package is installed whole.',
  });
}
