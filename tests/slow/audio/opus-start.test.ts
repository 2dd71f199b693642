// Windows of Opus whose decoder remembers the past for long: a filter of long periods, blocks that are all short, signals that rise
// out of silence; in all lengths of frames, of two encoders.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WindowReader } from '#cutroom/audio/window-reader.js';
import { MediaWriter } from '../../../scripts/media-writer.js';
import { decodeFile } from '../../support/decode.js';
import { hashUniform, makeNoise, makeSpeechBursts, toInt16 } from '../../support/signals.js';
import { worstDifference } from '../../audio/cut-to-memory.js';

const RATE = 48_000;
const FRAMES = 9 * RATE + 123;
const LIMIT = 2 ** -17;
const WINDOW = 2000;

/** Harmonics of 47 Hz, whose period is the longest of the filter. */
const HUM = [1, 2, 3, 6, 13, 27];
const SIGNALS: Record<string, () => Float64Array> = {
  speech: () => makeSpeechBursts(FRAMES, RATE),
  noise: () => makeNoise(FRAMES, 1, 5, 0.4),
  hum: () =>
    Float64Array.from({ length: FRAMES }, (_, n) =>
      HUM.reduce((sum, k) => sum + 0.13 * Math.sin((2 * Math.PI * 46.97 * k * n) / RATE), 0),
    ),
  pulses: () => Float64Array.from({ length: FRAMES }, (_, n) => 0.9 * Math.exp(-(n % 240) / 16)),
  sweep: () => Float64Array.from({ length: FRAMES }, (_, n) => 0.6 * Math.sin((n * (200 + n / 20)) / RATE)),
};
const LIBOPUS = ['2.5', '5', '10', '20'].map((length) => [
  'libopus',
  { application: 'lowdelay', frame_duration: length },
  64_000,
]);
const NATIVE = ['2.5', '20'].map((length) => ['opus', { opus_delay: length, strict: '-2' }, 96_000]);
const ENCODERS = [...LIBOPUS, ...NATIVE] as [string, Record<string, string>, number][];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-opus-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('opusStart()', () => {
  it.each(
    Object.keys(SIGNALS).flatMap((name) =>
      ENCODERS.map(([codec, options, bitRate]) => [name, codec, options, bitRate] as const),
    ),
  )('leaves less than 2^-17 of the past in %s of %s with %o', (name, codec, options, bitRate) => {
    const file = path.join(folder, 'recording.opus');
    const track = { codec, sampleRate: RATE, channels: 1, bitRate, options };
    const writer = new MediaWriter(file, { container: 'ogg', tracks: [track] });
    writer.write(toInt16(SIGNALS[name]?.() ?? new Float64Array(0)));
    writer.close();
    const whole = decodeFile(file);
    using reader = new WindowReader({ sampleRate: null, mono: true });
    for (let k = 0; k < 40; k += 1) {
      const first = Math.floor(hashUniform(k, bitRate) * (whole.frames - WINDOW));
      const { waveform } = reader.read(file, first, WINDOW);
      const difference = worstDifference(waveform, whole.samples.subarray(first, first + WINDOW));
      expect(difference, `at ${first}`).toBeLessThan(LIMIT);
    }
  });

  it('is not asked where packets hold several streams', () => {
    const file = path.join(folder, 'surround.opus');
    const track = { codec: 'libopus', sampleRate: RATE, channels: 6, bitRate: 192_000 };
    const writer = new MediaWriter(file, { container: 'ogg', tracks: [track] });
    const hum = SIGNALS['hum']?.() ?? new Float64Array(0);
    writer.write(toInt16(Float64Array.from({ length: 6 * FRAMES }, (_, n) => hum[Math.floor(n / 6)] ?? 0)));
    writer.close();
    const whole = decodeFile(file);
    using reader = new WindowReader({ sampleRate: null, mono: false });
    for (let k = 0; k < 4; k += 1) {
      const first = Math.floor(hashUniform(k, 8) * (whole.frames - WINDOW));
      const { waveform } = reader.read(file, first, WINDOW);
      const wanted = Float32Array.from({ length: 6 * WINDOW }, (_, n) => {
        const frame = first + (n % WINDOW);
        return whole.samples[6 * frame + Math.floor(n / WINDOW)] ?? Number.NaN;
      });
      expect(worstDifference(waveform, wanted), `at ${first}`).toBeLessThan(2 ** -15);
    }
  });
});
