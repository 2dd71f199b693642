// Levels and faults, against the same measures taken on the full decode.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectRecording } from '#cutroom/audio/inspect-recording.js';
import type { InspectSpan, RecordingInspection } from '#cutroom/audio/inspect-recording.js';
import { decodeFile } from '../support/decode.js';
import { extensionOf, writeEncoded } from '../support/encode.js';
import type { EncodedKind } from '../support/encode.js';
import { interleaveChannels, makeSine, makeSpeechBursts, quantize } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 8000;
const FRAMES = 2 * RATE + 77;
const STEREO = interleaveChannels(
  makeSpeechBursts(FRAMES, RATE),
  makeSpeechBursts(FRAMES, RATE, { seed: 5, amplitude: 0.3 }),
);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-inspect-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(bytes: Buffer): string {
  const file = path.join(folder, 'x.wav');
  writeFileSync(file, bytes);
  return file;
}

async function inspect(file: string, span?: InspectSpan): Promise<RecordingInspection> {
  return await inspectRecording(file, span, () => Promise.resolve());
}

/** Peak and RMS of interleaved samples. */
function levelsOf(samples: Float64Array): { peak: number; rmsDb: number } {
  const peak = samples.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return { peak, rmsDb: 10 * Math.log10(samples.reduce((sum, x) => sum + x * x, 0) / samples.length) };
}

describe('inspectRecording()', () => {
  it.each<EncodedKind>(['flac', 'flac-24', 'mp3-cbr', 'opus', 'vorbis', 'aac', 'alac'])(
    'measures all of %s and a span of it',
    async (kind) => {
      const file = path.join(folder, `x.${extensionOf(kind)}`);
      writeEncoded(file, { samples: STEREO, sampleRate: RATE, channels: 2 }, kind);
      const { samples, frames, sampleRate } = decodeFile(file);
      const whole = await inspect(file);
      const { peak, rmsDb } = levelsOf(samples);
      expect(whole).toMatchObject({
        frames,
        sampleRate,
        channels: 2,
        isSilent: false,
        clippedRuns: 0,
        invalidSamples: 0,
      });
      expect([whole.peak, whole.rmsDb]).toEqual([expect.closeTo(peak, 9), expect.closeTo(rmsDb, 6)]);

      const part = await inspect(file, { startSeconds: 0.3, endSeconds: 0.9 });
      const expected = levelsOf(samples.subarray(0.6 * sampleRate, 1.8 * sampleRate));
      expect(part.frames).toBe(0.6 * sampleRate);
      expect([part.peak, part.rmsDb]).toEqual([expect.closeTo(expected.peak, 9), expect.closeTo(expected.rmsDb, 6)]);
      expect((await inspect(file, { startSeconds: 0.3, endSeconds: undefined })).frames).toBe(
        frames - 0.3 * sampleRate,
      );
      expect((await inspect(file, { startSeconds: 1.5, endSeconds: 9 })).frames).toBe(frames - 1.5 * sampleRate);
      expect(await inspect(file, { startSeconds: 9, endSeconds: 10 })).toMatchObject({ frames: 0, rmsDb: -Infinity });
    },
  );

  it.each(['u8', 's16', 's24', 's32', 'f32', 'f64'] as const)(
    'counts clipped runs of %s by channel',
    async (encoding) => {
      const left = makeSine(9000, RATE, 100, 0.5);
      const right = left.map((x) => -x);
      const full = encoding.startsWith('f') ? 1 : 0.99999999999;
      left.fill(full, 10, 13);
      left.fill(-1, 100, 102);
      // Over the end of a block of the decoder, whichever its length is.
      left.fill(-1, 4000, 8500);
      right.fill(full, 8995, 9000);
      for (const [samples, channels, runs] of [
        [interleaveChannels(left, right), 2, 3],
        [left, 1, 2],
      ] as const) {
        const got = await inspect(write(buildWav(samples, { encoding, channels, sampleRate: RATE })));
        expect(got).toMatchObject({ frames: 9000, channels, clippedRuns: runs, isSilent: false });
        expect(got.peak).toBeCloseTo(1, 2);
      }
    },
  );

  it('measures 16-bit WAV from its bytes as decoding does', async () => {
    const samples = quantize(STEREO, 16);
    for (const [channels, span] of [
      [1, undefined],
      [2, { startSeconds: 0.25, endSeconds: 0.5 }],
      [3, { startSeconds: 0.5, endSeconds: undefined }],
    ] as const) {
      const whole = samples.subarray(0, 10_000 * channels);
      const got = await inspect(write(buildWav(whole, { channels, sampleRate: RATE })), span);
      // Wave64 is left to the codec library.
      expect(got).toEqual(
        await inspect(write(buildWav(whole, { channels, sampleRate: RATE, container: 'w64' })), span),
      );
      const end = span?.endSeconds === undefined ? whole.length : span.endSeconds * RATE * channels;
      const expected = levelsOf(whole.subarray((span?.startSeconds ?? 0) * RATE * channels, end));
      expect([got.peak, got.rmsDb]).toEqual([expect.closeTo(expected.peak, 9), expect.closeTo(expected.rmsDb, 6)]);
    }
  });

  it('counts three samples at full scale, and not two', async () => {
    const samples = new Float64Array(100);
    samples.set([1, 1, 0, -1, -1], 10);
    expect((await inspect(write(buildWav(samples)))).clippedRuns).toBe(0);
    samples.set([1, -1, 1], 50);
    expect((await inspect(write(buildWav(samples)))).clippedRuns).toBe(1);
  });

  it('counts what is no number and measures the rest', async () => {
    const samples = makeSine(5000, RATE, 100, 0.5);
    samples.set([NaN, Infinity, -Infinity], 20);
    for (const encoding of ['f32', 'f64'] as const) {
      const got = await inspect(write(buildWav(samples, { encoding })));
      expect(got).toMatchObject({ frames: 5000, invalidSamples: 3 });
      expect(got.peak).toBeCloseTo(0.5, 3);
      expect(got.rmsDb).toBeCloseTo(20 * Math.log10(0.5 / Math.SQRT2), 1);
    }
  });

  it('calls silent what stays below -60 dB', async () => {
    const at = async (amplitude: number): Promise<RecordingInspection> =>
      await inspect(write(buildWav(makeSine(1000, RATE, 100, amplitude))));
    expect((await at(0.0011)).isSilent).toBe(false);
    expect((await at(0.0009)).isSilent).toBe(true);
    expect(await at(0)).toMatchObject({ isSilent: true, peak: 0, rmsDb: -Infinity });
  });

  it('refuses the end of a file that is cut off, and hears what comes before', async () => {
    const file = write(buildWav(makeSine(1000, RATE, 100), { sampleRate: RATE }).subarray(0, 1044));
    await expect(inspect(file)).rejects.toMatchObject({ reason: 'truncated_recording' });
    expect((await inspect(file, { startSeconds: 0, endSeconds: 0.05 })).frames).toBe(400);
  });
});
