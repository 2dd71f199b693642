import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { AbortListeners } from './abort-listeners.js';
import type { ChildMessage } from './pool-child.js';
import type { RunJobOptions } from './process-pool.js';

/** How a process dealt with a job. With `not_started` it never had it. */
export type ProcessOutcome =
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; message: string }
  | { kind: 'died'; how: string }
  | { kind: 'hung'; seconds: number }
  | { kind: 'not_started'; how: string; isStopped: boolean };

/** Signals by which others end a process, where it does not crash by itself. */
const STOP_SIGNALS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']);

/** How much of what a process wrote to stderr is kept to find the reason of its death in. */
const STDERR_TAIL = 8_000;
/** How much of it is told. */
const REASON_LENGTH = 500;

/** One process of a `ProcessPool`, from its start to its end; it takes one job at a time. */
export class PoolProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  /** Set once the process is gone. */
  #exit: { code: number | null; signal: string | null } | undefined;
  #isReady = false;
  #onMessage: ((message: ChildMessage) => void) | undefined;
  #onExit: (() => void) | undefined;
  #stderrTail = '';

  /** @param inheritedFiles are files 4, 5 … of the process. */
  constructor(program: URL, inheritedFiles: readonly number[], onExit: () => void) {
    this.#child = fork(program, [], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...inheritedFiles],
      serialization: 'advanced',
      execArgv: ['--expose-gc'],
    });
    this.#child.stderr?.setEncoding('utf8');
    this.#child.stderr?.on('data', (text: string) => {
      this.#stderrTail = (this.#stderrTail + text).slice(-STDERR_TAIL);
    });
    this.#child.on('message', (message: ChildMessage) => {
      if (message.kind === 'ready') this.#isReady = true;
      else this.#onMessage?.(message);
    });
    this.#exited = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        if (this.#exit !== undefined) return;
        this.#exit = { code, signal };
        onExit();
        this.#onExit?.();
        resolve();
      };
      // `close` and not `exit`: by then all that it wrote to stderr has arrived.
      this.#child.on('close', end);
      this.#child.on('error', (error) => {
        this.#stderrTail += error.message;
        // Without a process there is nothing that could close.
        if (this.#child.pid === undefined) end(null, null);
      });
    });
  }

  /** Does a job. A signal or silence kills the process; the promise settles when it is gone. */
  async run(job: unknown, silenceMs: number, options: RunJobOptions, aborts: AbortListeners): Promise<ProcessOutcome> {
    const { signal } = options;
    const stopHearing = signal && aborts.add(signal, () => void this.#child.kill('SIGKILL'));
    let isHung = false;
    const watch = new SilenceWatch(silenceMs, () => {
      isHung = true;
      this.#child.kill('SIGKILL');
    });
    try {
      return await new Promise<ProcessOutcome>((resolve, reject) => {
        this.#onMessage = (message) => {
          watch.hear();
          if (message.kind === 'report') options.onReport?.(message.report);
          else if (message.kind !== 'ready') resolve(message);
        };
        this.#onExit = () => {
          if (signal?.aborted === true) reject(signal.reason as Error);
          else if (isHung) resolve({ kind: 'hung', seconds: silenceMs / 1000 });
          else if (this.#isReady) resolve({ kind: 'died', how: this.#describeExit() });
          else {
            const isStopped = STOP_SIGNALS.has(this.#exit?.signal ?? '');
            resolve({ kind: 'not_started', how: this.#describeExit(), isStopped });
          }
        };
        // A process that is gone by now tells so by its exit, and so does one that could not be made.
        if (this.#child.pid !== undefined) this.#child.send(job as object, () => undefined);
        if (this.#exit !== undefined) this.#onExit();
      });
    } finally {
      watch.stop();
      stopHearing?.();
      this.#onMessage = undefined;
      this.#onExit = undefined;
    }
  }

  /** Resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  #describeExit(): string {
    const { code, signal } = this.#exit ?? { code: null, signal: null };
    const said = findReason(this.#stderrTail);
    if (signal === null && code === null) return said;
    const how = signal ?? `exit code ${code}`;
    return said === '' ? how : `${how}: ${said}`;
  }
}

/** The line of an error where there is one: Node.js ends its report with the stack and its version. */
function findReason(said: string): string {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const reason = lines.findLast((line) => /^\w*Error\b/u.test(line)) ?? lines.at(-1) ?? '';
  return reason.slice(0, REASON_LENGTH);
}

const TICKS = 8;

/** Measures silence in ticks, so that time in which this process was itself stopped or starved does not count. */
class SilenceWatch {
  readonly #tickMs: number;
  readonly #timer: NodeJS.Timeout;
  #silentMs = 0;
  #lastTickMs = performance.now();

  constructor(limitMs: number, onSilence: () => void) {
    this.#tickMs = limitMs / TICKS;
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      this.#silentMs += Math.min(nowMs - this.#lastTickMs, 2 * this.#tickMs);
      this.#lastTickMs = nowMs;
      if (this.#silentMs >= limitMs) onSilence();
    }, this.#tickMs);
  }

  hear(): void {
    this.#silentMs = 0;
    this.#lastTickMs = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
