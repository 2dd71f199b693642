import { array, assert, constantFrom, double, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#cutroom/errors.js';
import { countShards, splitRows, type Split } from '#cutroom/build/split.js';

const sizesOf = ({ starts }: Split): number[] =>
  Array.from(starts.subarray(1), (end, shard) => end - (starts[shard] ?? 0));

const rowsOf = ({ order, starts }: Split, shard: number): number[] => [
  ...order.subarray(starts[shard], starts[shard + 1]),
];

const shapes = record({
  count: integer({ min: 1, max: 200 }),
  seed: integer(),
  share: double({ min: 0, max: 1, noNaN: true }),
}).map(({ count, seed, share }) => ({ count, seed, shards: 1 + Math.floor(share * (count - 1)) }));

describe('splitRows()', () => {
  it('gives each row to one shard, and none is empty', () => {
    assert(
      property(shapes, constantFrom('samples', 'duration'), ({ count, seed, shards }, balanceBy) => {
        const split = splitRows(count, shards, { balanceBy, seed }, (row) => 1 + (row % 7));
        expect([...split.order].toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, row) => row));
        expect(sizesOf(split)).toHaveLength(shards);
        expect(Math.min(...sizesOf(split))).toBeGreaterThan(0);
      }),
    );
  });

  it('by samples keeps sizes within one of each other', () => {
    assert(
      property(shapes, ({ count, seed, shards }) => {
        const sizes = sizesOf(splitRows(count, shards, { balanceBy: 'samples', seed }, () => -1));
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('by duration keeps shards within the longest row of each other', () => {
    const durations = array(integer({ min: 1, max: 30_000_000 }), { minLength: 1, maxLength: 150 });
    assert(
      property(durations, integer({ min: 1, max: 20 }), integer(), (micros, wanted, seed) => {
        const shards = Math.min(wanted, micros.length);
        const split = splitRows(micros.length, shards, { balanceBy: 'duration', seed }, (row) => micros[row] ?? 0);
        const sums = Array.from({ length: shards }, (_, shard) =>
          rowsOf(split, shard).reduce((sum, row) => sum + (micros[row] ?? 0), 0),
        );
        expect(Math.max(...sums) - Math.min(...sums)).toBeLessThanOrEqual(Math.max(...micros));
        expect(Math.min(...sizesOf(split))).toBeGreaterThan(0);
      }),
    );
  });

  it('by duration leaves no trace of the lengths in the order of a shard', () => {
    // One shard in ten rows is long; its mean place over many seeds is the middle.
    let places = 0;
    const rounds = 2000;
    for (let seed = 0; seed < rounds; seed += 1) {
      const split = splitRows(20, 2, { balanceBy: 'duration', seed }, (row) => (row < 2 ? 50 : 10));
      places += rowsOf(split, 0).findIndex((row) => row < 2) / (sizesOf(split)[0]! - 1);
    }
    expect(places / rounds).toBeCloseTo(0.5, 1);
  });

  it('gives the same for the same seed and another for another', () => {
    const split = (seed: number): number[] => [...splitRows(50, 4, { balanceBy: 'duration', seed }, () => 1).order];
    expect(split(42)).toEqual(split(42));
    expect(split(42)).not.toEqual(split(43));
  });
});

describe('countShards()', () => {
  const unused = (): number => {
    throw new Error('not asked for');
  };

  it('takes the number that is asked for, of no power of two', () => {
    expect(countShards({ kind: 'num-tars', count: 48 }, 48, unused)).toBe(48);
  });

  it('refuses more shards than rows', () => {
    expect(() => countShards({ kind: 'num-tars', count: 4 }, 3, unused)).toThrow(InputError);
  });

  it('rounds up from samples and hours a shard', () => {
    expect(countShards({ kind: 'samples-per-tar', each: 10 }, 101, unused)).toBe(11);
    expect(countShards({ kind: 'duration-per-tar', each: 0.5 }, 101, () => 3601e6)).toBe(3);
  });

  it('never gives more shards than rows by hours', () => {
    expect(countShards({ kind: 'duration-per-tar', each: 1e-6 }, 3, () => 3600e6)).toBe(3);
  });
});
