import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { ChildMessage } from './pool-child.js';

export interface ProcessPoolOptions {
  /** A program that calls `serveJobs`. */
  program: URL;
  /** How many processes there are at most. */
  size: number;
  /** A process that says nothing for so long while it has a job counts as hung, and is killed. */
  silenceMs: number;
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

/** How much of what a process wrote to stderr is kept for the message about its death. */
const STDERR_TAIL = 500;

/**
 * Child processes that take one job at a time each, so that a crash in native code costs that job and nothing else.
 * They are started when they are needed, and end with their parent.
 */
export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  readonly #idle: PoolProcess[] = [];
  readonly #all = new Set<PoolProcess>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #isClosed = false;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  /**
   * Has a job done by one of the processes. A job and its result are plain data.
   *
   * @throws what the job threw, as an `Error` with its message; the signal's reason.
   */
  async run<R>(job: unknown, options: RunJobOptions = {}): Promise<JobOutcome<R>> {
    while (this.#busy >= this.#options.size) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    options.signal?.throwIfAborted();
    if (this.#isClosed) throw new Error('The process pool is closed');
    this.#busy += 1;
    try {
      const worker = this.#idle.pop() ?? this.#start();
      const outcome = await worker.run<R>(job, this.#options.silenceMs, options);
      if (outcome.kind === 'done') this.#idle.push(worker);
      return outcome;
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
    const worker = new PoolProcess(this.#options.program, () => {
      this.#all.delete(worker);
      const at = this.#idle.indexOf(worker);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    this.#all.add(worker);
    return worker;
  }
}

interface Listener {
  onMessage(message: ChildMessage): void;
  onExit(how: string): void;
}

class PoolProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #isReady = false;
  #listener: Listener | undefined;
  #stderrTail = '';

  constructor(program: URL, onExit: () => void) {
    this.#child = fork(program, [], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      execArgv: ['--expose-gc'],
    });
    this.#child.stderr?.setEncoding('utf8');
    this.#child.stderr?.on('data', (text: string) => {
      this.#stderrTail = (this.#stderrTail + text).slice(-STDERR_TAIL);
    });
    this.#child.on('message', (message: ChildMessage) => {
      if (message.kind === 'ready') this.#isReady = true;
      else this.#listener?.onMessage(message);
    });
    this.#exited = new Promise((resolve) => {
      // `close` and not `exit`: by then all that it wrote to stderr has arrived.
      this.#child.on('close', (code, signal) => {
        onExit();
        this.#listener?.onExit(this.#describeExit(code, signal));
        resolve();
      });
      this.#child.on('error', (error) => {
        this.#stderrTail += error.message;
      });
    });
  }

  async run<R>(job: unknown, silenceMs: number, options: RunJobOptions): Promise<JobOutcome<R>> {
    const { signal } = options;
    let timer: NodeJS.Timeout | undefined;
    let hungSeconds: number | undefined;
    const abort = (): void => void this.#child.kill('SIGKILL');
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise<JobOutcome<R>>((resolve, reject) => {
        const watch = (): void => {
          clearTimeout(timer);
          timer = setTimeout(() => {
            hungSeconds = silenceMs / 1000;
            this.#child.kill('SIGKILL');
          }, silenceMs);
        };
        watch();
        this.#listener = {
          onMessage: (message) => {
            watch();
            if (message.kind === 'report') options.onReport?.(message.report);
            else if (message.kind === 'done') resolve({ kind: 'done', value: message.value as R });
            else if (message.kind === 'failed') reject(new Error(message.message));
          },
          onExit: (how) => {
            if (signal?.aborted === true) reject(signal.reason as Error);
            else if (hungSeconds !== undefined) resolve({ kind: 'hung', seconds: hungSeconds });
            else if (this.#isReady) resolve({ kind: 'died', how });
            else reject(new Error(`A decoder process could not start: ${how}`));
          },
        };
        // A process that is gone by now tells so by its exit.
        this.#child.send(job as object, () => undefined);
        if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
          this.#listener.onExit(this.#describeExit(this.#child.exitCode, this.#child.signalCode));
        }
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#listener = undefined;
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  #describeExit(code: number | null, signal: string | null): string {
    const how = signal === null ? `exit code ${code}` : signal;
    const said = this.#stderrTail.trim().split('\n').at(-1) ?? '';
    return said === '' ? how : `${how}: ${said}`;
  }
}
