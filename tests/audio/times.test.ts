import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endFrame, firstFrame, toMicros, toSeconds } from '#cutroom/audio/times.js';

describe('toMicros()', () => {
  it('takes the float noise out of spans', () => {
    expect(32.2 - 2.2).not.toBe(30);
    expect(toMicros(32.2) - toMicros(2.2)).toBe(30_000_000);
    expect(toMicros(2.3) - toMicros(1.8)).toBe(500_000);
    expect(toMicros(0.7) - toMicros(0.2)).toBe(500_000);
  });

  it('gives no -0', () => {
    expect(Object.is(toMicros(-0), 0)).toBe(true);
    expect(Object.is(toMicros(-1e-7), 0)).toBe(true);
  });

  it('is undone by toSeconds() for times on a grid of microseconds', () => {
    fc.assert(fc.property(fc.integer({ min: -1e9, max: 1e14 }), (micros) => toMicros(toSeconds(micros)) === micros));
  });
});

describe('firstFrame() and endFrame()', () => {
  it.each([
    [12.4, 42.1, 48_000, 595_200, 2_020_800],
    [1.001, 2.007, 16_000, 16_016, 32_112],
    [0.35, 1.35, 44_100, 15_435, 59_535],
    [2.2, 32.2, 16_000, 35_200, 515_200],
    [0.000_01, 1.000_01, 8000, 0, 8001],
    [-1.5, 2, 16_000, 0, 32_000],
    [-2, -1, 16_000, 0, 0],
  ])('widens %d to %d s at %d Hz to whole frames', (start, end, rateHz, first, last) => {
    expect([firstFrame(toMicros(start), rateHz), endFrame(toMicros(end), rateHz)]).toEqual([first, last]);
  });

  it('agrees with exact arithmetic for days of audio at any rate', () => {
    const micros = fc.integer({ min: 0, max: 1e13 });
    fc.assert(
      fc.property(micros, fc.integer({ min: 1, max: 768_000 }), (time, rateHz) => {
        const product = BigInt(time) * BigInt(rateHz);
        expect(BigInt(firstFrame(time, rateHz))).toBe(product / 1_000_000n);
        expect(BigInt(endFrame(time, rateHz))).toBe((product + 999_999n) / 1_000_000n);
      }),
    );
  });
});
