import type { TextStream } from './context.js';

/** How often the line of a terminal is renewed, and how often a log gets a line. */
const TERMINAL_MS = 100;
const LOG_MS = 10_000;
const CLEAR_LINE = '\r\u001b[K';

/** One line of progress: renewed in place on a terminal, a plain line now and then elsewhere. */
export class ProgressLine {
  readonly #stream: TextStream;
  readonly #isQuiet: boolean;
  readonly #periodMs: number;
  #lastMs: number;
  #isShown = false;

  constructor(stream: TextStream, isQuiet: boolean) {
    this.#stream = stream;
    this.#isQuiet = isQuiet;
    this.#periodMs = stream.isTerminal ? TERMINAL_MS : LOG_MS;
    this.#lastMs = performance.now();
  }

  /** Shows the text, if it is time for it. */
  show(format: () => string): void {
    if (this.#isQuiet || performance.now() - this.#lastMs < this.#periodMs) return;
    this.#lastMs = performance.now();
    if (this.#stream.isTerminal) {
      // A line that wraps could not be taken away.
      const width = Math.max(1, (this.#stream.columns ?? Infinity) - 1);
      this.#stream.write(`${CLEAR_LINE}${format().slice(0, width)}`);
      this.#isShown = true;
    } else {
      this.#stream.write(`${format()}\n`);
    }
  }

  /** Writes a line that stays. */
  note(text: string): void {
    if (this.#isQuiet) return;
    this.end();
    this.#stream.write(`${text}\n`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#isShown) this.#stream.write(CLEAR_LINE);
    this.#isShown = false;
  }
}
