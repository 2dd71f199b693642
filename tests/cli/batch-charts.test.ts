// Charts of `cutroom batches`: every step is in one bar.
import { array, assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketLabel, chartOfBuckets, chartOfEpoch, chartOfSteps } from '#cutroom/cli/batch-charts.js';
import type { PlanReport } from '#cutroom/load/epoch-plan.js';

function reportOf(hours: readonly number[]): PlanReport {
  return {
    ...{ draws: 0, distinctItems: 0, items: 0, hours: 0, stepCount: hours.length, batchCount: hours.length },
    ...{ paddingShare: 0, lost: {}, padDraws: 0, buckets: [], leaves: [] },
    hoursOfSteps: Float64Array.from(hours),
  };
}

describe('chartOfSteps()', () => {
  it('counts each step once, in classes of one width', () => {
    assert(
      property(array(integer({ min: 0, max: 1e8 }), { minLength: 1, maxLength: 200 }), (milliseconds) => {
        const hours = milliseconds.map((value) => value / 3.6e6);
        const { bars } = chartOfSteps([reportOf(hours), reportOf(hours)]);
        expect(bars.reduce((sum, { values }) => sum + (values[0] ?? NaN), 0)).toBe(2 * hours.length);
        expect(bars.length).toBeLessThanOrEqual(22);
        expect(new Set(bars.map(({ label }) => label)).size).toBe(bars.length);
      }),
    );
  });

  it('has one bar for steps that are all alike, and none where there are no steps', () => {
    expect(chartOfSteps([reportOf([0.5, 0.5, 0.5])])).toMatchObject({
      title: 'steps by the audio that they hold on all ranks, in minutes',
      bars: [{ values: [3] }],
    });
    expect(chartOfSteps([reportOf([])]).bars).toEqual([]);
    expect(chartOfSteps([reportOf([0, 0])]).bars).toHaveLength(1);
  });
});

describe('chartOfEpoch()', () => {
  it('averages stretches of steps, in their order', () => {
    const { bars, title } = chartOfEpoch(reportOf(Array.from({ length: 80 }, (_, step) => step)), 3);
    expect(title).toBe('hours of audio in a step of epoch 3, by its number');
    expect(bars).toHaveLength(40);
    expect(bars[1]).toEqual({ label: '2–3', values: [2.5] });
    expect(chartOfEpoch(reportOf([1, 2]), 0).bars.map(({ label }) => label)).toEqual(['0', '1']);
  });
});

describe('chartOfBuckets()', () => {
  it('is there for two buckets or more', () => {
    const bucket = { ...{ items: 1, hours: 1, batches: 1, smallestBatch: 1, largestBatch: 1 }, paddingShare: 0.25 };
    const short = { ...bucket, fromSeconds: 0, toSeconds: 2.5, toTokens: 7 };
    const long = { ...bucket, fromSeconds: 2.5, toSeconds: Infinity, toTokens: undefined, hours: 3 };
    expect(chartOfBuckets({ ...reportOf([1]), buckets: [short] })).toBeUndefined();
    expect(chartOfBuckets({ ...reportOf([1]), buckets: [short, long] })?.bars).toEqual([
      { label: '≤ 2.5 s, 7', values: [0.5, 0.25, 0.25] },
      { label: '≤ ∞ s', values: [0.5, 0.75, 0.25] },
    ]);
    expect(bucketLabel({ toSeconds: 2.50049, toTokens: undefined })).toBe('≤ 2.5 s');
    expect(bucketLabel({ toSeconds: 1e9, toTokens: undefined })).toBe('≤ ∞ s');
  });
});
