// Rounding and clipping to 16 bits, from floats in a recording to the samples of WAV and FLAC.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from '../support/decode.js';
import { hashUniform, makeNoise, makeSine, toInt16 } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import type { WavEncoding } from '../support/wav-files.js';
import { cutToMemory, encodeInMemory, samplesOfWav } from './cut-to-memory.js';

const RATE = 16_000;
const LSB = 1 / 32_768;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-pcm-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a float WAV of these samples becomes, as WAV and as FLAC, which must agree. */
async function convert(
  samples: Float64Array,
  { encoding = 'f32', rate = RATE }: { encoding?: WavEncoding; rate?: number } = {},
): Promise<{ samples: Int16Array; clippedSamples: number; invalidSamples: number }> {
  const file = path.join(folder, 'floats.wav');
  writeFileSync(file, buildWav(samples, { encoding, sampleRate: rate }));
  const cut = await cutToMemory(file, [{ firstFrame: 0, endFrame: samples.length }], { targetRate: RATE });
  const floats = cut.spans[0]?.samples ?? new Float32Array(0);
  const wav = encodeInMemory('wav', RATE, floats);
  const flac = encodeInMemory('flac', RATE, floats);
  const decoded = path.join(folder, 'decoded.flac');
  writeFileSync(decoded, flac.bytes);
  expect(toInt16(decodeFile(decoded).samples)).toEqual(samplesOfWav(wav.bytes));
  expect([flac.clippedSamples, flac.invalidSamples]).toEqual([wav.clippedSamples, wav.invalidSamples]);
  return { ...wav, samples: samplesOfWav(wav.bytes) };
}

describe('16-bit samples', () => {
  it('are rounded half to even', async () => {
    const steps = Array.from({ length: 200 }, (_, k) => k - 100.5);
    const edges = [32_765.5, 32_766.5, -32_766.5, -32_767.5, 20_000.5, -20_001.5];
    const { samples, clippedSamples } = await convert(Float64Array.from([...steps, ...edges], (x) => x * LSB));
    expect([...samples]).toEqual([...steps, ...edges].map((x) => 2 * Math.round(x / 2)).map((x) => x + 0));
    expect(clippedSamples).toBe(0);
  });

  it('are the nearest step everywhere', async () => {
    const floats = makeNoise(20_000, 1, 2, 1.2).map(Math.fround);
    const { samples, clippedSamples } = await convert(floats);
    expect(samples).toEqual(toInt16(floats));
    // 32,767.5 would be rounded to 32,768, so it is beyond full scale; −32,768.5 goes to the even −32,768.
    const beyond = floats.filter((x) => x * 32_768 >= 32_767.5 || x * 32_768 < -32_768.5);
    expect(clippedSamples).toBe(beyond.length);
    expect(beyond.length).toBeGreaterThan(1000);
  });

  it('are clipped at full scale, counted where something is cut off', async () => {
    const cases: [number, number, number][] = [
      [1, 32_767, 1],
      [-1, -32_768, 0],
      [32_767 * LSB, 32_767, 0],
      [32_767.25 * LSB, 32_767, 0],
      [32_767.5 * LSB, 32_767, 1],
      [-32_768.25 * LSB, -32_768, 0],
      [-32_768.5 * LSB, -32_768, 0],
      [-32_769 * LSB, -32_768, 1],
      [1.5, 32_767, 1],
      [-1.5, -32_768, 1],
      [1e30, 32_767, 1],
      [-1e30, -32_768, 1],
      [Infinity, 32_767, 1],
      [-Infinity, -32_768, 1],
    ];
    for (const [input, output, clipped] of cases) {
      const result = await convert(Float64Array.from([0.25, input, 0]));
      expect([input, result.samples[1], result.clippedSamples]).toEqual([input, output, clipped]);
    }
  });

  it('are silence where the input is not a number, counted', async () => {
    for (const encoding of ['f32', 'f64'] as const) {
      const result = await convert(Float64Array.from([0.5, NaN, -0.5, NaN]), { encoding });
      expect([...result.samples]).toEqual([16_384, 0, -16_384, 0]);
      expect([result.clippedSamples, result.invalidSamples]).toEqual([0, 2]);
    }
  });

  it('are clipped in single blocks in the middle of long audio, and right around them', async () => {
    const floats = makeNoise(70_000, 1, 8, 0.3).map(Math.fround);
    const loud = [0, 4095, 4096, 30_000, 30_001, 69_999];
    for (const [k, at] of loud.entries()) floats[at] = k % 2 === 0 ? 1.25 : -1.25;
    floats[50_000] = NaN;
    const { samples, clippedSamples, invalidSamples } = await convert(floats);
    expect(samples).toEqual(toInt16(floats.map((x) => (Number.isNaN(x) ? 0 : x))));
    expect([clippedSamples, invalidSamples]).toEqual([loud.length, 1]);
  });

  it('are clipped behind the resampler, where the waveform goes beyond full scale', async () => {
    const { samples, clippedSamples } = await convert(makeSine(48_000, 48_000, 440, 1.5), { rate: 48_000 });
    const expected = makeSine(16_000, 16_000, 440, 1.5);
    // The resampler keeps the level to 0.01 dB, so only samples near the threshold may go either way.
    const surely = expected.filter((x) => Math.abs(x) > 1.002).length;
    const possibly = expected.filter((x) => Math.abs(x) > 0.998).length;
    expect(clippedSamples).toBeGreaterThanOrEqual(surely);
    expect(clippedSamples).toBeLessThanOrEqual(possibly);
    const extremes = samples.filter((x) => x === 32_767 || x === -32_768).length;
    expect(extremes).toBeGreaterThanOrEqual(surely);
  });

  it('are silent behind the resampler around what is not a number, and nowhere else', async () => {
    const floats = makeNoise(48_000, 1, 8, 0.3).map(Math.fround);
    const good = await convert(floats, { rate: 48_000 });
    floats[24_000] = NaN;
    const { samples, invalidSamples } = await convert(floats, { rate: 48_000 });
    expect(invalidSamples).toBeGreaterThan(0);
    expect(invalidSamples).toBeLessThan(60);
    for (const [from, to] of [
      [0, 8000 - 60],
      [8000 + 60, 16_000],
    ] as const) {
      expect(samples.slice(from, to)).toEqual(good.samples.slice(from, to));
    }
  });

  it('do not hang on the pieces in which they come', () => {
    const floats = Float32Array.from(makeNoise(13_000, 1, 3, 1.1));
    const whole = encodeInMemory('wav', RATE, floats, { pieceSamples: 13_000 });
    for (const pieceSamples of [1, 1152, 4096, 4097]) {
      const pieces = encodeInMemory('wav', RATE, floats, { pieceSamples });
      expect(pieces.bytes.equals(whole.bytes)).toBe(true);
      expect(pieces.clippedSamples).toBe(whole.clippedSamples);
    }
  });

  it('are the same for integers of more than 16 bits', async () => {
    const halves = Float64Array.from(
      { length: 1000 },
      (_, k) => (Math.floor(hashUniform(k, 4) * 65_000) - 32_500 + 0.5) * LSB,
    );
    for (const encoding of ['s24', 's32'] as const) {
      const file = path.join(folder, 'integers.wav');
      writeFileSync(file, buildWav(halves, { encoding, sampleRate: RATE }));
      const cut = await cutToMemory(file, [{ firstFrame: 0, endFrame: 1000 }], { targetRate: RATE });
      const wav = encodeInMemory('wav', RATE, cut.spans[0]?.samples ?? new Float32Array(0));
      expect(samplesOfWav(wav.bytes)).toEqual(toInt16(halves));
    }
  });
});
