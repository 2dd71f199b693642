import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRepeatedNgrams } from '#cutroom/cut/repetition.js';

/** The n-grams that occur too often, by counting every window. */
function countWindows(tokens: readonly number[], n: number, maxCount: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at + n <= tokens.length; at += 1) {
    const key = tokens.slice(at, at + n).join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return new Map([...counts].filter(([, count]) => count > maxCount));
}

function found(tokens: readonly number[], n: number, maxCount: number): Map<string, number> {
  return new Map(
    findRepeatedNgrams(tokens, n, maxCount).map(({ position, count }) => [
      tokens.slice(position, position + n).join(' '),
      count,
    ]),
  );
}

describe('findRepeatedNgrams()', () => {
  const loop = [1, 2, 3, 1, 2, 3, 1, 2, 3];

  it('counts overlapping windows', () => {
    expect(found(loop, 3, 2)).toEqual(new Map([['1 2 3', 3]]));
    expect(found(loop, 3, 0)).toEqual(
      new Map([
        ['1 2 3', 3],
        ['2 3 1', 2],
        ['3 1 2', 2],
      ]),
    );
    expect(found(loop, 2, 0)).toEqual(
      new Map([
        ['1 2', 3],
        ['2 3', 3],
        ['3 1', 2],
      ]),
    );
  });

  it('takes only counts above the limit', () => {
    expect(found(loop, 3, 3).size).toBe(0);
    expect(found([...loop, 1, 2, 3], 3, 3)).toEqual(new Map([['1 2 3', 4]]));
  });

  it('finds nothing in what is shorter than n, or for no n', () => {
    expect(findRepeatedNgrams([1, 2], 3, 0)).toEqual([]);
    expect(findRepeatedNgrams([], 1, 0)).toEqual([]);
    expect(findRepeatedNgrams(loop, 0, 0)).toEqual([]);
    expect(findRepeatedNgrams(loop, -1, 0)).toEqual([]);
  });

  it.each([
    [1, 13],
    [2, 16],
    [3, 19],
    [4, 22],
    [5, 25],
    [8, 34],
    [10, 40],
    [12, 46],
    [20, 70],
  ])('finds a loop of %d tokens from %d tokens on', (period, least) => {
    const tokens = (length: number): number[] => Array.from({ length }, (_, k) => k % period);
    expect(findRepeatedNgrams(tokens(least), 10, 3).length).toBeGreaterThan(0);
    expect(findRepeatedNgrams(tokens(least - 1), 10, 3)).toEqual([]);
  });

  it('takes typed arrays and large ids', () => {
    expect(findRepeatedNgrams(Uint32Array.of(4_294_967_295, 7, 4_294_967_295, 7), 2, 1)).toEqual([
      { position: 0, count: 2 },
    ]);
  });

  it('agrees with counting every window', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(3), { maxLength: 60 }),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(5),
        (tokens, n, maxCount) => {
          expect(found(tokens, n, maxCount)).toEqual(countWindows(tokens, n, maxCount));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
