import { array, assert, integer, nat, oneof, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefixSearch } from '#cutroom/sample/prefix-search.js';

describe('PrefixSearch.find()', () => {
  it('finds the count of each number, however uneven they are', () => {
    const count = oneof(nat(3), nat(3), integer({ min: 0, max: 2 ** 40 }));
    assert(
      property(array(count, { minLength: 1, maxLength: 40 }), (counts) => {
        const search = new PrefixSearch(counts.length, (at) => counts[at]!);
        let before = 0;
        for (const [at, size] of counts.entries()) {
          for (const number of size === 0 ? [] : [before, before + Math.floor(size / 2), before + size - 1]) {
            expect(search.find(number)).toBe(at);
          }
          before += size;
        }
        expect(search.sum).toBe(before);
      }),
    );
  });
});
