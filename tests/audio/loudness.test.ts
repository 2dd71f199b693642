import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { channelWeights } from '#cutroom/audio/channel-weights.js';
import { measureLoudness, type LoudnessOptions } from '#cutroom/audio/loudness.js';
import { LoudnessMeter } from '#cutroom/audio/loudness-meter.js';
import { TruePeakMeter } from '#cutroom/audio/true-peak.js';
import { makeNoise } from '../support/signals.js';
import { buildWav, type WavOptions } from '../support/wav-files.js';
import { measureSignal, measureStereo, RATE, toneOf } from './ebu-signals.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-loudness-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const native: LoudnessOptions = { windowSeconds: 1, sampleRate: null, mono: false };

async function measureWav(samples: Float64Array, wav: WavOptions, options: LoudnessOptions) {
  const file = path.join(folder, 'a.wav');
  writeFileSync(file, buildWav(samples, wav));
  return await measureLoudness(file, options, () => setImmediate());
}

// The longer cases of both documents are in tests/slow/audio/loudness.test.ts.
describe('EBU Tech 3341', () => {
  it('case 1: a steady tone', () => {
    const { integratedLufs, maxMomentaryLufs, maxShortTermLufs } = measureStereo([[20, -23]]);
    for (const measured of [integratedLufs, maxMomentaryLufs, maxShortTermLufs])
      expect(Math.abs(measured + 23)).toBeLessThanOrEqual(0.1);
  });

  it('section 2.9: the tone by which meters are aligned', () => {
    expect(Math.abs(measureStereo([[5, -18]]).integratedLufs + 18)).toBeLessThanOrEqual(0.1);
  });

  it('case 9: short-term loudness of a level that changes', () => {
    const parts = Array.from({ length: 5 }, () => [
      [1.34, -20],
      [1.66, -30],
    ]).flat() as [number, number][];
    expect(Math.abs(measureStereo(parts).maxShortTermLufs + 23)).toBeLessThanOrEqual(0.1);
  });

  it.each([
    [15, 4, 0, 0.5, -6],
    [16, 4, 45, 0.5, -6],
    [17, 6, 60, 0.5, -6],
    [18, 8, 67.5, 0.5, -6],
    [19, 4, 45, 1.41, 3],
  ])('case %i: true peak of a tone of a %i-th of the rate at %f degrees', (_, part, degrees, amplitude, expected) => {
    const length = RATE / 2;
    const samples = Float32Array.from({ length }, (__, n) => {
      // Without a fade the step at the start would ring.
      const fade = fadeOf(n, length, FADE_SECONDS * RATE);
      return fade * amplitude * Math.sin((2 * Math.PI * n) / part + (degrees * Math.PI) / 180);
    });
    const { truePeakDb } = measureSignal([samples, samples]);
    expect(truePeakDb - expected).toBeLessThanOrEqual(0.2);
    expect(truePeakDb - expected).toBeGreaterThanOrEqual(-0.4);
  });

  it.each([0, 1, 2, 3])('cases 20 to 23: true peak between the samples, %i quarters of one off', (offset) => {
    const samples = decimate(cycleAtFourTimes(), offset);
    const { truePeakDb } = measureSignal([samples, samples]);
    expect(truePeakDb).toBeLessThanOrEqual(0.2);
    expect(truePeakDb).toBeGreaterThanOrEqual(-0.4);
  });
});

const FADE_SECONDS = 0.01;

function fadeOf(n: number, length: number, fadeLength: number): number {
  return Math.min(1, n / fadeLength, (length - n) / fadeLength);
}

/**
 * A tone of a sixth of the rate at half of full scale, in the middle of it one cycle of a fourth of the rate at full scale, which begins and ends
 * where the tone passes zero: made at four times the rate, without what the rate does not hold. The document leaves the filter open.
 */
function cycleAtFourTimes(): Float64Array {
  const length = 4 * 2400;
  const tone = new Float64Array(length).map((_, n) => {
    const behind = n - length / 2;
    if (behind >= 0 && behind < 16) return Math.sin((2 * Math.PI * behind) / 16);
    const phase = behind < 0 ? behind : behind - 16;
    return fadeOf(n, length, 4 * FADE_SECONDS * RATE) * 0.5 * Math.sin((2 * Math.PI * phase) / 24);
  });
  const reach = 128;
  const cutoff = 0.45 / 4;
  const taps = Array.from({ length: 2 * reach + 1 }, (_, k) => {
    const x = k - reach;
    const sinc = x === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * x) / (Math.PI * x);
    return sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / reach));
  });
  return tone.map((_, n) => taps.reduce((sum, tap, k) => sum + tap * (tone[n + k - reach] ?? 0), 0));
}

function decimate(samples: Float64Array, offset: number): Float32Array {
  return Float32Array.from({ length: samples.length / 4 }, (_, n) => samples[4 * n + offset] ?? 0);
}

describe('LoudnessMeter', () => {
  it('gives the same whatever the blocks, at rates of which 100 ms is no whole number of samples too', () => {
    for (const rate of [11_025, 22_050, 44_100]) {
      const samples = Float32Array.from(makeNoise(rate * 5 + 77));
      const results = [97, 4096, samples.length].map((size) => {
        const windowSamples = Math.round(0.75 * rate);
        using meter = new LoudnessMeter({ sourceRate: rate, sampleRate: rate, weights: [1], windowSamples });
        for (let at = 0; at < samples.length; at += size) {
          const block = samples.subarray(at, at + size);
          meter.push([block], block.length);
        }
        return meter.finish();
      });
      expect(results[0]?.windows).toHaveLength(Math.floor(samples.length / Math.round(0.75 * rate)));
      for (const { summary, windows } of results.slice(1)) {
        expect(summary.integratedLufs).toBeCloseTo(results[0]?.summary.integratedLufs ?? NaN, 9);
        expect(summary.truePeakDb).toBe(results[0]?.summary.truePeakDb);
        expect([...windows]).toEqual([...(results[0]?.windows ?? [])]);
      }
    }
  });

  it('says that silence, and what is shorter than a block, has no loudness', () => {
    for (const samples of [new Float32Array(RATE), toneOf([[0.39, -20]])]) {
      const { integratedLufs, rangeLu, maxShortTermLufs } = measureSignal([samples]);
      expect({ integratedLufs, rangeLu, maxShortTermLufs }).toEqual({
        integratedLufs: -Infinity,
        rangeLu: undefined,
        maxShortTermLufs: -Infinity,
      });
    }
  });

  it('counts samples that are no number as silence', () => {
    const broken = toneOf([[2, -20]]);
    const clean = Float32Array.from(broken);
    for (const [at, value] of [
      [30_000, NaN],
      [30_001, Infinity],
      [50_000, -Infinity],
    ] as const) {
      broken[at] = value;
      clean[at] = 0;
    }
    const measured = measureSignal([broken]);
    expect(measured.integratedLufs).toBeCloseTo(measureSignal([clean]).integratedLufs, 9);
    expect(measured.truePeakDb).toBeLessThan(-19);
  });
});

describe('TruePeakMeter', () => {
  it('finds the same as interpolating everything', () => {
    for (let trial = 0; trial < 40; trial += 1) {
      const noise = makeNoise(1200, 1, trial + 1, trial % 2 === 0 ? 0.4 : 0.01);
      const samples = Float32Array.from(
        noise,
        (value, n) => value + 0.5 * Math.sin(n * (0.05 + trial * 0.07)) * Math.sin(n / 190),
      );
      // From loud to quiet, so that most parts can be passed over; of any length, shorter than the reach of interpolation too.
      for (let n = 0; n < samples.length; n += 1) samples[n]! *= trial % 3 === 0 ? 1 : 1.01 - n / samples.length;
      const meter = new TruePeakMeter(RATE);
      for (let at = 0, part = 0; at < samples.length; part += 1) {
        const to = Math.min(samples.length, at + 1 + ((part * 37 + trial) % (131 + trial)));
        const highest = samples.subarray(at, to).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        if (trial % 4 === 0) meter.push(samples, at, to);
        else meter.push(samples, at, to, highest);
        at = to;
      }
      meter.finish();
      expect(meter.peak).toBeCloseTo(interpolatedPeak(samples), 12);
    }
  });
});

/** The peak by the definition: 16 taps of a sinc under a Kaiser window at each quarter between two samples. */
function interpolatedPeak(samples: Float32Array): number {
  const bessel = (x: number): number => {
    let [sum, term] = [1, 1];
    for (let k = 1; k < 40; k += 1) sum += term *= (x / (2 * k)) ** 2;
    return sum;
  };
  const phases = [0.25, 0.5, 0.75].map((part) => {
    const taps = Array.from({ length: 16 }, (_, tap) => {
      const x = 7 + part - tap;
      return ((Math.sin(Math.PI * x) / (Math.PI * x)) * bessel(5 * Math.sqrt(1 - (x / 8) ** 2))) / bessel(5);
    });
    const gain = taps.reduce((sum, tap) => sum + tap, 0);
    return taps.map((tap) => tap / gain);
  });
  let peak = 0;
  for (let at = -8; at < samples.length + 8; at += 1) {
    peak = Math.max(peak, Math.abs(samples[at] ?? 0));
    for (const taps of phases)
      peak = Math.max(peak, Math.abs(taps.reduce((sum, tap, k) => sum + tap * (samples[at - 7 + k] ?? 0), 0)));
  }
  return peak;
}

describe('channelWeights()', () => {
  it('leaves out low frequencies and raises the surround channels', () => {
    expect(channelWeights(2, 0x3n)).toEqual([1, 1]);
    expect(channelWeights(6, 0x3fn)).toEqual([1, 1, 1, 0, 1.41, 1.41]);
    expect(channelWeights(6, 0x60fn)).toEqual([1, 1, 1, 0, 1.41, 1.41]);
    expect(channelWeights(8, 0x63fn)).toEqual([1, 1, 1, 0, 1, 1, 1.41, 1.41]);
    expect(channelWeights(3, undefined)).toEqual([1, 1, 1]);
  });
});

describe('measureLoudness()', () => {
  it('measures each whole window for itself, and the recording as a whole', async () => {
    const quiet = toneOf([[2, -40]]);
    const loud = toneOf([[1.5, -20]]);
    const tone = Float64Array.from([...quiet, ...loud]);
    const result = await measureWav(tone, { sampleRate: RATE, encoding: 's24' }, native);
    expect(result.windows).toHaveLength(3);
    // One channel of a tone counts for 3 dB less than two.
    for (const [index, expected] of [-43, -43, -23].entries()) expect(result.windows[index]).toBeCloseTo(expected, 1);
    expect(result.measure).toMatchObject({ frames: 168_000, sampleRate: RATE, channels: 1, codec: 'pcm_s24le' });
  });

  it('measures the mix where it is asked to, at the rate that it is asked for', async () => {
    const left = toneOf([[2, -20]]);
    const opposite = Float64Array.from(
      { length: left.length * 2 },
      (_, k) => (k % 2 === 0 ? 1 : -1) * (left[k >> 1] ?? 0),
    );
    const wav = { sampleRate: RATE, channels: 2 };
    const all = await measureWav(opposite, wav, { ...native, sampleRate: 16_000 });
    expect(all.integratedLufs).toBeCloseTo(-20, 1);
    expect(all.windows).toHaveLength(2);
    const mixed = await measureWav(opposite, wav, { ...native, sampleRate: 16_000, mono: true });
    expect(mixed.integratedLufs).toBe(-Infinity);
    expect([...mixed.windows]).toEqual([-Infinity, -Infinity]);
  });

  it('measures a recording whose own rate is too low for the weighting at one that is not', async () => {
    for (const sampleRate of [50, 1000, 3363]) {
      const tone = Float64Array.from({ length: 2 * sampleRate }, (_, n) => 0.3 * Math.sin(0.3 * n));
      const own = await measureWav(tone, { sampleRate }, native);
      expect(own.windows).toHaveLength(2);
      expect(own).toEqual(await measureWav(tone, { sampleRate }, { ...native, sampleRate: 4000 }));
    }
  });

  it('says so where the header tells a rate that nothing is measured at', async () => {
    const measured = measureWav(makeNoise(400), { sampleRate: 2 ** 31 - 1 }, { ...native, sampleRate: 44_100 });
    await expect(measured).rejects.toThrow(/^its rate of 2147483647 Hz is too far from the 44100 Hz/u);
  });

  it('weights the channels of a file by their places', async () => {
    const tone = toneOf([[2, -20]]);
    const onChannel = (place: number): Float64Array =>
      new Float64Array(tone.length * 6).map((_, k) => (k % 6 === place ? (tone[Math.floor(k / 6)] ?? 0) : 0));
    const wav: WavOptions = { sampleRate: RATE, channels: 6, fmtBytes: 40, channelMask: 0x3f };
    expect((await measureWav(onChannel(2), wav, native)).integratedLufs).toBeCloseTo(-23, 1);
    expect((await measureWav(onChannel(3), wav, native)).integratedLufs).toBe(-Infinity);
    expect((await measureWav(onChannel(5), wav, native)).integratedLufs).toBeCloseTo(-21.5, 1);
  });

  const golden = path.resolve('../shared/data/audiotree-golden');
  it.skipIf(!existsSync(golden)).each([
    ['w1.0-44100-mono', { windowSeconds: 1, sampleRate: 44_100, mono: true }],
    ['w0.4-44100-mono', { windowSeconds: 0.4, sampleRate: 44_100, mono: true }],
    ['w3.0-native-all', { windowSeconds: 3, sampleRate: null, mono: false }],
  ])('agrees with audiotree on %s', async (name, options) => {
    const all = JSON.parse(readFileSync(path.join(golden, 'lufs.json'), 'utf8')) as Record<
      string,
      Record<string, number[]>
    >;
    for (const [file, expected] of Object.entries(all[name] ?? {})) {
      const { windows } = await measureLoudness(path.resolve('../shared/data', file), options, () => setImmediate());
      expect(windows).toHaveLength(expected.length);
      for (const [index, value] of expected.entries()) {
        // Its meter puts blocks into bins of 0.1 LU, hence values such as -30.95. And it filters each window for itself, where the end of a
        // loud one rings on into a quiet one: in the window of -42.75 LUFS.
        const tolerance = value < -40 ? 0.4 : 0.06;
        expect(Math.abs((windows[index] ?? NaN) - value)).toBeLessThanOrEqual(tolerance);
      }
    }
  });
});
