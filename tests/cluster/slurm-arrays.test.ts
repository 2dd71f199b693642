import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRanges, indicesOf, parseRanges, planArrays } from '#cutroom/cluster/slurm-arrays.js';

const ascending = fc.uniqueArray(fc.nat(400)).map((tasks) => tasks.toSorted((a, b) => a - b));

describe('planArrays()', () => {
  it('keeps indices equal to tasks where one array takes them', () => {
    expect(planArrays([0, 1, 2, 9], 10)).toEqual([{ tasks: [0, 1, 2, 9], offset: 0 }]);
    expect(planArrays([7, 9], 10)).toEqual([{ tasks: [7, 9], offset: 0 }]);
  });

  it('goes on with offsets', () => {
    const tasks = Array.from({ length: 25 }, (_, task) => task);
    const arrays = planArrays(tasks, 10);
    expect(arrays.map(({ offset }) => offset)).toEqual([0, 10, 20]);
    expect(arrays.map(indicesOf)).toEqual(['0-9', '0-9', '0-4']);
  });

  it('lists tasks that lie far apart', () => {
    const tasks = [5, 1000, 2000, 3000, 4000, 5000];
    expect(planArrays(tasks, 10)).toEqual([{ tasks, offset: null }]);
    expect(indicesOf({ tasks, offset: null })).toBe('0-5');
  });

  it('hands over every task once, below the limit, in about as few arrays as can be', () => {
    fc.assert(
      fc.property(ascending, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), (tasks, limit, most) => {
        const arrays = planArrays(tasks, limit, most);
        expect(arrays.flatMap((array) => [...array.tasks])).toEqual(tasks);
        const size = Math.min(limit, most);
        expect(arrays.length).toBeLessThanOrEqual(Math.ceil(tasks.length / size) + 1);
        for (const array of arrays) {
          const indices = parseRanges(indicesOf(array));
          expect(indices.length).toBe(array.tasks.length);
          expect(indices.length).toBeLessThanOrEqual(size);
          expect(Math.max(...indices)).toBeLessThan(limit);
          const { offset } = array;
          expect(indices.map((index) => (offset === null ? array.tasks[index] : index + offset))).toEqual(array.tasks);
        }
      }),
    );
  });
});

describe('formatRanges()', () => {
  it('joins neighbours', () => {
    expect(formatRanges([0, 1, 2, 5, 7, 8])).toBe('0-2,5,7-8');
    expect(formatRanges([])).toBe('');
  });

  it('is read back by parseRanges()', () => {
    fc.assert(fc.property(ascending, (tasks) => parseRanges(formatRanges(tasks)).join() === tasks.join()));
  });
});
