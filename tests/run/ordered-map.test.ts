import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { orderedMap } from '#cutroom/run/ordered-map.js';

/** Work that ends when it is told to. */
class Gate {
  readonly #waiting = new Map<number, { resolve: (value: number) => void; reject: (reason: unknown) => void }>();
  readonly started: number[] = [];
  readonly aborted: number[] = [];

  readonly run = (item: number, signal: AbortSignal): Promise<number> => {
    this.started.push(item);
    return new Promise((resolve, reject) => {
      this.#waiting.set(item, { resolve, reject });
      signal.addEventListener('abort', () => {
        this.aborted.push(item);
        reject(signal.reason as Error);
      });
    });
  };

  open(item: number): void {
    this.#waiting.get(item)?.resolve(item * 10);
  }

  fail(item: number, reason: unknown): void {
    this.#waiting.get(item)?.reject(reason);
  }
}

/** Lets everything happen that waits for nothing but promises. */
const settle = (): Promise<void> => sleep(1);

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const result of results) found.push(result);
  return found;
}

describe('orderedMap()', () => {
  test('yields in the order of the source, within its limits, whatever ends first', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 4 }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 5 }),
        fc.nat({ max: 5 }),
        fc.boolean(),
        fc.boolean(),
        async (delays, concurrency, extra, isAsync, isConsumerSlow) => {
          const window = concurrency + extra;
          let running = 0;
          let started = 0;
          let taken = 0;
          async function* later() {
            for (const item of delays.entries()) {
              await sleep(item[1] % 2);
              yield item;
            }
          }
          const results = orderedMap(
            isAsync ? later() : delays.entries(),
            { concurrency, window },
            async ([index, delay]) => {
              running++;
              started++;
              expect(running).toBeLessThanOrEqual(concurrency);
              // One more may be on its way to the consumer.
              expect(started - taken).toBeLessThanOrEqual(window + 1);
              if (delay > 0) await sleep(delay - 1);
              running--;
              return index;
            },
          );
          const found: number[] = [];
          for await (const index of results) {
            taken++;
            found.push(index);
            if (isConsumerSlow) await sleep(1);
          }
          expect(found).toEqual([...delays.keys()]);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('starts as many as allowed, and no more before results are taken', async () => {
    const gate = new Gate();
    const results = orderedMap([0, 1, 2, 3, 4, 5, 6, 7], { concurrency: 2, window: 4 }, gate.run);
    const first = results.next();
    await settle();
    expect(gate.started).toEqual([0, 1]);
    gate.open(1);
    await settle();
    gate.open(2);
    await settle();
    gate.open(3);
    await settle();
    expect(gate.started).toEqual([0, 1, 2, 3]);
    gate.open(0);
    expect(await first).toEqual({ done: false, value: 0 });
    await settle();
    expect(gate.started).toEqual([0, 1, 2, 3, 4]);
    expect(await results.next()).toEqual({ done: false, value: 10 });
    await results.return();
  });

  test('does not read the source before it is asked, nor past its window', async () => {
    let pulled = 0;
    function* source() {
      for (;;) yield pulled++;
    }
    const results = orderedMap(source(), { concurrency: 3, window: 3 }, (item) => Promise.resolve(item));
    await settle();
    expect(pulled).toBe(0);
    await results.next();
    await settle();
    expect(pulled).toBe(4);
    await results.return();
  });

  test('ends with the first failure in source order, after the results before it', async () => {
    const gate = new Gate();
    const results = orderedMap([0, 1, 2, 3, 4, 5], { concurrency: 4, window: 4 }, gate.run);
    const first = results.next();
    await settle();
    gate.fail(3, new Error('three'));
    await settle();
    gate.fail(1, new Error('one'));
    gate.open(0);
    expect(await first).toEqual({ done: false, value: 0 });
    await expect(results.next()).rejects.toThrow('one');
    expect(gate.started).toEqual([0, 1, 2, 3]);
    expect(gate.aborted).toContain(2);
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  test('waits for the others before it throws', async () => {
    let isDone = false;
    const results = orderedMap([0, 1], { concurrency: 2, window: 2 }, async (item) => {
      await sleep(item === 0 ? 5 : 40);
      if (item === 0) throw new Error('zero');
      isDone = true;
    });
    await expect(results.next()).rejects.toThrow('zero');
    expect(isDone).toBe(true);
  });

  test('treats a failing source as a failure after its items', async () => {
    async function* source() {
      yield 1;
      yield 2;
      await sleep(1);
      throw new Error('line 3');
    }
    const found: number[] = [];
    const reading = (async () => {
      for await (const result of orderedMap(source(), { concurrency: 4, window: 8 }, (item) => sleep(5, item)))
        found.push(result);
    })();
    await expect(reading).rejects.toThrow('line 3');
    expect(found).toEqual([1, 2]);
  });

  test('left early, aborts and waits, and closes the source', async () => {
    const events: string[] = [];
    function* source() {
      try {
        for (let item = 0; ; item++) yield item;
      } finally {
        events.push('closed');
      }
    }
    const results = orderedMap(source(), { concurrency: 3, window: 3 }, async (item, signal) => {
      if (item === 0) return item;
      await sleep(1000, undefined, { signal }).catch(() => sleep(5));
      events.push(`ended ${item}`);
      return item;
    });
    for await (const item of results) {
      expect(item).toBe(0);
      break;
    }
    expect(events.toSorted()).toEqual(['closed', 'ended 1', 'ended 2', 'ended 3']);
  });

  test('stops with the reason of its signal, also when the work ignores it', async () => {
    const controller = new AbortController();
    let started = 0;
    const results = orderedMap(
      Array(100).keys(),
      { concurrency: 2, window: 4, signal: controller.signal },
      async (item) => {
        started++;
        await sleep(2);
        return item;
      },
    );
    await results.next();
    controller.abort(new Error('SIGTERM'));
    const startedBefore = started;
    await expect(results.next()).rejects.toThrow('SIGTERM');
    expect(started).toBe(startedBefore);
    const late = orderedMap([1], { concurrency: 1, window: 1, signal: controller.signal }, (item) =>
      Promise.resolve(item),
    );
    await expect(late.next()).rejects.toThrow('SIGTERM');
  });

  test('reports a function that throws at once, and yields nothing of an empty source', async () => {
    const throwing = orderedMap([1], { concurrency: 1, window: 1 }, () => {
      throw new Error('at once');
    });
    await expect(throwing.next()).rejects.toThrow('at once');
    expect(await collect(orderedMap([], { concurrency: 1, window: 1 }, (item) => Promise.resolve(item)))).toEqual([]);
  });

  test.each([
    { concurrency: 0, window: 1 },
    { concurrency: 2, window: 1 },
    { concurrency: 1.5, window: 2 },
    { concurrency: 1, window: Number.NaN },
  ])('refuses concurrency $concurrency with window $window', async (options) => {
    await expect(orderedMap([1], options, (item) => Promise.resolve(item)).next()).rejects.toThrow(RangeError);
  });
});
