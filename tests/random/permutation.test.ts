import { assert, double, integer, maxSafeInteger, nat, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPermutation, EpochPermutations } from '#cutroom/random/permutation.js';

/** Of (length, seed, epoch): (7, 0, 0), (100, 42, 1), (1,000,000, 42, 0), (2^40 - 3, -5, 2^33) and (2^53 - 1, 1, 0). */
const GOLDEN = {
  seven: [4, 5, 3, 2, 0, 1, 6],
  hundred: [67, 59, 45, 11, 42, 10, 26, 2],
  million: [111706, 442656, 598026, 470374, 165279, 234275, 106223, 515016],
  large: [
    1088384365223, 975245642495, 690437804874, 73927793723, 119471184061, 1016343000290, 326283672615, 1031394085864,
  ],
  largest: [
    2412676428488776, 8583584171469627, 7192095411743668, 2663569335414492, 2545262898281978, 8962447077597099,
    1872808127221941, 8260898515770330,
  ],
};

/** Whether each number below the length is given once, and the inverse leads back. */
function isBijection(length: number, seed: number): boolean {
  const permutations = new EpochPermutations(length, seed, 'test');
  const isSeen = new Uint8Array(length);
  for (let index = 0; index < length; index += 1) {
    const value = permutations.at(3, index);
    if (!(value >= 0 && value < length) || isSeen[value] === 1) return false;
    isSeen[value] = 1;
    if (index % 16 === 0 && permutations.indexOf(3, value) !== index) return false;
  }
  return true;
}

/** Standard deviations that a chi-square is above its mean. */
function excessOf(counts: ArrayLike<number>, expected: number): number {
  const chiSquare = Array.from(counts).reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  const freedom = counts.length - 1;
  return (chiSquare - freedom) / Math.sqrt(2 * freedom);
}

/** Grain's network: four half-rounds of Simon's function on a block of 16 bits, with any keys. */
function simonOfFourRounds(value: number, keys: readonly number[]): number {
  const rotate = (half: number, bits: number): number => ((half << bits) | (half >>> (8 - bits))) & 0xff;
  let [left, right] = [value >>> 8, value & 0xff];
  for (const key of keys) {
    const mixed = (rotate(left, 1) & rotate(left, 0)) ^ rotate(left, 2);
    [left, right] = [right ^ mixed ^ key, left];
  }
  return (left << 8) | right;
}

/** Distinct XOR differences of the values at 2i and 2i + 1. */
function countDifferences(pairs: number, at: (index: number) => number): number {
  const differences = new Set<number>();
  for (let pair = 0; pair < pairs; pair += 1) differences.add(at(2 * pair) ^ at(2 * pair + 1));
  return differences.size;
}

describe('createPermutation()', () => {
  it('stays what it was', () => {
    const first = (length: number, seed: number, epoch: number): number[] => {
      const permutation = createPermutation(length, seed, 'sample/order/', epoch);
      return Array.from({ length: Math.min(length, 8) }, (_, index) => permutation(index));
    };
    expect({
      seven: first(7, 0, 0),
      hundred: first(100, 42, 1),
      million: first(1_000_000, 42, 0),
      large: first(2 ** 40 - 3, -5, 2 ** 33),
      largest: first(2 ** 53 - 1, 1, 0),
    }).toEqual(GOLDEN);
  });

  it('holds each number once, at every length up to 600', () => {
    for (let length = 1; length <= 600; length += 1) expect(isBijection(length, length), `${length}`).toBe(true);
  });

  it('holds each number once, about the powers of two and the squares', () => {
    for (let bits = 10; bits <= 16; bits += 1) {
      for (const length of [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]) {
        expect(isBijection(length, bits), `${length}`).toBe(true);
      }
    }
    for (const length of [999, 1022, 1023, 1025, 250 ** 2 - 1, 250 ** 2, 250 ** 2 + 1, 250 * 251, 250 * 251 + 1]) {
      expect(isBijection(length, 1), `${length}`).toBe(true);
    }
  });

  it('has an inverse, at any length', () => {
    const lengths = [
      integer({ min: 1, max: 2 ** 40 }),
      integer({ min: 1, max: 2 ** 20 }),
      maxSafeInteger().map((n) => Math.abs(n) + 1),
    ];
    for (const length of lengths) {
      assert(
        property(
          length,
          maxSafeInteger(),
          nat(),
          double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
          (wanted, seed, epoch, at) => {
            const n = Math.min(wanted, Number.MAX_SAFE_INTEGER);
            const permutation = createPermutation(n, seed, 'r', epoch);
            for (let index = Math.floor(at * n); index < Math.min(n, Math.floor(at * n) + 20); index += 1) {
              const value = permutation(index);
              expect(Number.isSafeInteger(value) && value >= 0 && value < n).toBe(true);
              expect(permutation.inverse(value)).toBe(index);
              expect(permutation(permutation.inverse(index))).toBe(index);
            }
          },
        ),
      );
    }
  });

  it('gives each order of five equally often', () => {
    const permutations = new EpochPermutations(5, 1, 'orders');
    const counts = new Map<string, number>();
    const rounds = 36_000;
    for (let epoch = 0; epoch < rounds; epoch += 1) {
      const order = [0, 1, 2, 3, 4].map((index) => permutations.at(epoch, index)).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(120);
    expect(Math.abs(excessOf([...counts.values()], rounds / 120))).toBeLessThan(4);
  });

  it('puts every stretch of indices everywhere, evenly', () => {
    for (const length of [2 ** 16, 1_000_003, 2 ** 40]) {
      const permutation = createPermutation(length, 7, 'bins', 0);
      const counts = new Float64Array(32 * 32);
      const draws = 60_000;
      for (let draw = 0; draw < draws; draw += 1) {
        const index = Math.floor((draw * length) / draws);
        counts[Math.floor((index / length) * 32) * 32 + Math.floor((permutation(index) / length) * 32)]! += 1;
      }
      expect(Math.abs(excessOf(counts, draws / 1024)), `${length}`).toBeLessThan(4);
    }
  });

  it('puts an index everywhere, evenly, over the epochs', () => {
    for (const length of [16, 100, 1000, 1024, 5000]) {
      const permutations = new EpochPermutations(length, 7, 'epochs');
      const counts = new Float64Array(length);
      const epochs = length * 20;
      for (let epoch = 0; epoch < epochs; epoch += 1) counts[permutations.at(epoch, length >> 1)]! += 1;
      expect(Math.abs(excessOf(counts, 20)), `${length}`).toBeLessThan(4);
    }
  });

  it('leaves no structure between neighbours, as four rounds of Simon do', () => {
    const chance = 65_536 * (1 - Math.exp(-10_000 / 65_536));
    expect(countDifferences(10_000, (index) => simonOfFourRounds(index, [17, 99, 201, 5]))).toBeLessThan(chance / 2);
    for (let seed = 0; seed < 5; seed += 1) {
      const permutation = createPermutation(65_536, seed, 'pairs', 0);
      // About 9,275 of 10,000, with a standard deviation of 25.
      expect(Math.abs(countDifferences(10_000, permutation) - chance)).toBeLessThan(120);
      let near = 0;
      for (let index = 1; index < 65_536; index += 1) {
        if (Math.abs(permutation(index) - permutation(index - 1)) < 256) near += 1;
      }
      // 2 · 255 of 65,536 each: 509 with a standard deviation of 23.
      expect(Math.abs(near - 509)).toBeLessThan(110);
    }
  });

  it('has nothing to do with other epochs, seeds and roles', () => {
    const length = 40_000;
    const base = createPermutation(length, 5, 'r', 1);
    const others = [
      createPermutation(length, 5, 'r', 2),
      createPermutation(length, 6, 'r', 1),
      createPermutation(length, 6, 'r', 0),
      createPermutation(length, 5, 's', 1),
      createPermutation(length, 5, 'r', 2 ** 32 + 1),
    ];
    for (const other of others) {
      const mean = (length - 1) / 2;
      let product = 0;
      let same = 0;
      for (let index = 0; index < length; index += 1) {
        product += (base(index) - mean) * (other(index) - mean);
        if (base(index) === other(index)) same += 1;
      }
      const correlation = product / ((length * (length ** 2 - 1)) / 12);
      expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(length));
      // Poisson of mean 1.
      expect(same).toBeLessThan(8);
    }
  });

  it('hangs on nothing that was asked before', () => {
    assert(
      property(integer({ min: 1, max: 5000 }), string(), nat(3), nat(3), (length, role, one, other) => {
        const permutations = new EpochPermutations(length, 1, role);
        permutations.at(other, 0);
        expect(permutations.at(one, length - 1)).toBe(createPermutation(length, 1, role, one)(length - 1));
      }),
    );
  });

  it('refuses lengths, seeds, epochs and indices out of range', () => {
    for (const length of [0, -1, 1.5, 2 ** 53, Number.NaN]) {
      expect(() => createPermutation(length, 0, 'r', 0)).toThrow(RangeError);
    }
    expect(() => createPermutation(5, 0.5, 'r', 0)).toThrow(RangeError);
    const permutation = createPermutation(5, 0, 'r', 0);
    for (const index of [-1, 5, 0.5, Number.NaN]) {
      expect(() => permutation(index)).toThrow(RangeError);
      expect(() => permutation.inverse(index)).toThrow(RangeError);
    }
    for (const epoch of [-1, 0.5, 2 ** 53]) expect(() => createPermutation(5, 0, 'r', epoch)(0)).toThrow(RangeError);
  });
});
