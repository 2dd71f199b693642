import { describe, expect, it } from 'vitest';
import { countAnd, countWords, listCountWords } from '#cutroom/count-words.js';

describe('countWords()', () => {
  it('has one row, no rows and two thousand rows', () => {
    expect([1, 0, 2000].map((count) => countWords(count, 'row'))).toEqual(['1 row', '0 rows', '2,000 rows']);
    expect(countWords(2, 'box', 'boxes')).toBe('2 boxes');
    expect([1, 2].map((count) => countAnd(count, 'file', 'has|have'))).toEqual(['1 file has', '2 files have']);
  });

  it('lists several counts, but those of nothing', () => {
    const list = (...counts: number[]): string =>
      listCountWords(counts.map((count, at) => [count, ['row', 'member', 'file'][at] ?? ''] as const));
    expect(list(1, 2)).toBe('1 row and 2 members');
    expect(list(0, 1)).toBe('1 member');
    expect(list(1000, 2, 1)).toBe('1,000 rows, 2 members and 1 file');
  });
});
