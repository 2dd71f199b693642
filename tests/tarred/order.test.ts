import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planBuckets } from '#cutroom/tarred/buckets.js';
import { estimateBins } from '#cutroom/tarred/bins.js';
import { countFiles, orderRows, sortShards, splitRows, type Partition } from '#cutroom/tarred/order.js';

const upTo = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, index) => index);

function shardsOf({ rows, ends }: Partition): number[][] {
  return ends.map((end, shard) => Array.from(rows.subarray(ends[shard - 1] ?? 0, end)));
}

describe('orderRows()', () => {
  it('keeps the order without a seed, and shuffles as Python does with one', () => {
    expect(Array.from(orderRows(upTo(4), { shuffleSeed: undefined, fileNumbers: undefined }))).toEqual([0, 1, 2, 3]);
    const shuffled = orderRows(upTo(12), { shuffleSeed: 42, fileNumbers: undefined });
    expect(shuffled.join(' ')).toBe('7 5 2 8 9 6 11 3 4 0 1 10');
  });

  it('shuffles files as a whole, in the order that they are met in', () => {
    const fileNumbers = [5, 9, 5, 7, 9];
    const ordered = orderRows(upTo(5), { shuffleSeed: undefined, fileNumbers });
    expect(Array.from(ordered)).toEqual([0, 2, 1, 4, 3]);
    // random.seed(1); files = [5, 9, 7]; random.shuffle(files)
    expect(Array.from(orderRows(upTo(5), { shuffleSeed: 1, fileNumbers }))).toEqual([1, 4, 3, 0, 2]);
  });
});

describe('splitRows()', () => {
  it('keeps sizes within one of each other, and loses no row', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 200 }), (shardCount, more) => {
        const rows = upTo(shardCount + more);
        const partition = splitRows(rows, { shardCount, remainder: 'spread', fileNumbers: undefined });
        const sizes = shardsOf(partition).map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(shardsOf(partition).flat()).toEqual(Array.from(rows));
        expect(partition.dropped).toHaveLength(0);
      }),
    );
  });

  it('drops what is too much for equal shards, from the end', () => {
    const partition = splitRows(upTo(11), { shardCount: 3, remainder: 'drop', fileNumbers: undefined });
    expect(shardsOf(partition)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6, 7, 8],
    ]);
    expect(Array.from(partition.dropped)).toEqual([9, 10]);
  });

  it('never divides a file, and leaves no shard empty, where files are kept together', () => {
    const files = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(files, fc.nat(), (sizes, pick) => {
        const fileNumbers = sizes.flatMap((size, file) => Array.from({ length: size }, () => file));
        const shardCount = 1 + (pick % sizes.length);
        const rows = upTo(fileNumbers.length);
        const shards = shardsOf(splitRows(rows, { shardCount, remainder: 'spread', fileNumbers }));
        expect(shards.flat()).toEqual(Array.from(rows));
        expect(shards.filter(({ length }) => length === 0)).toEqual([]);
        const parts = shards.flatMap((shard) => [...new Set(shard.map((row) => fileNumbers[row]))]);
        expect(parts).toHaveLength(countFiles(rows, fileNumbers));
      }),
    );
  });
});

describe('sortShards()', () => {
  it('sorts each shard, stably, with unknown durations last', () => {
    const partition = { rows: upTo(6), ends: [4, 6], dropped: upTo(0) };
    sortShards(partition, [3, Number.NaN, 1, 1, 2, 1]);
    expect(shardsOf(partition)).toEqual([
      [2, 3, 0, 1],
      [5, 4],
    ]);
  });
});

describe('planBuckets()', () => {
  it('leaves no gap and no overlap', () => {
    const durations = fc.integer({ min: 0, max: 60_000_000 });
    fc.assert(
      fc.property(durations, durations, fc.integer({ min: 2, max: 30 }), (a, b, count) => {
        fc.pre(a !== b);
        const [min, max] = [Math.min(a, b), Math.max(a, b)];
        const buckets = planBuckets(count, min / 1e6, max / 1e6);
        expect(buckets[0]?.startMicros).toBe(min);
        expect(buckets.at(-1)?.endMicros).toBe(max + 10);
        for (const [index, { startMicros }] of buckets.entries()) {
          if (index > 0) expect(startMicros).toBe(buckets[index - 1]?.endMicros);
        }
      }),
    );
  });
});

describe('estimateBins()', () => {
  it('closes a bin behind the row that makes it full', () => {
    expect(estimateBins(Float64Array.from([4, 1, 3, 2, Number.NaN]), 2)).toEqual([4]);
    expect(estimateBins(Float64Array.from([]), 30)).toEqual([]);
  });
});
