import { Worker } from 'node:worker_threads';
import { wholeMessage } from '../errors.js';
import type { ThreadMessage, ThreadOrder } from './thread-child.js';
import { ThreadSigns } from './thread-signs.js';

/** A job, with the memory that goes over with it and is gone here. */
export interface ThreadJob {
  job: unknown;
  moved: readonly ArrayBuffer[];
}

/** How a thread dealt with a job. With `not_started` it never had it. */
export type ThreadOutcome =
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; message: string }
  | { kind: 'died'; how: string; step: number }
  | { kind: 'not_started'; how: string };

/** A thread that was asked to end is stopped in the middle of its work after so long. */
const GRACE_MS = 500;

/** One thread of a `ThreadPool`, from its start to its end; it takes one job at a time. While it has none, it keeps no process alive. */
export class PoolThread {
  readonly #worker: Worker;
  readonly #signs = new ThreadSigns();
  readonly #exited: Promise<void>;
  /** Set once the thread is gone: why. */
  #end: string | undefined;
  #fault: string | undefined;
  #isReady = false;
  #jobs = 0;
  #onOutcome: ((outcome: ThreadOutcome) => void) | undefined;

  /** @throws what the system says when it has no thread to give. */
  constructor(program: URL, onExit: () => void) {
    // Options of the process are meant for its own program.
    this.#worker = new Worker(program, { workerData: this.#signs.memory, execArgv: [] });
    this.#worker.on('message', (message: ThreadMessage) => {
      if (message.kind === 'ready') this.#isReady = true;
      else this.#onOutcome?.(message);
    });
    this.#worker.on('messageerror', (error) => {
      this.#onOutcome?.({ kind: 'failed', message: wholeMessage(error) });
    });
    this.#worker.on('error', (error) => (this.#fault = wholeMessage(error)));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#end = this.#fault ?? `exit code ${code}`;
        onExit();
        this.#onOutcome?.(this.#describeEnd(this.#end));
        resolve();
      });
    });
    this.#worker.unref();
  }

  /** Whether it has begun to wait for jobs. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Does a job; the promise settles when the thread can take another one, or is gone. */
  async run({ job, moved }: ThreadJob): Promise<ThreadOutcome> {
    this.#jobs += 1;
    this.#signs.step = 0;
    this.#signs.wantedJob = this.#jobs;
    this.#worker.ref();
    try {
      return await new Promise<ThreadOutcome>((resolve, reject) => {
        this.#onOutcome = resolve;
        // A thread that is gone by now takes nothing, and has told so.
        if (this.#end !== undefined) resolve(this.#describeEnd(this.#end));
        try {
          this.#tell({ kind: 'job', number: this.#jobs, job }, moved);
        } catch (error) {
          reject(error);
        }
      });
    } finally {
      this.#onOutcome = undefined;
      this.#worker.unref();
    }
  }

  /** Says that nobody waits for the job any more: what follows is left out, and keeps no process alive. */
  drop(): void {
    this.#signs.wantedJob = 0;
    this.#worker.unref();
  }

  /** Resolves when the thread is gone. */
  async close(): Promise<void> {
    if (this.#end !== undefined) return;
    this.drop();
    this.#worker.ref();
    this.#tell({ kind: 'end' });
    const timer = setTimeout(() => void this.#worker.terminate(), GRACE_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  #tell(order: ThreadOrder, moved: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, moved);
  }

  #describeEnd(how: string): ThreadOutcome {
    return this.#isReady ? { kind: 'died', how, step: this.#signs.step } : { kind: 'not_started', how };
  }
}
