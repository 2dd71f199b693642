import { assert, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchLimit } from '#cutroom/load/batch-limits.js';
import { settlePlanOptions, type PlannerOptions } from '#cutroom/load/plan-settings.js';

function limitOf(options: Partial<PlannerOptions>, bucketBatchSize?: number): BatchLimit {
  return new BatchLimit(settlePlanOptions({ worldSize: 1, ...options }), bucketBatchSize);
}

describe('BatchLimit', () => {
  it('fits what is equal to a limit, in whole microseconds', () => {
    const limit = limitOf({ maxDuration: 0.3 });
    expect([limit.fits(3, 100_000), limit.fits(3, 100_001), limit.fits(1, 300_000)]).toEqual([true, false, true]);
    // 10 + 10²/20 = 15 s each.
    const quadratic = limitOf({ batchDuration: 60, quadraticDuration: 20 });
    expect([quadratic.fits(4, 10e6), quadratic.fits(4, 10_000_001), quadratic.fits(5, 10e6)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([limitOf({ batchDuration: 60 }).fits(6, 10e6), limitOf({ batchDuration: 60 }).fits(7, 10e6)]).toEqual([
      true,
      false,
    ]);
  });

  it('counts all copies', () => {
    const limit = limitOf({ batchSize: 7, maxDuration: 60, numCopies: 3 });
    expect([limit.maxItems, limit.fits(2, 10e6), limit.fits(2, 10_000_001), limit.fits(3, 1)]).toEqual([
      2,
      true,
      false,
      false,
    ]);
  });

  it('takes the lowest of several', () => {
    expect([limitOf({ maxSamples: 5, batchSize: 9 }).maxItems, limitOf({ batchSize: 9 }, 4).maxItems]).toEqual([5, 4]);
  });

  it('knows how many of one duration are full', () => {
    const options = constantFrom<Partial<PlannerOptions>>(
      { maxDuration: 47.3 },
      { batchDuration: 100, quadraticDuration: 7 },
      { batchSize: 6 },
      { maxDuration: 600, maxSamples: 50, numCopies: 3 },
    );
    assert(
      property(options, integer({ min: 1, max: 120_000_000 }), (limits, micros) => {
        const limit = limitOf(limits);
        const full = limit.fullCount(micros);
        expect([full === 0 || limit.fits(full, micros), limit.fits(full + 1, micros)]).toEqual([true, false]);
      }),
    );
    expect(limitOf({ maxDuration: 5 }).fullCount(0)).toBe(Infinity);
  });
});
