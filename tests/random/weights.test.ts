import { array, assert, double, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_WEIGHT_SUM, toWholeWeights, weightsOf } from '#cutroom/random/weights.js';

describe('weightsOf()', () => {
  it('gives 1 where no weight is named', () => {
    expect(weightsOf(['a', 'b', 'toString'], { b: '0.5' })).toEqual([1, '0.5', 1]);
  });

  it('refuses no groups, a name twice, a weight of no group, and one that is not above 0', () => {
    expect(() => weightsOf([])).toThrow('no group to mix');
    expect(() => weightsOf(['a', 'b', 'a'])).toThrow('Group "a" is named twice');
    expect(() => weightsOf(['a'], { b: 1 })).toThrow('A weight is given for "b", which is no group');
    for (const weight of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '', '1/3']) {
      expect(() => weightsOf(['a'], { a: weight })).toThrow('The weight of "a" is');
    }
  });
});

describe('toWholeWeights()', () => {
  it('is exact where the sum is small enough', () => {
    expect(toWholeWeights([0.7, 0.3])).toEqual({ weights: [7, 3], sum: 10, isExact: true });
    expect(toWholeWeights([1 / 3, 1 / 3, 1 / 3])).toEqual({ weights: [1, 1, 1], sum: 3, isExact: true });
    expect(toWholeWeights([MAX_WEIGHT_SUM - 1, 1]).isExact).toBe(true);
    expect(toWholeWeights([MAX_WEIGHT_SUM, 1]).isExact).toBe(false);
  });

  it('keeps finer weights to their shares, and none at 0', () => {
    const weight = double({ min: 1e-6, max: 1, noNaN: true });
    assert(
      property(array(weight, { minLength: 2, maxLength: 20 }), (spelled) => {
        const { weights, sum } = toWholeWeights(spelled);
        const total = spelled.reduce((all, one) => all + one);
        expect(weights.reduce((all, one) => all + one)).toBe(sum);
        for (const [at, one] of weights.entries()) {
          expect(Number.isInteger(one) && one >= 1).toBe(true);
          expect(Math.abs(one / sum - spelled[at]! / total)).toBeLessThan(20 / MAX_WEIGHT_SUM);
        }
      }),
    );
    expect(toWholeWeights([1e-12, 1]).weights).toEqual([1, MAX_WEIGHT_SUM - 1]);
    expect(toWholeWeights(['1.00000000001', 1, 2]).weights).toEqual([
      MAX_WEIGHT_SUM / 4,
      MAX_WEIGHT_SUM / 4,
      MAX_WEIGHT_SUM / 2,
    ]);
  });
});
