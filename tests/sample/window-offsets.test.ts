import { assert, bigInt, integer, maxSafeInteger, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JitterPhases, partStart, phaseOf, placeInPart } from '#cutroom/sample/window-offsets.js';

describe('partStart()', () => {
  it('is floor(part · total / parts)', () => {
    const partsAndPart = integer({ min: 1, max: 2 ** 26 }).chain((parts) =>
      nat(parts).map((part) => ({ parts, part })),
    );
    assert(
      property(partsAndPart, bigInt({ min: 0n, max: 2n ** 50n }), ({ parts, part }, more) => {
        const total = Number(more) + parts;
        expect(partStart(part, parts, total)).toBe(Number((BigInt(part) * BigInt(total)) / BigInt(parts)));
      }),
    );
  });

  it('tiles, with a place or more in each part, at any size', () => {
    const sizes = integer({ min: 1, max: 2 ** 32 }).chain((parts) =>
      integer({ min: parts, max: 2 ** 52 }).chain((total) => nat(parts - 1).map((part) => ({ parts, total, part }))),
    );
    assert(
      property(sizes, ({ parts, total, part }) => {
        const size = partStart(part + 1, parts, total) - partStart(part, parts, total);
        expect(size).toBeGreaterThanOrEqual(Math.floor(total / parts));
        expect(size).toBeLessThanOrEqual(Math.floor(total / parts) + 2);
        expect([partStart(0, parts, total), partStart(parts, parts, total)]).toEqual([0, total]);
      }),
    );
  });
});

describe('placeInPart()', () => {
  it('begins with the first place and ends with the last', () => {
    expect([0, 1, 2].map((part) => placeInPart(part, 3, 10, 0))).toEqual([0, 3, 6]);
    expect([0, 1, 2].map((part) => placeInPart(part, 3, 10, 1))).toEqual([2, 5, 9]);
    expect(placeInPart(0, 1, 7_000_000_000, 1 - 2 ** -53)).toBe(6_999_999_999);
  });
});

describe('phaseOf()', () => {
  it('begins with both ends, then halves what is left', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map(phaseOf)).toEqual([0, 1, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]);
    expect(phaseOf(2 ** 32 + 1)).toBe(2 ** -33);
    expect(phaseOf(2 ** 32 + 2)).toBe(1 / 2 + 2 ** -33);
  });

  it('takes every place of a part within its bound', () => {
    for (const places of [1, 2, 3, 7, 64, 100, 1000]) {
      const epochs = 2 ** Math.ceil(Math.log2(places));
      const taken = new Set<number>();
      for (let epoch = 0; epoch <= epochs; epoch += 1) taken.add(placeInPart(0, 1, places, phaseOf(epoch)));
      expect(taken.size).toBe(places);
    }
  });

  it('leaves no gap longer than its bound', () => {
    assert(
      property(integer({ min: 1, max: 10 ** 9 }), integer({ min: 0, max: 8 }), (places, bits) => {
        const taken: number[] = [];
        for (let epoch = 0; epoch <= 2 ** bits; epoch += 1) taken.push(placeInPart(0, 1, places, phaseOf(epoch)));
        taken.sort((a, b) => a - b);
        expect([taken[0], taken.at(-1)]).toEqual([0, places - 1]);
        const gaps = taken.slice(1).map((place, at) => place - taken[at]!);
        expect(Math.max(...gaps)).toBeLessThanOrEqual(Math.ceil(places / 2 ** bits));
      }),
    );
  });
});

describe('JitterPhases', () => {
  it('stays what it was', () => {
    const phases = new JitterPhases(42, 'sample/offset/');
    expect([
      phases.at(0, 0, 0),
      phases.at(0, 0, 1),
      phases.at(0, 1, 0),
      phases.at(1, 0, 0),
      phases.at(2 ** 40, 7, 9),
    ]).toEqual([0.7581155073911557, 0.40186604023687267, 0.5578750917900047, 0.1738553945879675, 0.5494192636041534]);
  });

  it('hangs on nothing that was asked before', () => {
    assert(
      property(maxSafeInteger(), nat(), nat(), nat(), nat(), (seed, epoch, other, recording, slot) => {
        const phases = new JitterPhases(seed, 'r');
        phases.at(other, slot, recording);
        const phase = phases.at(epoch, recording, slot);
        expect(phase).toBe(new JitterPhases(seed, 'r').at(epoch, recording, slot));
        expect(phase >= 0 && phase < 1).toBe(true);
      }),
    );
  });

  it('is uniform over slots and over epochs', () => {
    const phases = new JitterPhases(3, 'r');
    for (const draw of [(at: number) => phases.at(0, 5, at), (at: number) => phases.at(at, 5, 0)]) {
      const counts = new Float64Array(20);
      for (let at = 0; at < 8000; at += 1) counts[Math.floor(draw(at) * 20)]! += 1;
      const chiSquare = counts.reduce((sum, count) => sum + (count - 400) ** 2 / 400, 0);
      // 19 degrees of freedom: above 51 once in 10,000 times.
      expect(chiSquare).toBeLessThan(51);
    }
  });
});
