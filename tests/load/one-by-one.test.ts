import { describe, expect, it } from 'vitest';
import type { ItemTable } from '#cutroom/load/item-table.js';
import { stepOfItems } from '#cutroom/load/one-by-one.js';

function tableOf(seconds: readonly number[], excerptSeconds?: number): ItemTable {
  const excerpts = excerptSeconds === undefined ? undefined : { durationMicros: excerptSeconds * 1e6 };
  return {
    rowCount: seconds.length,
    // What lies behind the rows means nothing.
    durationsMicros: Float64Array.from([...seconds, 9e9], (length) => length * 1e6),
    leaves: [{ excerpts: undefined }, { excerpts }],
  } as unknown as ItemTable;
}

describe('stepOfItems()', () => {
  const options = { isNative: false, jobs: 2, copies: 1 };

  it.each([
    [[1, 30, 2], options, 32, 4],
    [[], options, 32, 4],
    [[37.5], options, 32, 4],
    [[37.6], options, 31, 4],
    [[1200, 1], options, 1, 4],
    [[1201], options, 1, 3],
    [[3600], options, 1, 2],
    [[3600], { ...options, jobs: 3 }, 1, 3],
    [[3600], { ...options, jobs: 64 }, 1, 64],
    [[240], { ...options, jobs: 64 }, 5, 13],
    [[30], { ...options, jobs: 64 }, 32, 4],
    [[30], { ...options, jobs: 320 }, 32, 10],
    [[36_000], { ...options, jobs: 0 }, 1, 2],
    [[100], { ...options, copies: 3 }, 12, 4],
    [[30], { ...options, copies: 3 }, 39, 4],
    [[30], { ...options, isNative: true }, 1, 64],
    [[3600], { ...options, isNative: true }, 1, 2],
    [[3600], { ...options, isNative: true, jobs: 16 }, 1, 16],
    [[3600], { ...options, isNative: true, jobs: 100 }, 1, 100],
  ])('of rows of %j s with %j has batches of %i, and %i ahead', (seconds, given, batchSize, prefetch) => {
    expect(stepOfItems(tableOf(seconds), given)).toEqual({ batchSize, prefetch });
  });

  it('looks at excerpts too', () => {
    expect(stepOfItems(tableOf([1], 600), options)).toEqual({ batchSize: 2, prefetch: 4 });
  });
});
