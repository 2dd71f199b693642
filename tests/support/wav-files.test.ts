// What FFmpeg makes of each WAV: that the good ones are good, and how far the faulty ones lead a plain decoder astray.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from './decode.js';
import type { DecodedAudio } from './decode.js';
import { firstDifference, makeNoise, makeSine, quantize } from './signals.js';
import { buildWav, buildWavAround, listChunk } from './wav-files.js';
import type { WavEncoding, WavOptions } from './wav-files.js';

const FRAMES = 2000;
/** Bits of the grid on which an encoding keeps samples exactly; the G.711 ones keep none. */
const EXACT_BITS: [WavEncoding, number][] = [
  ['u8', 8],
  ['s16', 16],
  ['s24', 24],
  ['s32', 32],
  ['f32', 24],
  ['f64', 32],
];
const UNKNOWN = { dataSize: 0xffffffff, riffSize: 0xffffffff };

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-wav-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function decodeBytes(bytes: Buffer): DecodedAudio {
  const file = path.join(folder, 'x.wav');
  writeFileSync(file, bytes);
  return decodeFile(file);
}

describe('buildWav()', () => {
  for (const [encoding, bits] of EXACT_BITS) {
    it(`${encoding} keeps every sample, for each number of channels and both forms of fmt`, () => {
      for (const channels of [1, 2, 3, 6, 8]) {
        const samples = quantize(makeNoise(FRAMES, channels), bits);
        for (const fmtBytes of [16, 18, 40] as const) {
          const decoded = decodeBytes(buildWav(samples, { encoding, channels, fmtBytes }));
          expect(decoded.channels).toBe(channels);
          expect(firstDifference(decoded.samples, samples)).toBe(-1);
        }
      }
    });
  }

  for (const [encoding, codec] of [
    ['alaw', 'pcm_alaw'],
    ['mulaw', 'pcm_mulaw'],
  ] as const) {
    it(`${encoding} keeps samples within half a step of G.711`, () => {
      const samples = quantize(makeNoise(FRAMES, 1, 2, 0.99), 16);
      const decoded = decodeBytes(buildWav(samples, { encoding }));
      expect(decoded.codec).toBe(codec);
      expect(decoded.frames).toBe(FRAMES);
      // Half a step is at most 1/32 of the level from the second segment on and 16 of 32768 below it; µ-law drops 2 bits first.
      for (const [n, x] of samples.entries()) {
        expect(Math.abs((decoded.samples[n] ?? 0) - x)).toBeLessThanOrEqual(
          Math.max(Math.abs(x) / 32, 16 / 32_768) + 4 / 32_768,
        );
      }
      expect(firstDifference(decodeBytes(buildWav(decoded.samples, { encoding })).samples, decoded.samples)).toBe(-1);
    });
  }

  it('keeps the rate, and a speaker mask that does not match', () => {
    const samples = quantize(makeSine(FRAMES, 8000, 440), 16);
    for (const sampleRate of [8000, 11_025, 22_050, 44_100, 48_000, 96_000]) {
      expect(decodeBytes(buildWav(samples, { sampleRate })).sampleRate).toBe(sampleRate);
    }
    expect(firstDifference(decodeBytes(buildWav(samples, { fmtBytes: 40, channelMask: 0x4 })).samples, samples)).toBe(
      -1,
    );
  });

  const samples = quantize(makeNoise(FRAMES), 16);
  const readRight: Record<string, WavOptions> = {
    'data size 0': { dataSize: 0 },
    'data size 0x7FFFFFFF': { dataSize: 0x7fffffff },
    'data size 0xFFFFFFFE': { dataSize: 0xfffffffe },
    'data size 0xFFFFFFFF': UNKNOWN,
    'data size 0xFFFFFFFF, extensible': { ...UNKNOWN, fmtBytes: 40 },
    'data size past the end': { dataSize: FRAMES * 2 + 1000 },
    'odd LIST before': { before: [listChunk(27)] },
    'long LIST before': { before: [listChunk(70_000)] },
    'LIST after': { after: [listChunk()] },
    RF64: { container: 'rf64' },
    'RF64, LIST after': { container: 'rf64', after: [listChunk()] },
    BW64: { container: 'bw64' },
    Wave64: { container: 'w64' },
    'Wave64, odd LIST before, LIST after': { container: 'w64', before: [listChunk(27)], after: [listChunk()] },
  };
  for (const [name, options] of Object.entries(readRight)) {
    it(`${name}: a plain decoder reads every sample and no more`, () => {
      expect(firstDifference(decodeBytes(buildWav(samples, options)).samples, samples)).toBe(-1);
    });
  }

  const readWrong: Record<string, [WavOptions, number]> = {
    'data size 0, LIST after': [{ dataSize: 0, after: [listChunk()] }, FRAMES + 17],
    'data size 0xFFFFFFFF, LIST after': [{ ...UNKNOWN, after: [listChunk()] }, FRAMES + 17],
    'data size 0x7FFFFFFF, LIST after': [{ dataSize: 0x7fffffff, after: [listChunk()] }, FRAMES + 17],
    'data size too small': [{ dataSize: FRAMES * 2 - 1000 }, FRAMES - 500],
    'RF64 with data size 0': [{ container: 'rf64', dataSize: 0 }, 0],
  };
  for (const [name, [options, frames]] of Object.entries(readWrong)) {
    it(`${name}: a plain decoder is led astray`, () => {
      expect(decodeBytes(buildWav(samples, options)).frames).toBe(frames);
    });
  }

  it('an odd number of bytes of data is padded, and its last half sample is refused', () => {
    const data = Buffer.alloc(999, 1);
    const { head, tail } = buildWavAround(data.length, { after: [listChunk()] });
    expect(tail[0]).toBe(0);
    expect(tail.toString('latin1', 1, 5)).toBe('LIST');
    const decoded = decodeBytes(Buffer.concat([head, data, tail]));
    expect(decoded.frames).toBeLessThan(500);
    expect(decoded.refusedPackets).toBe(1);
  });
});
