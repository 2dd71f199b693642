import { assert, double, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { framesOf, parseDecimal } from '#cutroom/random/decimal.js';

describe('parseDecimal()', () => {
  it('takes a number as it is spelled', () => {
    expect(parseDecimal(0.1)).toEqual({ digits: 1n, places: 1 });
    expect(parseDecimal('0.30')).toEqual({ digits: 30n, places: 2 });
    expect(parseDecimal(1e-7)).toEqual({ digits: 1n, places: 7 });
    expect(parseDecimal(1.5e21)).toEqual({ digits: 1_500_000_000_000_000_000_000n, places: 0 });
    expect(parseDecimal(-2)).toEqual({ digits: -2n, places: 0 });
  });

  it('gives nothing for what is no finite decimal', () => {
    for (const spelling of ['', 'x', '1/3', '0x10', Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(parseDecimal(spelling)).toBeUndefined();
    }
  });

  it('reads back as the number', () => {
    assert(
      property(double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const { digits, places } = parseDecimal(value)!;
        expect(Number(`${digits}e-${places}`)).toBe(value + 0);
      }),
    );
  });
});

describe('framesOf()', () => {
  it('rounds the exact product, halves up', () => {
    expect(framesOf(0.1, 44_100)).toBe(4410);
    expect(framesOf(0.1, 11_025)).toBe(1103);
    expect(framesOf('0.3', 16_000)).toBe(4800);
    expect(framesOf(1.1, 48_000)).toBe(52_800);
    expect(framesOf(0.00001, 16_000)).toBe(0);
  });

  it('has no error of doubles', () => {
    assert(
      property(integer({ min: 0, max: 10 ** 9 }), integer({ min: 1, max: 192_000 }), (thousandths, rate) => {
        const exact = (BigInt(thousandths) * BigInt(rate) * 2n + 1000n) / 2000n;
        expect(framesOf(thousandths / 1000, rate)).toBe(Number(exact));
      }),
    );
  });

  it('refuses what is no number, or too long', () => {
    expect(() => framesOf(Number.NaN, 16_000)).toThrow(RangeError);
    expect(() => framesOf(1e15, 16_000)).toThrow('too long');
  });
});
