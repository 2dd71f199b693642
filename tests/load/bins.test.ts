import { array, assert, constantFrom, integer, oneof, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideEqually, estimateBins, firstNotBelow } from '#cutroom/load/bins.js';
import { createPlanner } from '#cutroom/load/plan-epochs.js';
import { allBatches, itemsOf, range } from './plan-checks.js';
import { tableOf, utteranceSeconds } from './plan-tables.js';

/** Sum of the values in each bin. */
function sumsOf(values: readonly number[], bounds: Float64Array): number[] {
  const sums = Array.from(bounds, () => 0);
  for (const value of values) sums[firstNotBelow(bounds, value)]! += value;
  return sums;
}

describe('divideEqually()', () => {
  it('gives as many distinct bounds as asked for, wherever there are as many values', () => {
    const values = array(oneof(integer({ min: 0, max: 1000 }), constantFrom(500, 500, 500, 30)), { maxLength: 200 });
    assert(
      property(values, integer({ min: 1, max: 40 }), (all, count) => {
        const bounds = divideEqually(Float64Array.from(all).sort(), count);
        expect(bounds).toHaveLength(Math.min(count, new Set(all).size));
        expect(Array.from(bounds)).toEqual([...new Set(bounds)].sort((a, b) => a - b));
        expect(bounds.at(-1)).toBe(all.length === 0 ? undefined : Math.max(...all));
        // Each bound is a value: no bin is empty.
        expect(Array.from(bounds).every((bound) => all.includes(bound))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('has equal sums to within a run of equal values', () => {
    const seconds = utteranceSeconds(3000).filter((value) => value > 0.5 && value < 30);
    const values = seconds.map((value) => Math.round(value * 1e6));
    const sums = sumsOf(values, divideEqually(Float64Array.from(values).sort(), 30));
    const mean = sums.reduce((sum, value) => sum + value, 0) / 30;
    expect(Math.max(...sums.map((sum) => Math.abs(sum - mean) / mean))).toBeLessThan(0.03);
  });

  it('divides what is left anew where many values are equal', () => {
    // Three quarters of the time are of clips of 10 s: a bin of their own, and the rest for the others.
    const values = [
      ...range(300).map(() => 10),
      ...range(100).map((at) => 5 + at / 100),
      ...range(100).map((at) => 11 + at / 100),
    ];
    const bounds = divideEqually(Float64Array.from(values).sort(), 5);
    expect(bounds).toHaveLength(5);
    expect(bounds).toContain(10);
    expect(Math.min(...sumsOf(values, bounds))).toBeGreaterThan(200);
    expect(Array.from(divideEqually(Float64Array.from(range(50).map(() => 7)), 30))).toEqual([7]);
  });
});

describe('estimateBins()', () => {
  it('divides tokens in each bin of durations', () => {
    const seconds = utteranceSeconds(600);
    const tokens = seconds.map((value, at) => Math.round(value * (2 + (at % 5))));
    const { micros, tokens: most } = estimateBins(tableOf([{ seconds, tokens }]), 6, 3);
    expect([micros.length, most!.length]).toEqual([18, 18]);
    for (const bound of new Set(micros)) {
      const own = range(18).filter((bin) => micros[bin] === bound);
      const counts = own.map((bin) => most![bin]!);
      expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
      const index = firstNotBelow(Float64Array.from(new Set(micros)), bound);
      const lower = [...new Set(micros)][index - 1] ?? 0;
      const inside = tokens.filter((_, at) => seconds[at]! * 1e6 > lower && Math.round(seconds[at]! * 1e6) <= bound);
      expect(counts.at(-1)).toBe(Math.max(...inside));
    }
  });

  it('needs no variance of tokens', () => {
    const planner = createPlanner(tableOf([{ seconds: utteranceSeconds(50), tokens: range(50).map(() => 4) }]), {
      ...{ batchSize: 8, bucketCount: 3, tokenBuckets: 2, worldSize: 1 },
    });
    expect(planner.bins).toHaveLength(3);
    expect(planner.warnings).toMatchObject([
      { message: 'There are 3 buckets instead of 6: the items have no more distinct durations or tokens' },
    ]);
    expect(itemsOf(allBatches(planner.planEpoch(0)))).toEqual(range(50));
  });
});

describe('bins', () => {
  it('hold what is above the one before and up to and with their bound', () => {
    const table = tableOf([{ seconds: [1, 2, 2.000001, 3, 4, 4.000001] }]);
    const planner = createPlanner(table, { batchSize: 9, bins: [2, 3, 4], worldSize: 1 });
    const items = new Map(allBatches(planner.planEpoch(0)).map((batch) => [batch.bucket, itemsOf([batch])]));
    expect([items.get(0), items.get(1), items.get(2)]).toEqual([[0, 1], [2, 3], [4]]);
    expect(planner.losses).toMatchObject({ beyond_buckets: { items: 1 } });
    expect(planner.warnings).toMatchObject([{ message: '1 item of 0.001 h is beyond the buckets: no batch has them' }]);
    expect(planner.planEpoch(0).report().lost).toMatchObject({ beyond_buckets: { items: 1, hours: 4.000001 / 3600 } });
  });

  it('of two dimensions are strict, or go on to the next that has both', () => {
    const seconds = [1, 1, 1, 3, 3];
    const table = tableOf([{ seconds, tokens: [5, 10, 15, 10, 90] }]);
    const bins = [
      [2, 5],
      [2, 10],
      [4, 20],
      [4, 40],
    ] as const;
    const bucketsOf = (strict2d: boolean): (number | undefined)[] => {
      const batches = allBatches(createPlanner(table, { batchSize: 1, bins, strict2d, worldSize: 1 }).planEpoch(0));
      return range(5).map((item) => batches.find(({ items }) => items[0] === item)?.bucket);
    };
    expect(bucketsOf(true)).toEqual([0, 1, undefined, 2, undefined]);
    expect(bucketsOf(false)).toEqual([0, 1, 2, 2, undefined]);
    expect(() => createPlanner(tableOf([{ seconds }]), { batchSize: 1, bins, worldSize: 1 })).toThrow(
      'Buckets of tokens are asked for, but the tokens of the rows were not counted',
    );
  });

  it('are as many as there are durations where more are asked for', () => {
    const planner = createPlanner(tableOf([{ seconds: [1, 2, 2, 3] }]), {
      batchSize: 2,
      bucketCount: 30,
      worldSize: 1,
    });
    expect(planner.bins).toEqual([1, 2, 3]);
    expect(planner.warnings).toMatchObject([{ code: 'fewer_buckets' }]);
  });
});
