// Windows at many places of longer recordings, in kinds of packets that usual encoders do not choose by themselves.
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
const FRAMES = 20 * RATE + 123;
const noise = makeNoise(FRAMES, 1, 9, 0.05);
const SAMPLES = toInt16(makeSpeechBursts(FRAMES, RATE, { pauseSeconds: 0.7 }).map((x, n) => x + (noise[n] ?? 0)));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-windows-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('WindowReader', () => {
  it.each([
    ['opus', 'libopus', { frame_duration: '2.5' }, 64_000],
    ['opus', 'libopus', { frame_duration: '5' }, 64_000],
    ['opus', 'libopus', { frame_duration: '60' }, 64_000],
    // Speech: its decoder remembers too much for an index.
    ['opus', 'libopus', { application: 'voip' }, 14_000],
    ['mp3', 'libmp3lame', {}, 320_000],
    ['mp3', 'libmp3lame', {}, 32_000],
    ['mp3', 'libmp3lame', { reservoir: '0' }, 128_000],
    ['ipod', 'aac', { aac_pns: '0' }, 64_000],
    ['ipod', 'aac', { aac_pns: '1' }, 32_000],
    ['ogg', 'libvorbis', {}, 80_000],
  ] as const)(
    'read() gives what the whole %s of %s with %o and %d bit/s gives',
    (container, codec, encoderOptions, bitRate) => {
      const file = path.join(
        folder,
        `${codec}-${JSON.stringify(encoderOptions).replaceAll(/\W/gu, '')}-${bitRate}.${container}`,
      );
      const track = { codec, sampleRate: RATE, channels: 1, bitRate, options: encoderOptions };
      const writer = new MediaWriter(file, { container, tracks: [track] });
      writer.write(SAMPLES);
      writer.close();
      const whole = decodeFile(file);
      using reader = new WindowReader({ sampleRate: null, mono: true });
      for (let k = 0; k < 60; k += 1) {
        const first = Math.floor(hashUniform(k, bitRate) * (whole.frames - 3000));
        const { waveform } = reader.read(file, first, 3000);
        const difference = worstDifference(waveform, whole.samples.subarray(first, first + 3000));
        // What fades of the audio before in Opus; all else is alike to the last bit.
        expect(difference, `at ${first}`).toBeLessThanOrEqual(codec === 'libopus' ? 2 ** -17 : 0);
      }
    },
  );
});
