import { describe, expect, it } from 'vitest';
import { CPythonRandom } from '#cutroom/random/cpython.js';

/** Seed and what Python 3 makes of it: `random.seed(seed); items = list(range(12)); random.shuffle(items)`. */
const SHUFFLES: readonly [number, string][] = [
  [0, '1 9 8 5 10 2 3 7 4 0 11 6'],
  [1, '7 11 0 8 5 6 3 10 4 1 9 2'],
  [42, '7 5 2 8 9 6 11 3 4 0 1 10'],
];

describe('CPythonRandom', () => {
  it.each(SHUFFLES)('shuffles as Python does with seed %i', (seed, expected) => {
    const items = Uint32Array.from({ length: 12 }, (_, index) => index);
    new CPythonRandom(seed).shuffle(items);
    expect(items.join(' ')).toBe(expected);
  });

  it('draws the bits that Python draws', () => {
    const random = new CPythonRandom(0);
    const drawn = Array.from({ length: 4 }, () => random.getrandbits(32));
    expect(drawn).toEqual([3_626_764_237, 1_654_615_998, 3_255_389_356, 3_823_568_514]);
  });

  it('draws the numbers of randrange', () => {
    const random = new CPythonRandom(1234);
    expect(Array.from({ length: 8 }, () => random.randbelow(30))).toEqual([24, 14, 3, 0, 2, 29, 25, 18]);
  });

  it('goes on as Python does behind the first 624 words, with a seed of two words', () => {
    const random = new CPythonRandom(2 ** 40 + 5);
    let last = 0;
    for (let i = 0; i < 2000; i += 1) last = random.getrandbits(32);
    // random.seed(2**40 + 5); [random.getrandbits(32) for _ in range(2000)][-1]
    expect(last).toBe(110_103_354);
  });

  it('takes no account of the sign, and only of whole seeds', () => {
    expect(new CPythonRandom(-7).getrandbits(32)).toBe(new CPythonRandom(7).getrandbits(32));
    expect(() => new CPythonRandom(1.5)).toThrow(RangeError);
    expect(() => new CPythonRandom(1).getrandbits(33)).toThrow(RangeError);
    expect(() => new CPythonRandom(1).randbelow(0)).toThrow(RangeError);
  });
});
