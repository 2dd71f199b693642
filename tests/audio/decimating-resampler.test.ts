// Rates that are a whole number of times lower, against the definition of the filter and against the codec library.
import { AV_CHANNEL_LAYOUT_STEREO, AV_SAMPLE_FMT_FLTP } from 'node-av/constants';
import { Frame } from 'node-av/lib';
import { describe, expect, it } from 'vitest';
import { DecimatingResampler } from '#cutroom/audio/decimating-resampler.js';
import { LibraryResampler } from '#cutroom/audio/library-resampler.js';
import { createResampler } from '#cutroom/audio/span-resampler.js';
import type { SpanResampler } from '#cutroom/audio/span-resampler.js';
import { hashUniform, makeNoise } from '../support/signals.js';
import { worstDifference } from './cut-to-memory.js';

const TARGET = 16_000;
const LAYOUT = AV_CHANNEL_LAYOUT_STEREO;
const STEPS = [2, 3, 4, 5, 6, 12, 63, 64] as const;

type Stereo = readonly [Float32Array, Float32Array];

function makeStereo(frames: number): Stereo {
  return [Float32Array.from(makeNoise(frames, 1, 1, 0.9)), Float32Array.from(makeNoise(frames, 1, 2, 0.9))];
}

/** What a span of a recording gives that comes in blocks of the given sizes, the last one again and again. */
function resample(
  resampler: SpanResampler,
  signal: Stereo,
  rate: number,
  { firstFrame, endFrame, blockFrames }: { firstFrame: number; endFrame: number; blockFrames: readonly number[] },
): Float32Array {
  const length = signal[0].length;
  const wanted = resampler.outputLength(Math.min(endFrame, length) - firstFrame);
  const output: number[] = [];
  const keep = (made: number): void => void output.push(...resampler.samples.subarray(0, made));
  let at = Math.max(0, firstFrame - resampler.contextFrames);
  resampler.begin(firstFrame, at);
  for (let block = 0; at < length && output.length < wanted; block += 1) {
    const frames = Math.min(blockFrames[block] ?? blockFrames.at(-1) ?? 1, length - at);
    using frame = makeBlock(signal, rate, at, frames);
    keep(resampler.push(frame, frames, wanted - output.length));
    at += frames;
  }
  for (let isFirst = true; output.length < wanted; isFirst = false) {
    const made = resampler.flush(isFirst);
    expect(made).toBeGreaterThan(0);
    keep(made);
  }
  return Float32Array.from(output.slice(0, wanted));
}

function makeBlock(signal: Stereo, rate: number, at: number, frames: number): Frame {
  const frame = new Frame();
  frame.alloc();
  Object.assign(frame, { format: AV_SAMPLE_FMT_FLTP, sampleRate: rate, channelLayout: LAYOUT, nbSamples: frames });
  expect(frame.getBuffer(0)).toBeGreaterThanOrEqual(0);
  for (const [channel, samples] of signal.entries()) {
    const plane = frame.extendedData?.[channel];
    if (plane === undefined) throw new Error(`The frame has no channel ${channel}`);
    new Float32Array(plane.buffer, plane.byteOffset, frames).set(samples.subarray(at, at + frames));
  }
  return frame;
}

/** By the definition: a sinc of 0.96 of the band under a Kaiser window of 48 taps at the lower rate, whose taps add up to 1. */
function filterAt(signal: Float64Array, step: number, place: number): number {
  const taps = Math.ceil((48 * step) / 0.96);
  const reach = Math.ceil(taps / 2) - 1;
  let [sum, gain] = [0, 0];
  for (let distance = -reach; distance <= reach; distance += 1) {
    const x = (Math.PI * 0.96 * distance) / step;
    const window = besselOf(10 * Math.sqrt(1 - ((2 * distance) / taps) ** 2));
    const tap = (distance === 0 ? 1 : Math.sin(x) / x) * window;
    gain += tap;
    sum += tap * (signal[place + distance] ?? 0);
  }
  return sum / gain;
}

function besselOf(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; k < 60; k += 1) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}

function bytesOf(samples: Float32Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

describe('DecimatingResampler', () => {
  it('serves whole steps downwards alone', () => {
    const pairs = [
      [48_000, 16_000],
      [44_100, 22_050],
      [1_024_000, 16_000],
      [16_000, 16_000],
      [16_000, 48_000],
      [44_100, 16_000],
      [1_040_000, 16_000],
    ] as const;
    expect(pairs.map(([source, target]) => DecimatingResampler.serves(source, target))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    const made = pairs.map(([sampleRate, target]) => {
      using resampler = createResampler({ layout: LAYOUT, format: AV_SAMPLE_FMT_FLTP, sampleRate }, target, 'average');
      return resampler.constructor.name;
    });
    expect(made).toEqual([
      ...Array.from({ length: 3 }, () => DecimatingResampler.name),
      ...Array.from({ length: 4 }, () => LibraryResampler.name),
    ]);
  });

  it.each(STEPS)('gives at a rate %i times lower what the filter gives by its definition', (step) => {
    const rate = step * TARGET;
    const signal = makeStereo(3000 + 100 * step);
    const input = { layout: LAYOUT, format: AV_SAMPLE_FMT_FLTP, sampleRate: rate };
    for (const mix of ['average', 0, 1] as const) {
      const mixed = Float64Array.from(signal[0], (left, n) =>
        mix === 'average' ? Math.fround((left + (signal[1][n] ?? 0)) / 2) : (signal[mix][n] ?? 0),
      );
      using resampler = new DecimatingResampler(input, TARGET, mix);
      for (const firstFrame of [0, 1, 7 * step + 1, 1500, mixed.length - 3 * step - 1]) {
        const output = resample(resampler, signal, rate, { firstFrame, endFrame: Infinity, blockFrames: [4096] });
        expect(output.length).toBe(Math.ceil((mixed.length - firstFrame) / step));
        const wanted = Float64Array.from(output, (_, n) => filterAt(mixed, step, firstFrame + n * step));
        expect(worstDifference(output, wanted), `${mix} from ${firstFrame}`).toBeLessThan(2 ** -21);
      }
    }
  });

  it.each(STEPS)('agrees with the codec library at a rate %i times lower', (step) => {
    const rate = step * TARGET;
    const signal = makeStereo(10_000 + 50 * step);
    const input = { layout: LAYOUT, format: AV_SAMPLE_FMT_FLTP, sampleRate: rate };
    using own = new DecimatingResampler(input, TARGET, 'average');
    using library = new LibraryResampler(input, TARGET, 'average');
    expect(own.contextFrames).toBe(library.contextFrames);
    for (const span of [
      { firstFrame: 0, endFrame: 9000 },
      { firstFrame: 3333, endFrame: 6000 },
      { firstFrame: 9001, endFrame: Infinity },
    ]) {
      const output = resample(own, signal, rate, { ...span, blockFrames: [1000] });
      const wanted = resample(library, signal, rate, { ...span, blockFrames: [1000] });
      expect(output.length).toBe(wanted.length);
      expect(worstDifference(output, wanted)).toBeLessThan(2 ** -21);
    }
  });

  it.each([2, 3, 64] as const)('gives the same bytes whatever blocks the audio comes in, %i times lower', (step) => {
    const rate = step * TARGET;
    const signal = makeStereo(30_000);
    const input = { layout: LAYOUT, format: AV_SAMPLE_FMT_FLTP, sampleRate: rate };
    using resampler = new DecimatingResampler(input, TARGET, 'average');
    const whole = resample(resampler, signal, rate, { firstFrame: 0, endFrame: Infinity, blockFrames: [30_000] });
    for (const seed of [1, 2, 3]) {
      const sizes = Array.from({ length: 200 }, (_, n) => 1 + Math.floor(hashUniform(n, seed) ** 4 * 9000));
      const firstFrame = step * Math.floor(hashUniform(seed, 9) * 100);
      const endFrame = firstFrame + 20_000;
      const output = resample(resampler, signal, rate, { firstFrame, endFrame, blockFrames: sizes });
      const from = firstFrame / step;
      expect(bytesOf(output).equals(bytesOf(whole.slice(from, from + output.length)))).toBe(true);
    }
  });

  it('keeps spans apart that are fed in turns', () => {
    const rate = 3 * TARGET;
    const signal = makeStereo(20_000);
    const input = { layout: LAYOUT, format: AV_SAMPLE_FMT_FLTP, sampleRate: rate };
    using alone = new DecimatingResampler(input, TARGET, 0);
    const wanted = resample(alone, signal, rate, { firstFrame: 0, endFrame: Infinity, blockFrames: [500] });
    using first = new DecimatingResampler(input, TARGET, 0);
    using second = new DecimatingResampler({ ...input, sampleRate: 2 * TARGET }, TARGET, 1);
    first.begin(0, 0);
    second.begin(0, 0);
    const output: number[] = [];
    for (let at = 0; at < signal[0].length; at += 500) {
      using frame = makeBlock(signal, rate, at, 500);
      const made = first.push(frame, 500, Infinity);
      using other = makeBlock(signal, 2 * TARGET, at, 500);
      second.push(other, 500, Infinity);
      output.push(...first.samples.subarray(0, made));
    }
    expect(bytesOf(Float32Array.from(output)).equals(bytesOf(wanted.slice(0, output.length)))).toBe(true);
    expect(output.length).toBeGreaterThan(wanted.length - 30);
  });

  it('refuses audio that begins behind the span', () => {
    const input = { layout: LAYOUT, format: AV_SAMPLE_FMT_FLTP, sampleRate: 48_000 };
    using resampler = new DecimatingResampler(input, TARGET, 'average');
    expect(() => resampler.begin(10, 11)).toThrow('A span from frame 10 on is fed from frame 11 on');
  });
});
