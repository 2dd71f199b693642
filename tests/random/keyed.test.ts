import { assert, integer, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyedRandom, shuffledIndices, threefry2x32 } from '#cutroom/random/keyed.js';

describe('threefry2x32()', () => {
  it('gives the known answers of its authors', () => {
    const pi = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344] as const;
    const all = 0xffffffff;
    expect(threefry2x32(0, 0, 0, 0)).toEqual([0x6b200159, 0x99ba4efe]);
    expect(threefry2x32(all, all, all, all)).toEqual([0x1cb996fc, 0xbb002be7]);
    expect(threefry2x32(...pi)).toEqual([0xc4923a9c, 0x483df7a0]);
  });
});

describe('keyedRandom()', () => {
  it('stays what it was', () => {
    const random = keyedRandom(42, 'x');
    expect([random(0), random(1), random(0, 1)]).toEqual([3418718358, 3796130671, 3744751947]);
  });

  it('hangs on seed, role, index and lane, and on nothing else', () => {
    const values = [keyedRandom(1, 'a')(0), keyedRandom(2, 'a')(0), keyedRandom(1, 'b')(0), keyedRandom(1, 'a')(1)];
    expect(new Set([...values, keyedRandom(1, 'a')(0, 1)]).size).toBe(5);
    const random = keyedRandom(1, 'a');
    const backwards = [2, 1, 0].map((index) => random(index)).toReversed();
    expect(backwards).toEqual([0, 1, 2].map((index) => keyedRandom(1, 'a')(index)));
  });

  it('refuses a seed that is no whole number', () => {
    expect(() => keyedRandom(0.5, 'a')).toThrow(RangeError);
  });
});

describe('shuffledIndices()', () => {
  it('stays what it was', () => {
    expect([...shuffledIndices(10, 42, 'build/order')]).toEqual([7, 8, 3, 9, 1, 0, 5, 6, 4, 2]);
  });

  it('holds each index once', () => {
    assert(
      property(nat(300), integer(), (count, seed) => {
        const sorted = [...shuffledIndices(count, seed, 'r')].toSorted((a, b) => a - b);
        expect(sorted).toEqual(Array.from({ length: count }, (_, index) => index));
      }),
    );
  });

  it('gives every order of four equally often', () => {
    const counts = new Map<string, number>();
    const rounds = 24_000;
    for (let seed = 0; seed < rounds; seed += 1) {
      const key = shuffledIndices(4, seed, 'r').join('');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    // 1,000 each with a standard deviation of 31: five of them are met once in a million times.
    for (const count of counts.values()) expect(Math.abs(count - rounds / 24)).toBeLessThan(155);
  });
});
