// What the resampler does to the level, the spectrum, the place and the edges of a span, with figures.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FrameSpan } from '#cutroom/audio/cut-spans.js';
import { hashUniform, makeNoise, makeSine } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { cutToMemory, worstDifference } from './cut-to-memory.js';
import { decibels, fitSine, resampleAt } from './measure.js';

const RATES = [
  [48_000, 16_000],
  [44_100, 16_000],
  [22_050, 16_000],
  [8_000, 16_000],
  [11_025, 16_000],
  [96_000, 16_000],
  [47_999, 16_000],
  [16_000, 24_000],
] as const;
const AMPLITUDE = 0.5;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-resample-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(samples: Float64Array, sampleRate: number): string {
  const file = path.join(folder, 'x.wav');
  writeFileSync(file, buildWav(samples, { sampleRate, encoding: 'f32' }));
  return file;
}

async function resample(
  samples: Float64Array,
  rate: number,
  targetRate: number,
  span: FrameSpan,
): Promise<Float32Array> {
  const cut = await cutToMemory(write(samples, rate), [span], { targetRate });
  return cut.spans[0]?.samples ?? new Float32Array(0);
}

describe.each(RATES)('cutSpans() from %i to %i Hz', (rate, targetRate) => {
  const lowerNyquistHz = Math.min(rate, targetRate) / 2;
  const frames = Math.round(rate * 0.6);
  /** Inside a recording of a steady tone, at a frame that is on no grid of the other rate. */
  const span = { firstFrame: Math.round(rate * 0.1) + 7, endFrame: Math.round(rate * 0.5) + 7 };

  it('keeps level and phase up to 0.85 of the lower Nyquist frequency, and adds nothing', async () => {
    for (const part of [0.02, 0.3, 0.6, 0.75, 0.85]) {
      const frequencyHz = part * lowerNyquistHz;
      const output = await resample(makeSine(frames, rate, frequencyHz, AMPLITUDE), rate, targetRate, span);
      const fit = fitSine(output, frequencyHz / targetRate);
      expect(Math.abs(decibels(fit.amplitude / AMPLITUDE))).toBeLessThan(0.1);
      expect(decibels(fit.residualRms / (AMPLITUDE * Math.SQRT1_2))).toBeLessThan(-100);
      // Sample 0 stands at the span's first source frame.
      const cyclesOff = fit.phaseCycles - (span.firstFrame * frequencyHz) / rate;
      const samplesOff = (cyclesOff - Math.round(cyclesOff)) / (frequencyHz / targetRate);
      expect(Math.abs(samplesOff)).toBeLessThan(1e-3);
    }
  });

  it('leaves nothing of tones above 1.1 of it, and no images of those below 0.9', async () => {
    for (const part of [1.1, 1.2, 1.45, 1.9, 2.4]) {
      const frequencyHz = part * lowerNyquistHz;
      if (frequencyHz >= rate / 2) continue;
      const output = await resample(makeSine(frames, rate, frequencyHz, AMPLITUDE), rate, targetRate, span);
      expect(decibels(rms(output) / (AMPLITUDE * Math.SQRT1_2))).toBeLessThanOrEqual(-90);
    }
    const frequencyHz = 0.9 * lowerNyquistHz;
    const output = await resample(makeSine(frames, rate, frequencyHz, AMPLITUDE), rate, targetRate, span);
    const { residualRms } = fitSine(output, frequencyHz / targetRate);
    expect(decibels(residualRms / (AMPLITUDE * Math.SQRT1_2))).toBeLessThanOrEqual(-90);
  });

  it('gives ceil(frames · target / source) samples, whatever the span', async () => {
    const length = 5000;
    const file = write(makeNoise(length), rate);
    const frame = fc.integer({ min: 0, max: length + 100 });
    const spans = fc.array(fc.tuple(frame, fc.integer({ min: 1, max: 3000 })), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(spans, async (drawn) => {
        const sorted = drawn
          .map(([firstFrame, size]) => ({ firstFrame, endFrame: firstFrame + size }))
          .toSorted((a, b) => a.firstFrame - b.firstFrame);
        const cut = await cutToMemory(file, sorted, { targetRate });
        for (const [k, { firstFrame, endFrame }] of sorted.entries()) {
          const held = Math.max(0, Math.min(endFrame, length) - firstFrame);
          expect(cut.spans[k]?.samples.length).toBe(
            Number((BigInt(held * targetRate) + BigInt(rate - 1)) / BigInt(rate)),
          );
          expect(cut.spans[k]?.missedAt).toBe(held === 0 ? length : undefined);
        }
      }),
      { numRuns: rate === 47_999 ? 3 : 15, seed: 5 },
    );
  });

  it('equals a resample of the whole recording from the first frame on, at the edges too', async () => {
    const samples = makeTones(frames, rate, 0.75 * lowerNyquistHz);
    const half = Math.round(rate * 0.02);
    for (const firstFrame of [0, 1, 1234, Math.floor(frames / 2) + 5, frames - half, frames - 3]) {
      const endFrame = firstFrame + half;
      const output = await resample(samples, rate, targetRate, { firstFrame, endFrame });
      const held = Math.min(endFrame, frames) - firstFrame;
      expect(output.length).toBe(Math.ceil((held * targetRate) / rate - 1e-9));
      const instants = Float64Array.from(output, (_, k) => firstFrame + (k * rate) / targetRate);
      const wanted = resampleAt(samples, instants, Math.min(1, targetRate / rate));
      expect([firstFrame, decibels(worstDifference(output, wanted)) < -90]).toEqual([firstFrame, true]);
    }
  });

  it('gives the same samples for a span as for a longer one on the same grid', async () => {
    const samples = makeNoise(frames, 1, 9, 0.9);
    const step = rate / greatestCommonDivisor(rate, targetRate);
    const whole = await resample(samples, rate, targetRate, { firstFrame: 0, endFrame: frames });
    for (const steps of [1, Math.floor(frames / step / 2)].filter((each) => each * step < frames)) {
      const firstFrame = steps * step;
      const output = await resample(samples, rate, targetRate, { firstFrame, endFrame: frames });
      const offset = (firstFrame / rate) * targetRate;
      expect(output.length).toBe(whole.length - Math.round(offset));
      expect(worstDifference(output, whole.slice(Math.round(offset)))).toBeLessThan(1e-6);
    }
  });
});

/** Tones up to a frequency, fading in and out so that the silence around them adds no other frequencies. */
function makeTones(frames: number, rate: number, highestHz: number): Float64Array {
  const tones = Array.from({ length: 24 }, (_, k) => ({
    frequencyHz: highestHz * hashUniform(k, 11),
    phase: hashUniform(k, 12),
  }));
  const fade = rate * 0.05;
  return new Float64Array(frames).map((_, n) => {
    const fromEdge = Math.min(n, frames - 1 - n);
    const level = fromEdge >= fade ? 1 : 0.5 - 0.5 * Math.cos((Math.PI * fromEdge) / fade);
    const sum = tones.reduce(
      (x, { frequencyHz, phase }) => x + Math.sin(2 * Math.PI * ((frequencyHz * n) / rate + phase)),
      0,
    );
    return Math.fround((level * sum * 0.9) / tones.length);
  });
}

function rms(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
