import { RayUnreachableError } from './ray-http.js';
import { OutputError } from '../errors.js';

/** How long Ray may be away. */
export interface OutageOptions {
  /** Pause before it is asked again; doubles each time. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** Away for so long, it is given up. */
  patienceMs: number;
  onNote: (message: string) => void;
  now: () => number;
}

/** Keeps account of a time in which Ray does not answer: the watch goes on with what was known last. */
export class Outage {
  readonly #options: OutageOptions;
  #sinceMs: number | undefined;
  #pauseMs = 0;
  #againMs = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Ray is away, and it is too early to ask again. */
  get isPausing(): boolean {
    return this.#sinceMs !== undefined && this.#options.now() < this.#againMs;
  }

  get isAway(): boolean {
    return this.#sinceMs !== undefined;
  }

  /**
   * Notes a call that failed.
   *
   * @throws what it failed of, unless that may pass; and when it has not passed for too long.
   */
  note(error: unknown): void {
    if (!(error instanceof RayUnreachableError)) throw error;
    const { firstPauseMs, longestPauseMs, patienceMs, onNote, now } = this.#options;
    if (this.#sinceMs === undefined) {
      this.#sinceMs = now();
      this.#pauseMs = firstPauseMs;
      onNote(`${error.message}; the watch goes on, and Ray is asked again`);
    } else this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    this.#againMs = now() + this.#pauseMs;
    const awayMs = now() - this.#sinceMs;
    if (awayMs < patienceMs) return;
    throw new OutputError(`${error.message}; it has been so for ${Math.round(awayMs / 1000)} s`, {
      hint: 'Jobs may go on. Give the same command again when Ray is back: it goes on with what is there.',
      cause: error,
    });
  }

  /** Notes a call that was answered. */
  end(): void {
    if (this.#sinceMs === undefined) return;
    this.#options.onNote(`Ray answers again, after ${Math.round((this.#options.now() - this.#sinceMs) / 1000)} s`);
    this.#sinceMs = undefined;
  }
}
