// Windows at any place, in any order, against the same span of the whole recording.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WindowReader, type WindowSamples } from '#cutroom/audio/window-reader.js';
import { withZeroTotalSamples } from '../support/broken-files.js';
import { decodeFile } from '../support/decode.js';
import { extensionOf, patchFile, writeEncoded } from '../support/encode.js';
import type { EncodedKind } from '../support/encode.js';
import { hashUniform, interleaveChannels, makeNoise, makeSpeechBursts } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { channelOf, cutToMemory, worstDifference } from './cut-to-memory.js';

const RATE = 24_000;
const FRAMES = 3 * RATE + 77;
const TARGET = 16_000;
const noise = makeNoise(FRAMES, 1, 3, 0.1);
const SAMPLES = interleaveChannels(
  makeSpeechBursts(FRAMES, RATE).map((x, n) => 0.8 * x + (noise[n] ?? 0)),
  makeSpeechBursts(FRAMES, RATE, { pauseSeconds: 0.31, seed: 2 }),
);
const KINDS = [
  'flac',
  'flac-24',
  'flac-ogg',
  'mp3-cbr',
  'mp3-vbr',
  'mp3-cbr-bare',
  'opus',
  'opus-webm',
  'vorbis',
  'aac',
  'aac-adts',
] as const satisfies EncodedKind[];

/** All is alike to the last bit, but for what fades of the audio before in Opus. */
function limitOf(kind: EncodedKind | 'wav'): number {
  return kind === 'opus' ? 2 ** -17 : 0;
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-window-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function encoded(kind: EncodedKind | 'wav'): string {
  const file = path.join(folder, `${kind}.${kind === 'wav' ? 'wav' : extensionOf(kind)}`);
  if (existsSync(file)) return file;
  if (kind === 'wav') writeFileSync(file, buildWav(SAMPLES, { sampleRate: RATE, channels: 2 }));
  else writeEncoded(file, { samples: SAMPLES, sampleRate: RATE, channels: 2 }, kind);
  return file;
}

/** First frames of windows in no order: near the start, around the middle, at the end, twice the same, and anywhere. */
function firstFrames(frames: number, window: number): number[] {
  const last = frames - window;
  const anywhere = Array.from({ length: 6 }, (_, k) => Math.floor(hashUniform(k, frames) * last));
  return [last, 0, 1, last - 1, 313, ...anywhere, 313, last];
}

describe('WindowReader', () => {
  it.each(['wav', ...KINDS] as const)('read() gives what cutting the whole %s gives', async (kind) => {
    const file = encoded(kind);
    const whole = decodeFile(file);
    using reader = new WindowReader({ sampleRate: TARGET, mono: true });
    const divisor = gcd(whole.sampleRate, TARGET);
    const step = whole.sampleRate / divisor;
    const targetStep = TARGET / divisor;
    const window = Math.round(whole.sampleRate / 4);
    const grids = new Map<number, Float32Array>();
    for (const first of firstFrames(whole.frames, window)) {
      const start = first % step;
      const cut = grids.get(start) ?? (await cutWhole(file, start, whole.frames));
      grids.set(start, cut);
      const from = ((first - start) / step) * targetStep;
      const read = reader.read(file, first, TARGET / 4);
      expect(read.audioSamples).toBe(TARGET / 4);
      const difference = worstDifference(read.waveform, cut.subarray(from, from + TARGET / 4));
      expect(difference, `at ${first}`).toBeLessThanOrEqual(limitOf(kind));
    }
  });

  it.each(['wav', 'flac', 'mp3-vbr', 'opus', 'vorbis', 'aac'] as const)(
    'read() keeps the channels and the rate of %s',
    (kind) => {
      const file = encoded(kind);
      const whole = decodeFile(file);
      using reader = new WindowReader({ sampleRate: null, mono: false });
      for (const first of firstFrames(whole.frames, 1000)) {
        const { waveform, channels, sampleRate } = reader.read(file, first, 1000);
        expect([channels, sampleRate]).toEqual([2, whole.sampleRate]);
        for (const channel of [0, 1]) {
          const expected = channelOf(whole, channel).subarray(first, first + 1000);
          const difference = worstDifference(waveform.subarray(channel * 1000, (channel + 1) * 1000), expected);
          expect(difference).toBeLessThanOrEqual(limitOf(kind));
        }
      }
    },
  );

  it.each(['wav', 'flac', 'mp3-cbr', 'opus', 'aac'] as const)('read() says where the audio of %s ends', (kind) => {
    const file = encoded(kind);
    const { frames, sampleRate } = decodeFile(file);
    using reader = new WindowReader({ sampleRate: TARGET, mono: true });
    const tail = Math.ceil((700 * TARGET) / sampleRate);
    const read = reader.read(file, frames - 700, TARGET);
    expect(read.audioSamples).toBe(tail);
    expect(read.waveform.subarray(tail).every((sample) => sample === 0)).toBe(true);
    expect(reader.read(file, frames, 100).audioSamples).toBe(0);
    expect(reader.read(file, frames + 5 * sampleRate, 100).audioSamples).toBe(0);
  });

  it.each([8000, 11_025, 44_100, 47_999, 48_000, 192_000])(
    'read() from %d Hz does not hang on how long a window is',
    (rate) => {
      const file = path.join(folder, `rate-${rate}.wav`);
      writeFileSync(file, buildWav(makeNoise(2 * rate, 1, rate, 0.5), { sampleRate: rate }));
      for (const target of [4001, 8000, 16_000, 44_100, 47_999]) {
        using reader = new WindowReader({ sampleRate: target, mono: true });
        for (const [first, samples] of [
          [0, 400],
          [777, 1600],
          [rate + 13, 7],
          [rate + 13, Math.floor(target / 2)],
        ] as const) {
          const { waveform, audioSamples } = reader.read(file, first, samples);
          expect([waveform.length, audioSamples]).toEqual([samples, samples]);
          const longer = reader.read(file, first, 2 * samples + 50).waveform.subarray(0, samples);
          expect(bytesOf(waveform).equals(bytesOf(longer))).toBe(true);
        }
      }
    },
  );

  it('read() uses the memory again that it is given back, and leaves nothing of what was there', () => {
    using reader = new WindowReader({ sampleRate: null, mono: false });
    using fresh = new WindowReader({ sampleRate: null, mono: false });
    const file = encoded('flac');
    for (const [first, samples] of [
      [500, 4000],
      [FRAMES - 700, 4000],
      [FRAMES, 4000],
      [77, 4000],
      [9000, 300],
      [FRAMES - 10, 300],
    ] as const) {
      const read = reader.read(file, first, samples);
      expect(read).toEqual(fresh.read(file, first, samples));
      const { waveform } = read;
      waveform.fill(9);
      reader.recycle(waveform);
      const again = reader.read(file, first, samples);
      expect(again.waveform === waveform || again.audioSamples === 0).toBe(true);
      expect(again).toEqual(fresh.read(file, first, samples));
      reader.recycle(again.waveform.fill(9));
    }
  });

  it('read() tells of damage in FLAC where it meets it, and reads around it', () => {
    const file = path.join(folder, 'damaged.flac');
    copyFileSync(encoded('flac'), file);
    patchFile(file, (bytes) => {
      const at = Math.floor(bytes.length / 2);
      bytes.fill(0x55, at, at + 20);
      return bytes;
    });
    using reader = new WindowReader({ sampleRate: null, mono: true });
    using whole = new WindowReader({ sampleRate: null, mono: true });
    for (const first of [100, FRAMES - 9000]) {
      expect(reader.read(file, first, 5000).waveform).toEqual(whole.read(encoded('flac'), first, 5000).waveform);
    }
    expect(() => reader.read(file, FRAMES / 2 - 9000, 18_000)).toThrow(/damaged\.flac": /u);
    expect(reader.read(file, 77, 10).audioSamples).toBe(10);
  });

  it('read() takes FLAC behind whose audio a tag stands, and of unknown length', () => {
    using reader = new WindowReader({ sampleRate: null, mono: true });
    const expected = reader.read(encoded('flac'), FRAMES - 500, 1000);
    expect(expected.audioSamples).toBe(500);
    const tagged = path.join(folder, 'tagged.flac');
    writeFileSync(tagged, Buffer.concat([readFileSync(encoded('flac')), Buffer.from('TAG'.padEnd(128, '-'))]));
    const unknown = path.join(folder, 'unknown.flac');
    writeFileSync(unknown, withZeroTotalSamples(readFileSync(encoded('flac'))));
    for (const file of [tagged, unknown]) {
      expect(reader.read(file, FRAMES - 500, 1000)).toEqual(expected);
      expect(reader.frames(file)).toBe(FRAMES);
    }
  });

  it('read() takes FLAC whose frames are larger than its header says, and whose tags name places of its channels', () => {
    // Quiet, then loud: the frames of the second half are larger.
    const samples = makeNoise(2 * RATE * 4).map((x, k) => (k < RATE * 4 ? 0.001 : 0.5) * x);
    const file = path.join(folder, 'places.flac');
    writeEncoded(file, { samples, sampleRate: RATE, channels: 4 }, 'flac');
    const spans = [0, RATE - 5000, RATE + 3000];
    const readAll = (): WindowSamples[] => {
      using reader = new WindowReader({ sampleRate: TARGET, mono: false });
      return spans.map((first) => reader.read(file, first, 8000));
    };
    const expected = readAll();
    patchFile(file, (bytes) => {
      bytes.writeUIntBE(Math.floor(bytes.readUIntBE(15, 3) / 1.1), 15, 3);
      return withChannelPlaces(bytes);
    });
    expect(readAll()).toEqual(expected);
  });

  it('read() closes recordings and forgets indexes beyond its bounds, and reads them again', () => {
    const files = KINDS.map((kind) => encoded(kind));
    using reader = new WindowReader({ sampleRate: TARGET, mono: true, openFiles: 2, indexBytes: 1 });
    const rounds = [0, 1].map(() => files.map((file) => reader.read(file, 60_003, 50).waveform));
    expect(rounds[1]).toEqual(rounds[0]);
  });

  it('read() gives the same of recordings that were open before, with decoders that others had', () => {
    const files = KINDS.map((kind) => encoded(kind));
    using reader = new WindowReader({ sampleRate: null, mono: false, openFiles: 1 });
    for (const first of [60_003, FRAMES - 700]) {
      for (const file of files) {
        using other = new WindowReader({ sampleRate: null, mono: false });
        expect(reader.read(file, first, 1500)).toEqual(other.read(file, first, 1500));
      }
    }
  });

  it.each(['mp3-cbr', 'opus'] as const)('read() takes %s that was changed since it was open', (kind) => {
    const file = path.join(folder, `changing.${extensionOf(kind)}`);
    copyFileSync(encoded(kind), file);
    using reader = new WindowReader({ sampleRate: null, mono: true, openFiles: 1 });
    reader.read(file, 60_000, 50);
    reader.read(encoded('wav'), 0, 50);
    const turned = { samples: SAMPLES.map((x) => -0.5 * x).slice(0, 2 * 50_000), sampleRate: RATE, channels: 2 };
    writeEncoded(file, turned, kind);
    const whole = decodeFile(file);
    expect(reader.frames(file)).toBe(whole.frames);
    const { waveform } = reader.read(file, 40_000, 2000);
    const wanted = Float32Array.from({ length: 2000 }, (_, n) => {
      const at = 2 * (40_000 + n);
      return ((whole.samples[at] ?? 0) + (whole.samples[at + 1] ?? 0)) / 2;
    });
    expect(worstDifference(waveform, wanted)).toBeLessThan(2 ** -16);
  });
});

async function cutWhole(file: string, firstFrame: number, endFrame: number): Promise<Float32Array> {
  const cut = await cutToMemory(file, [{ firstFrame, endFrame }], { targetRate: TARGET });
  return cut.spans[0]?.samples ?? new Float32Array(0);
}

/** A tag behind STREAMINFO: three channels in front and one in the back, where four alone mean two and two (RFC 9639, section 8.6.2). */
function withChannelPlaces(flac: Buffer): Buffer {
  const comment = 'WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x107';
  const block = Buffer.alloc(4 + 12);
  block.writeUInt32BE(0x0400_0000 + 12 + comment.length);
  block.writeUInt32LE(1, 8);
  block.writeUInt32LE(comment.length, 12);
  return Buffer.concat([flac.subarray(0, 42), block, Buffer.from(comment, 'latin1'), flac.subarray(42)]);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** Comparing floats one by one takes longer than all else. */
function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
