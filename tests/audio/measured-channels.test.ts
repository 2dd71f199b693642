import { describe, expect, it } from 'vitest';
import { kWeighting } from '#cutroom/audio/k-weighting.js';
import { MeasuredChannels } from '#cutroom/audio/measured-channels.js';
import { hashUniform, makeNoise } from '../support/signals.js';

/** Pushes signals in pieces of any size, and gives what comes out, without what silence behind them would bring. */
function convert(signals: readonly Float32Array[], rates: readonly [number, number], seed = 1): Float32Array[] {
  using channels = new MeasuredChannels(signals.length, ...rates);
  const outputs: Float32Array[][] = signals.map(() => []);
  const length = signals[0]?.length ?? 0;
  for (let at = 0, piece = 0; at < length; piece += 1) {
    const end = Math.min(length, at + 1 + Math.floor(hashUniform(piece, seed) * 7000));
    while (at < end) {
      const { taken, made } = channels.push(signals, at, end);
      for (const [index, samples] of channels.samples.entries()) outputs[index]?.push(samples.slice(0, made));
      at += taken;
    }
  }
  return outputs.map((pieces) => Float32Array.from(pieces.flatMap((piece) => [...piece])));
}

function bytesOf(signals: readonly Float32Array[]): Buffer {
  return Buffer.concat(signals.map(({ buffer }) => Buffer.from(buffer)));
}

function besselOf(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; k < 60; k += 1) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}

/** By the definition: a sinc under a Kaiser window around the place of the output, whose taps add up to 1. */
function interpolate(signal: Float32Array, [source, target]: readonly [number, number], output: number): number {
  const band = Math.min(1, (0.95 * target) / source);
  const reach = 4 * Math.ceil(20 / band / 8);
  const place = (output * source) / target;
  let [sum, gain] = [0, 0];
  for (let at = Math.floor(place) - reach + 1; at <= Math.floor(place) + reach; at += 1) {
    const x = at - place;
    const sinc = Math.abs(x) < 1e-9 ? 1 : Math.sin(Math.PI * band * x) / (Math.PI * band * x);
    const tap = sinc * besselOf(7 * Math.sqrt(Math.max(0, 1 - (x / reach) ** 2)));
    gain += tap;
    sum += tap * (signal[at] ?? 0);
  }
  return sum / gain;
}

describe('MeasuredChannels', () => {
  it.each([
    [48_000, 44_100],
    [44_100, 48_000],
    [48_000, 16_000],
    [96_000, 22_050],
    [8000, 44_100],
    [11_025, 384_000],
    [384_000, 8000],
    [16_001, 16_000],
  ] as const)('brings %i Hz to %i Hz as a windowed sinc does', (source, target) => {
    const signal = Float32Array.from(makeNoise(12_000));
    const [samples = new Float32Array(0)] = convert([signal], [source, target]);
    const reach = 4 * Math.ceil(20 / Math.min(1, (0.95 * target) / source) / 8);
    // All whose taps lie in the signal or before it.
    const places = Math.ceil(((signal.length - reach) * target) / source);
    expect(samples).toHaveLength(places);
    for (let output = 0; output < places; output += Math.ceil(places / 700)) {
      expect(samples[output]).toBeCloseTo(interpolate(signal, [source, target], output), 5);
    }
  });

  it('takes less at once where much comes out of it', () => {
    const signal = Float32Array.from(makeNoise(400));
    const [samples = new Float32Array(0)] = convert([signal], [100, 44_100]);
    for (let output = 0; output < samples.length; output += 997) {
      expect(samples[output]).toBeCloseTo(interpolate(signal, [100, 44_100], output), 5);
    }
    using channels = new MeasuredChannels(1, 100, 44_100);
    const { taken, made } = channels.push([signal], 0, 400);
    expect(taken).toBeLessThan(400);
    expect(made).toBeLessThan(2 ** 16);
  });

  it('gives the same whatever the pieces, to each channel its own', () => {
    const signals = [1, 2, 3].map((seed) => Float32Array.from(makeNoise(50_000, 1, seed)));
    for (const rates of [
      [48_000, 44_100],
      [16_000, 44_100],
      [44_100, 44_100],
    ] as const) {
      const together = bytesOf(convert(signals, rates, 1));
      expect(bytesOf(convert(signals, rates, 2)).equals(together)).toBe(true);
      expect(bytesOf(signals.flatMap((signal) => convert([signal], rates, 3))).equals(together)).toBe(true);
    }
  });

  it('keeps the samples where the rates are the same', () => {
    const signal = Float32Array.from(makeNoise(10_000));
    expect(convert([signal], [44_100, 44_100])).toEqual([signal]);
  });

  it('adds up the squares of what the filters of the standard make of the samples', () => {
    const signals = [4, 5].map((seed) => Float32Array.from(makeNoise(4096, 1, seed)));
    using channels = new MeasuredChannels(2, 22_050, 22_050);
    channels.push(signals, 0, 4096);
    const weighted = signals.map((signal) => weigh(signal, 22_050));
    for (let from = 0, part = 0; from < 4096; part += 1) {
      const to = Math.min(4096, from + 1 + (part % 7 === 0 ? 220 : part % 4));
      for (const [index, values] of weighted.entries()) {
        const expected = values.slice(from, to).reduce((sum, value) => sum + value * value, 0);
        expect(channels.energy(index, from, to)).toBeCloseTo(expected, 9);
        const heights = signals[index]?.subarray(from, to).map(Math.abs) ?? [];
        expect(channels.highest(index)).toBe(Math.max(...heights));
      }
      from = to;
    }
  });

  it('takes samples that are no number for silence, and goes on as if they had been', () => {
    const clean = Float32Array.from(makeNoise(3000));
    clean.fill(0, 1000, 1003);
    const broken = Float32Array.from(clean);
    broken.set([NaN, Infinity, -Infinity], 1000);
    using channels = new MeasuredChannels(2, 48_000, 48_000);
    channels.push([clean, broken], 0, 3000);
    for (const [from, to] of [
      [0, 990],
      [990, 1001],
      [1001, 1100],
      [1100, 3000],
    ] as const) {
      expect(channels.energy(1, from, to)).toBe(channels.energy(0, from, to));
      expect(channels.highest(1)).toBe(channels.highest(0));
    }
  });

  it('has nothing left of the signal before it', () => {
    const signal = Float32Array.from(makeNoise(9000, 1, 6));
    const measure = (): number[] => {
      using channels = new MeasuredChannels(1, 48_000, 44_100);
      const { made } = channels.push([signal], 0, 4096);
      return [channels.energy(0, 0, made), ...(channels.samples[0]?.subarray(0, made) ?? [])];
    };
    const first = measure();
    convert([Float32Array.from(makeNoise(9000, 1, 7))], [96_000, 8000]);
    expect(measure()).toEqual(first);
  });
});

/** Both filters one after the other, in direct form I. */
function weigh(signal: Float32Array, sampleRate: number): number[] {
  let values = [...signal];
  for (const { b0, b1, b2, a1, a2 } of kWeighting(sampleRate)) {
    const made: number[] = [];
    for (const [n, x] of values.entries()) {
      const inputs = b0 * x + b1 * (values[n - 1] ?? 0) + b2 * (values[n - 2] ?? 0);
      made.push(inputs - a1 * (made[n - 1] ?? 0) - a2 * (made[n - 2] ?? 0));
    }
    values = made;
  }
  return values;
}
