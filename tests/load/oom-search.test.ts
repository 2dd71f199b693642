// The search for batch sizes: the true limit for all trials that are monotone, and an end for all others.
import { array, assert, asyncProperty, boolean, infiniteStream, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchBatchSizes } from '#cutroom/load/oom-search.js';

const TRIALS_AT_MOST = Math.log2(65_536) + Math.log2(1 / 0.05) + 4;

describe('searchBatchSizes()', () => {
  it('finds the limit of each bucket within 5% or one item', async () => {
    await assert(
      asyncProperty(
        array(integer({ min: 0, max: 50_000 }), { minLength: 1, maxLength: 6 }),
        integer({ min: 1, max: 5000 }),
        async (limits, startBatchSize) => {
          const tried = new Set<string>();
          let trials = 0;
          const found = await searchBatchSizes(
            [...limits.entries()],
            ([bucket, limit], size) => {
              tried.add(`${bucket}:${size}`);
              trials += 1;
              return size <= limit;
            },
            { startBatchSize },
          );
          for (const [at, { batchSize, smallestFailed, trialCount }] of found.entries()) {
            const limit = limits[at] ?? 0;
            expect(batchSize).toBeLessThanOrEqual(limit);
            expect(smallestFailed).toBeGreaterThan(limit);
            expect(limit - batchSize).toBeLessThanOrEqual(Math.max(0, 0.05 * limit));
            expect(trialCount).toBeLessThanOrEqual(TRIALS_AT_MOST);
          }
          expect(tried.size).toBe(trials);
          expect(found.reduce((sum, { trialCount }) => sum + trialCount, 0)).toBe(trials);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('ends whatever the trials answer', async () => {
    await assert(
      asyncProperty(infiniteStream(boolean()), integer({ min: 1, max: 65_536 }), async (answers, start) => {
        const sizes: number[] = [];
        const [found] = await searchBatchSizes(
          ['only'],
          (_, size) => {
            sizes.push(size);
            return answers.next().value;
          },
          { startBatchSize: start },
        );
        expect(sizes.length).toBeLessThanOrEqual(TRIALS_AT_MOST);
        expect(new Set(sizes).size).toBe(sizes.length);
        expect(found?.trialCount).toBe(sizes.length);
      }),
      { numRuns: 200 },
    );
  });

  it('starts with the largest bucket, and the next at twice what was found', async () => {
    const tried: [string, number][] = [];
    const limits: Readonly<Record<string, number>> = { short: 40, long: 10 };
    const found = await searchBatchSizes(['short', 'long'], (bucket, size) => {
      tried.push([bucket, size]);
      return size <= (limits[bucket] ?? 0);
    });
    expect(tried).toEqual([
      ...[32, 16, 8, 12, 10, 11].map((size) => ['long', size]),
      ...[20, 40, 80, 60, 50, 45, 42].map((size) => ['short', size]),
    ]);
    expect(found).toEqual([
      { batchSize: 40, smallestFailed: 42, trialCount: 7 },
      { batchSize: 10, smallestFailed: 11, trialCount: 6 },
    ]);
  });

  it('answers 0 where a single item fails, and goes on with the others', async () => {
    const found = await searchBatchSizes([1, 2], (bucket, size) => bucket === 1 && size <= 3);
    expect(found).toEqual([
      { batchSize: 3, smallestFailed: 4, trialCount: 4 },
      { batchSize: 0, smallestFailed: 1, trialCount: 6 },
    ]);
  });

  it('tries nothing above the largest size', async () => {
    const sizes: number[] = [];
    const found = await searchBatchSizes([1], (_, size) => sizes.push(size) > 0, { maxBatchSize: 100 });
    expect(sizes).toEqual([32, 64, 100]);
    expect(found).toEqual([{ batchSize: 100, smallestFailed: undefined, trialCount: 3 }]);
  });

  it('passes on what a trial throws, and stops at the signal', async () => {
    await expect(
      searchBatchSizes([1], () => {
        throw new Error('no such device');
      }),
    ).rejects.toThrow('no such device');
    const abort = new AbortController();
    const seen: number[] = [];
    const search = searchBatchSizes([1], () => true, {
      signal: abort.signal,
      onTrial: ({ batchSize }) => {
        seen.push(batchSize);
        abort.abort(new Error('enough'));
      },
    });
    await expect(search).rejects.toThrow('enough');
    expect(seen).toEqual([32]);
  });

  it.each([{ startBatchSize: 0 }, { startBatchSize: 1.5 }, { maxBatchSize: 0 }, { tolerance: 1 }, { tolerance: NaN }])(
    'refuses %j',
    async (options) => {
      await expect(searchBatchSizes([1], () => true, options)).rejects.toThrow(RangeError);
    },
  );
});
