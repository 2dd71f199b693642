import type { Excerpt } from './excerpt.js';

/** What an iterator walks over. */
export interface ExcerptSource {
  /** `Infinity` where it has no end. */
  readonly length: number;
  /** Undefined for one that is passed over. */
  get(index: number): Promise<Excerpt | undefined>;
}

export interface IterateOptions {
  /** Which of `ranks` trainer processes this is. Default 0 of 1. */
  rank?: number | undefined;
  ranks?: number | undefined;
  /** Which of the `workers` of each rank this is. Default 0 of 1. */
  worker?: number | undefined;
  workers?: number | undefined;
  /** Where to begin: the state of an iterator of any number of ranks and workers. Default 0. */
  state?: number | undefined;
  /** Excerpts that are decoded ahead, this one included. Default: 1 where decoding blocks this process, else 4 a process that decodes. */
  prefetch?: number | undefined;
}

type Outcome = { excerpt: Excerpt | undefined } | { error: unknown };

/**
 * Excerpts in the order of their indices, of which each of several iterators takes every so manieth:
 *
 * ```
 * state 100, 2 ranks of 2 workers     rank 0: worker 0 takes 100, 104, …; worker 1: 101, 105, …
 *                                     rank 1: worker 0 takes 102, 106, …; worker 1: 103, 107, …
 * ```
 *
 * All that is to be remembered is the state: the index before which everything was given, once all have given equally many.
 */
export class ExcerptIterator implements AsyncIterableIterator<Excerpt> {
  readonly #source: ExcerptSource;
  readonly #stream: number;
  readonly #streams: number;
  readonly #prefetch: number;
  readonly #ahead: Promise<Outcome>[] = [];
  #state: number;
  #isEnded = false;

  /** @throws {RangeError} when an option is out of its range. */
  constructor(source: ExcerptSource, options: IterateOptions, defaultPrefetch: number) {
    const { rank = 0, ranks = 1, worker = 0, workers = 1, state = 0, prefetch = defaultPrefetch } = options;
    for (const [name, part, whole] of [['rank', rank, ranks] as const, ['worker', worker, workers] as const]) {
      const isPart = Number.isSafeInteger(part) && Number.isSafeInteger(whole) && part >= 0 && part < whole;
      if (!isPart) throw new RangeError(`There is no ${name} ${part} of ${whole}: they are numbered from 0`);
    }
    if (!Number.isSafeInteger(prefetch) || prefetch < 1) {
      throw new RangeError(`prefetch must be a whole number from 1 on, not ${prefetch}`);
    }
    this.#source = source;
    this.#stream = rank * workers + worker;
    this.#streams = ranks * workers;
    this.#prefetch = prefetch;
    this.#state = checkState(state, source.length);
  }

  /** Where an iterator of any number of ranks and workers goes on; the same for all once they have given equally many. */
  get state(): number {
    return this.#state;
  }

  /**
   * Goes on from a state; what was decoded ahead is dropped.
   *
   * @throws {RangeError} when it is none of this dataset.
   */
  restore(state: number): void {
    this.#state = checkState(state, this.#source.length);
    this.#ahead.length = 0;
    this.#isEnded = false;
  }

  /** @throws what decoding throws; the state then tells the excerpt that failed, and it is tried again. */
  async next(): Promise<IteratorResult<Excerpt, undefined>> {
    for (;;) {
      this.#fill();
      const first = this.#ahead[0];
      if (first === undefined) return { done: true, value: undefined };
      const outcome = await first;
      // A call that came in between, or a restored state, has taken it off.
      if (this.#ahead[0] !== first) continue;
      if ('error' in outcome) {
        this.#ahead.length = 0;
        throw outcome.error;
      }
      void this.#ahead.shift();
      this.#state += this.#streams;
      if (outcome.excerpt !== undefined) return { done: false, value: outcome.excerpt };
    }
  }

  async return(): Promise<IteratorResult<Excerpt, undefined>> {
    this.#isEnded = true;
    const running = this.#ahead.splice(0);
    await Promise.all(running);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #fill(): void {
    while (!this.#isEnded && this.#ahead.length < this.#prefetch) {
      const index = this.#state + this.#stream + this.#ahead.length * this.#streams;
      if (index >= this.#source.length) return;
      this.#ahead.push(
        this.#source.get(index).then(
          (excerpt) => ({ excerpt }),
          (error: unknown) => ({ error }),
        ),
      );
    }
  }
}

function checkState(state: number, length: number): number {
  if (Number.isSafeInteger(state) && state >= 0) return state;
  throw new RangeError(`There is no state ${state}: it is a whole number from 0 on, and ${length} at the end`);
}
