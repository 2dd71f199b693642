import { array, assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideEvenly } from '#cutroom/run/task.js';

describe('divideEvenly()', () => {
  it('gives stretches that are not empty, in order, over all units', () => {
    assert(
      property(
        array(integer({ min: 0, max: 1000 }), { maxLength: 60 }),
        integer({ min: 1, max: 70 }),
        (weights, count) => {
          const starts = divideEvenly(weights, count);
          expect(starts).toHaveLength(Math.min(count, weights.length) + 1);
          expect(starts[0]).toBe(0);
          expect(starts.at(-1)).toBe(weights.length);
          for (let at = 1; at < starts.length; at += 1) expect(starts[at]).toBeGreaterThan(starts[at - 1] ?? 0);
        },
      ),
    );
  });

  it('keeps each stretch within the heaviest unit of the mean, where all are light', () => {
    assert(
      property(
        array(integer({ min: 50, max: 100 }), { minLength: 100, maxLength: 300 }),
        integer({ min: 1, max: 10 }),
        (weights, count) => {
          const starts = divideEvenly(weights, count);
          const mean = weights.reduce((sum, weight) => sum + weight, 0) / count;
          for (let at = 1; at < starts.length; at += 1) {
            const sum = weights.slice(starts[at - 1], starts[at]).reduce((total, weight) => total + weight, 0);
            expect(Math.abs(sum - mean)).toBeLessThanOrEqual(150);
          }
        },
      ),
    );
  });

  it('gives a unit that outweighs all others a stretch of its own', () => {
    expect(divideEvenly([1, 1, 1000, 1, 1], 3)).toEqual([0, 2, 3, 5]);
  });

  it('refuses a count that is none', () => {
    expect(() => divideEvenly([1], 0)).toThrow('Cannot divide into 0 tasks: it must be a whole number from 1 on');
  });
});
