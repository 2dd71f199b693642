// Vorbis whose audio lies in one page of Ogg, which says where the audio ends.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectRecording } from '#cutroom/audio/inspect-recording.js';
import { measureRecording } from '#cutroom/audio/measure-recording.js';
import { readOnePageFrames } from '#cutroom/audio/one-page-vorbis.js';
import { WindowReader } from '#cutroom/audio/window-reader.js';
import { decodeFile } from '../support/decode.js';
import { writeEncoded } from '../support/encode.js';
import { chained, withoutLastPages, withShiftedGranules } from '../support/ogg-pages.js';
import { makeNoise } from '../support/signals.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-page-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(frames: number, sampleRate: number, kind: 'vorbis' | 'opus' = 'vorbis'): string {
  const file = path.join(folder, 'x.ogg');
  writeEncoded(file, { samples: makeNoise(frames, 1, frames), sampleRate, channels: 1 }, kind);
  return file;
}

async function framesOf(file: string): Promise<number> {
  return (await measureRecording(file, () => Promise.resolve())).frames;
}

/** Sizes of blocks and their sums, what lies beside them, and others from 1 to 4,000: libsndfile gives each as it was encoded. */
const LENGTHS = [...new Set([128, 256, 512, 1024, 2048, 4000].flatMap((n) => [n - 1, n, n + 1]))].concat([
  ...[1, 2, 64, 160, 300, 576, 900, 1536, 2304, 3333],
]);

describe('Ogg of one page', () => {
  it.each([8000, 16_000, 22_050, 44_100])('has the length that it was encoded with, at %i Hz', async (sampleRate) => {
    const found: number[] = [];
    for (const frames of LENGTHS) found.push(await framesOf(write(frames, sampleRate)));
    expect(found).toEqual(LENGTHS);
  });

  it('has it in Opus, too', async () => {
    const found: number[] = [];
    for (const frames of LENGTHS) found.push(await framesOf(write(frames, 48_000, 'opus')));
    expect(found).toEqual(LENGTHS);
  });

  it('is what the whole decode begins with, of windows, too', async () => {
    using reader = new WindowReader({ sampleRate: null, mono: true });
    for (const frames of [160, 256, 1000, 3000]) {
      const file = write(frames, 16_000);
      const untrimmed = path.join(folder, 'untrimmed.ogg');
      writeFileSync(untrimmed, withShiftedGranules(readFileSync(file), 10_000));
      const expected = decodeFile(untrimmed).samples.subarray(0, frames);
      const { peak } = await inspectRecording(file, undefined, () => Promise.resolve());
      expect(peak).toBe(expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0));
      const own = path.join(folder, `${frames}.ogg`);
      writeFileSync(own, readFileSync(file));
      expect(reader.frames(own)).toBe(frames);
      const { waveform, audioSamples } = reader.read(own, frames - 100, 200);
      expect(audioSamples).toBe(100);
      expect(waveform.subarray(0, 100)).toEqual(Float32Array.from(expected.subarray(frames - 100)));
    }
  });
});

describe('readOnePageFrames()', () => {
  it('tells nothing of several pages, joined streams, files that are cut off, and other formats', () => {
    const bytes = readFileSync(write(1000, 16_000));
    const told = (content: Buffer): number | undefined => {
      const file = path.join(folder, 'told.ogg');
      writeFileSync(file, content);
      return readOnePageFrames(file);
    };
    expect(told(bytes)).toBe(1000);
    expect(told(chained(bytes, bytes))).toBeUndefined();
    expect(told(withoutLastPages(bytes, 1))).toBeUndefined();
    expect(told(bytes.subarray(0, -1))).toBeUndefined();
    expect(told(Buffer.alloc(100))).toBeUndefined();
    expect(readOnePageFrames(write(100_000, 16_000))).toBeUndefined();
  });
});
