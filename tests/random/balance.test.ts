import { array, assert, integer, nat, oneof, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Balance } from '#cutroom/random/balance.js';

/**
 * Fails unless, of each prefix of a period and a half, each group has its share to within less than one, in its own
 * order.
 */
function checkShares(weights: readonly number[]): void {
  const balance = new Balance(weights);
  const { period } = balance;
  const given = new Float64Array(weights.length);
  for (let k = 0; k < period * 1.5; k += 1) {
    const { group, index } = balance.at(k);
    if (index !== given[group]) throw new Error(`element ${k} is number ${index} of group ${group}`);
    given[group] = index + 1;
    for (const [at, weight] of balance.weights.entries()) {
      if (Math.abs(given[at]! * period - (k + 1) * weight) >= period) {
        throw new Error(`${weights.join(':')} is off by one or more at ${k + 1}`);
      }
    }
  }
}

describe('Balance', () => {
  it('stays what it was', () => {
    const orderOf = (...weights: (number | string)[]): string =>
      Array.from({ length: 20 }, (_, k) => new Balance(weights).at(k).group).join('');
    expect([orderOf(0.7, 0.3), orderOf(5, 3, 1, 1), orderOf('0.05', '0.9', '0.05')]).toEqual([
      '00100100010010010001',
      '01010201030101020103',
      '11111111101111111112',
    ]);
  });

  it('keeps every prefix within one of the weights', () => {
    const weight = oneof(integer({ min: 1, max: 12 }), integer({ min: 1, max: 12 }), integer({ min: 1, max: 400 }));
    assert(property(array(weight, { minLength: 1, maxLength: 12 }), checkShares), { numRuns: 150 });
  });

  it('keeps every prefix within one of the weights, with many groups', () => {
    checkShares(Array.from({ length: 100 }, () => 1));
    checkShares([300, ...Array.from({ length: 99 }, () => 1)]);
    checkShares(Array.from({ length: 40 }, (_, at) => 1 + ((at * at) % 37)));
    checkShares([50, 49, ...Array.from({ length: 60 }, (_, at) => 1 + (at % 2))]);
  });

  it('takes weights as they are spelled', () => {
    expect(new Balance([0.7, 0.3])).toMatchObject({ weights: [7, 3], period: 10, isExact: true });
    expect(new Balance([0.1, 0.2, '0.30'])).toMatchObject({ weights: [1, 2, 3], period: 6, isExact: true });
    expect(new Balance([123.456789, 0.000001])).toMatchObject({ isExact: false, period: 2 ** 22 });
    expect(new Balance([0.123457, 0.876543])).toMatchObject({ isExact: true, period: 1_000_000 });
  });

  it('counts on beyond the period, and finds an element again', () => {
    assert(
      property(array(integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 }), nat(2 ** 50), (weights, k) => {
        const balance = new Balance(weights);
        const { group, index } = balance.at(k);
        expect(balance.indexOf(group, index)).toBe(k);
        const share = balance.weights[group]! / balance.period;
        expect(Math.abs(index - k * share)).toBeLessThanOrEqual(1 + 2 ** -8);
      }),
    );
  });

  it('gives each group its elements in their order, whatever other groups there are', () => {
    const streamOf = (balance: Balance, wanted: number): number[] =>
      Array.from({ length: 500 }, (_, k) => balance.at(k))
        .filter(({ group }) => group === wanted)
        .map(({ index }) => index);
    for (const weights of [
      [1, 2],
      [1, 2, 5],
      [3, 0.2, 9, 4],
    ]) {
      const stream = streamOf(new Balance(weights), 0);
      expect(stream).toEqual(stream.map((_, at) => at));
    }
  });

  it('ends before a group lacks an element, or once each was given whole, or never', () => {
    const check = (weights: readonly number[], lengths: readonly number[]): void => {
      const balance = new Balance(weights);
      const given = lengths.map(() => 0);
      let first = -1;
      let k = 0;
      for (; given.some((count, group) => count < lengths[group]!); k += 1) {
        const { group } = balance.at(k);
        given[group]! += 1;
        if (first < 0 && given[group]! > lengths[group]!) first = k;
      }
      expect(balance.length(lengths, 'all_exhausted')).toBe(k);
      while (first < 0) {
        const { group } = balance.at(k);
        given[group]! += 1;
        if (given[group]! > lengths[group]!) first = k;
        k += 1;
      }
      expect(balance.length(lengths, 'first_exhausted')).toBe(first);
      expect(balance.length(lengths, 'forever')).toBe(Number.POSITIVE_INFINITY);
    };
    const group = array(integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 2 });
    assert(
      property(array(group, { minLength: 1, maxLength: 6 }), (groups) => {
        check(
          groups.map(([weight]) => weight!),
          groups.map(([, length]) => length!),
        );
      }),
    );
    const balance = new Balance([1, 1]);
    expect(balance.length([5, Number.POSITIVE_INFINITY], 'first_exhausted')).toBe(10);
    expect(balance.length([5, Number.POSITIVE_INFINITY], 'all_exhausted')).toBe(Number.POSITIVE_INFINITY);
  });

  it('refuses no groups, weights and elements out of range', () => {
    expect(() => new Balance([])).toThrow(RangeError);
    for (const weight of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 'x']) {
      expect(() => new Balance([1, weight])).toThrow('is no weight above 0');
    }
    for (const k of [-1, 0.5, 2 ** 53]) expect(() => new Balance([1]).at(k)).toThrow(RangeError);
    for (const index of [-1, 0.5]) expect(() => new Balance([1]).indexOf(0, index)).toThrow(RangeError);
    expect(() => new Balance([1]).indexOf(1, 0)).toThrow(RangeError);
    for (const lengths of [[], [1], [1, 0], [1, 1.5], [1, 1, 1]]) {
      expect(() => new Balance([1, 1]).length(lengths, 'all_exhausted')).toThrow('Cannot mix groups');
    }
  });
});
