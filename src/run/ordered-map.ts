/** How much an `orderedMap` does at once. */
export interface OrderedMapOptions {
  /** How many items `fn` works on at once, at most. */
  concurrency: number;
  /** How many items are started and not yet handed over, at most: bounds the memory that waiting results take. At least `concurrency`. */
  window: number;
  /** Ends the work: the items' signal fires, and the generator throws the reason when all of them have settled. */
  signal?: AbortSignal | undefined;
}

/**
 * Runs `fn` on the items of a source, several at once, and yields the results in the order of the source.
 *
 * ```
 * source   5 6 7 ...      not taken from it yet
 * window   1 2 3 4        started: 1 is slow, 2 and 3 are done and wait for it, 4 is running
 * yielded  0
 * ```
 *
 * The first failure in the order of the source ends it: the results before it are yielded, no item is started once a failure is known, and the
 * others' signal fires. The generator only ends (also by the consumer's `break`) when every call of `fn` has settled, so nothing goes on
 * behind its back.
 *
 * @throws what `fn` or the source threw, or the reason of `signal`.
 * @throws {RangeError} when an option is no whole number, or `window` is below `concurrency`.
 */
export async function* orderedMap<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  options: OrderedMapOptions,
  fn: (item: T, signal: AbortSignal) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const { concurrency, window, signal } = options;
  requireCount('concurrency', concurrency, 1);
  requireCount('window', window, concurrency);
  signal?.throwIfAborted();
  const work = new OrderedWork(source, concurrency, window, fn);
  const stop = () => work.stop(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const outcome = await work.next();
      signal?.throwIfAborted();
      if (outcome === undefined) return;
      if ('error' in outcome) throw outcome.error;
      yield outcome.value;
      signal?.throwIfAborted();
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    await work.end();
  }
}

type Outcome<R> = { value: R } | { error: unknown };

class OrderedWork<T, R> {
  readonly #iterator: AsyncIterator<T> | Iterator<T>;
  readonly #concurrency: number;
  readonly #window: number;
  readonly #fn: (item: T, signal: AbortSignal) => Promise<R>;
  readonly #controller = new AbortController();
  /** What was started and not handed over, in the order of the source. */
  readonly #started: Promise<Outcome<R>>[] = [];
  #runningCount = 0;
  #pull: Promise<void> | undefined;
  #isExhausted = false;
  #isStopped = false;

  constructor(
    source: AsyncIterable<T> | Iterable<T>,
    concurrency: number,
    window: number,
    fn: (item: T, signal: AbortSignal) => Promise<R>,
  ) {
    this.#iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.#concurrency = concurrency;
    this.#window = window;
    this.#fn = fn;
  }

  /** The next outcome in the order of the source; undefined when there is none. */
  async next(): Promise<Outcome<R> | undefined> {
    this.#fill();
    while (this.#started.length === 0 && this.#pull !== undefined) await this.#pull;
    const outcome = await this.#started[0];
    void this.#started.shift();
    this.#fill();
    return outcome;
  }

  /** Starts nothing more, and fires the signal of what is running. */
  stop(reason?: unknown): void {
    this.#isStopped = true;
    this.#controller.abort(reason);
  }

  /** Stops, waits until everything started has settled, and closes the source where it is not exhausted. */
  async end(): Promise<void> {
    this.stop();
    await this.#pull;
    await Promise.all(this.#started);
    if (!this.#isExhausted) await this.#iterator.return?.();
  }

  /** Takes items from the source, one after the other, while there is room for them. */
  #fill(): void {
    if (this.#pull !== undefined || !this.#hasRoom()) return;
    this.#pull = this.#pullItems();
  }

  #hasRoom(): boolean {
    const isOpen = !this.#isStopped && !this.#isExhausted;
    return isOpen && this.#runningCount < this.#concurrency && this.#started.length < this.#window;
  }

  async #pullItems(): Promise<void> {
    while (this.#hasRoom()) {
      try {
        const step = await this.#iterator.next();
        if (step.done === true) this.#isExhausted = true;
        else if (!this.#isStopped) this.#start(step.value);
      } catch (error) {
        this.#isExhausted = true;
        this.#started.push(Promise.resolve({ error }));
      }
    }
    // In the same turn as the last look at the room: an item that ends later finds nobody pulling, and pulls.
    this.#pull = undefined;
  }

  #start(item: T): void {
    this.#runningCount++;
    this.#started.push(this.#run(item));
  }

  async #run(item: T): Promise<Outcome<R>> {
    try {
      return { value: await this.#fn(item, this.#controller.signal) };
    } catch (error) {
      this.#isStopped = true;
      return { error };
    } finally {
      this.#runningCount--;
      this.#fill();
    }
  }
}

function requireCount(name: string, count: number, least: number): void {
  if (Number.isSafeInteger(count) && count >= least) return;
  throw new RangeError(`Cannot map with ${name} ${count}: it must be a whole number from ${least} on`);
}
