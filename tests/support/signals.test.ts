import { describe, expect, it } from 'vitest';
import {
  firstDifference,
  hashUniform,
  interleaveChannels,
  makeImpulse,
  makeNoise,
  makeSine,
  makeSpeechBursts,
  makeSweep,
  quantize,
  toInt16,
  toInt32,
} from './signals.js';

describe('signals', () => {
  it('hashUniform() hangs on index and seed alone and is even over [0, 1)', () => {
    expect(hashUniform(12, 3)).toBe(hashUniform(12, 3));
    expect(hashUniform(12, 3)).not.toBe(hashUniform(12, 4));
    const counts = Array.from({ length: 10 }, () => 0);
    for (let k = 0; k < 10_000; k += 1) {
      const bin = Math.floor(hashUniform(k, 1) * 10);
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(120);
  });

  it('makeNoise() of more frames begins with that of fewer', () => {
    expect(makeNoise(100, 2).subarray(0, 20)).toEqual(makeNoise(10, 2));
  });

  it('makeSine() and makeSweep() have the frequencies asked for', () => {
    expect(countRisingZeros(makeSine(16_000, 16_000, 100))).toBeCloseTo(100, -1);
    const sweep = makeSweep(16_000, 16_000, 100, 300);
    expect(countRisingZeros(sweep.subarray(0, 1600))).toBeLessThan(countRisingZeros(sweep.subarray(-1600)));
    expect(countRisingZeros(sweep)).toBeCloseTo(200, -1);
  });

  it('makeImpulse() is silent but for one sample', () => {
    const samples = makeImpulse(10, 4, 0.25);
    expect(samples[4]).toBe(0.25);
    expect(samples.filter((x) => x !== 0)).toHaveLength(1);
  });

  it('makeSpeechBursts() is silent between the bursts and heard in them', () => {
    const samples = makeSpeechBursts(16_000, 16_000, { burstSeconds: 0.3, pauseSeconds: 0.2 });
    expect(samples.subarray(4800, 8000).every((x) => x === 0)).toBe(true);
    expect(Math.max(...samples.subarray(0, 4800))).toBeGreaterThan(0.2);
  });

  it('interleaveChannels() puts frames side by side', () => {
    expect([...interleaveChannels(Float64Array.of(1, 2), Float64Array.of(3, 4))]).toEqual([1, 3, 2, 4]);
  });

  it('firstDifference() finds a sample that differs and a length that does', () => {
    const samples = Float64Array.of(1, 2, 3);
    expect(firstDifference(samples, Float64Array.of(1, 2, 3))).toBe(-1);
    expect(firstDifference(samples, Float64Array.of(1, 0, 3))).toBe(1);
    expect(firstDifference(samples, Float64Array.of(1, 2))).toBe(2);
  });

  it('quantize() rounds half to even and clips', () => {
    const step = 2 ** -15;
    const samples = Float64Array.of(0.5 * step, 1.5 * step, -0.5 * step, -1.5 * step, 1.2, -1.2);
    expect([...toInt16(samples)]).toEqual([0, 2, 0, -2, 32_767, -32_768]);
    expect([...quantize(Float64Array.of(0.1), 8)]).toEqual([13 / 128]);
  });

  it('toInt32() holds the bits at the top', () => {
    expect([...toInt32(Float64Array.of(2 ** -23), 24)]).toEqual([256]);
  });
});

function countRisingZeros(samples: Float64Array): number {
  let count = 0;
  for (let n = 1; n < samples.length; n += 1) if ((samples[n - 1] ?? 0) <= 0 && (samples[n] ?? 0) > 0) count += 1;
  return count;
}
