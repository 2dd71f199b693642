// What FFmpeg makes of each broken file: the knowledge that the audio room builds on.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  pngBytes,
  randomBytes,
  textBytes,
  truncated,
  withEncryptedEntry,
  withZeroTotalSamples,
  withZeroXingFrames,
  zeroChannelWav,
} from './broken-files.js';
import { decodeFile } from './decode.js';
import { extensionOf, patchFile, writeEncoded } from './encode.js';
import type { EncodedKind } from './encode.js';
import { chained, withOpusPreSkip, withoutLastPages, withShiftedGranules } from './ogg-pages.js';
import { firstDifference, makeNoise, quantize } from './signals.js';

const RATE = 48_000;
const FRAMES = 3 * RATE + 123;
const SAMPLES = quantize(makeNoise(FRAMES, 1, 4, 0.3), 16);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-broken-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function writePatched(kind: EncodedKind, patch: (bytes: Buffer) => Buffer): string {
  const file = path.join(folder, `patched.${extensionOf(kind)}`);
  writeEncoded(file, { samples: SAMPLES, sampleRate: RATE, channels: 1 }, kind);
  patchFile(file, patch);
  return file;
}

describe('patched files', () => {
  it('withZeroTotalSamples() leaves no length in the header and all of the audio', () => {
    const decoded = decodeFile(writePatched('flac', withZeroTotalSamples));
    expect(decoded.claimedFrames).toBe(0);
    expect(firstDifference(decoded.samples, SAMPLES)).toBe(-1);
  });

  it('truncated() leaves a FLAC that claims what it does not hold', () => {
    const decoded = decodeFile(writePatched('flac', (bytes) => truncated(bytes, 0.5)));
    expect(decoded.claimedFrames).toBe(FRAMES);
    expect(decoded.frames).toBeLessThan(FRAMES / 2 + 4608);
    expect(firstDifference(decoded.samples, SAMPLES.subarray(0, decoded.frames))).toBe(-1);
  });

  it('truncated() leaves an m4a without its index, which does not open', () => {
    const file = writePatched('aac', (bytes) => truncated(bytes, 0.5));
    expect(() => decodeFile(file)).toThrow('Invalid data');
  });

  it('withZeroXingFrames() takes the length from an MP3 but not its delay', () => {
    const decoded = decodeFile(writePatched('mp3-vbr', withZeroXingFrames));
    expect(decoded.frames).toBeGreaterThan(FRAMES);
    expect(decoded.frames - FRAMES).toBeLessThan(1152);
    expect(decoded.claimedFrames).not.toBe(decoded.frames);
  });

  it('withEncryptedEntry() changes the sample entry alone', () => {
    expect(decodeFile(writePatched('aac', withEncryptedEntry)).frames).toBe(FRAMES);
  });

  it('withShiftedGranules() makes a stream that starts late and is no longer', () => {
    for (const kind of ['opus', 'vorbis'] as const) {
      expect(decodeFile(writePatched(kind, (bytes) => withShiftedGranules(bytes, RATE))).frames).toBe(FRAMES);
    }
  });

  it('withOpusPreSkip() moves the start', () => {
    expect(decodeFile(writePatched('opus', (bytes) => withOpusPreSkip(bytes, 104))).frames).toBe(FRAMES + 312 - 104);
  });

  it('chained() holds one stream after another', () => {
    expect(decodeFile(writePatched('opus', (bytes) => chained(bytes, bytes))).frames).toBe(2 * FRAMES);
  });

  it('withoutLastPages() loses the end of the audio', () => {
    const { frames } = decodeFile(writePatched('opus', (bytes) => withoutLastPages(bytes, 1)));
    expect(frames).toBeLessThan(FRAMES);
    expect(frames).toBeGreaterThan(FRAMES - 1.1 * RATE);
  });
});

describe('files without audio', () => {
  const cases: [string, Buffer][] = [
    ['text.wav', textBytes()],
    ['text.mp3', textBytes()],
    ['picture.flac', pngBytes()],
    ['random.wav', randomBytes()],
    ['random.flac', randomBytes()],
    ['empty.wav', Buffer.alloc(0)],
    ['zero-channels.wav', zeroChannelWav(SAMPLES)],
  ];
  for (const [name, bytes] of cases) {
    it(`${name} does not open as audio`, () => {
      const file = path.join(folder, name);
      writeFileSync(file, bytes);
      expect(() => decodeFile(file)).toThrow(/Invalid data|find an audio stream/);
    });
  }
});
