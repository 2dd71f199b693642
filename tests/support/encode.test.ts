// How many samples FFmpeg gives back of what its encoders were given, for each kind of file.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from './decode.js';
import {
  ENCODED_KINDS,
  extensionOf,
  writeEncoded,
  writeTwoStreams,
  writeVideoOnly,
  writeVideoWithAudio,
} from './encode.js';
import type { EncodedKind, Signal } from './encode.js';
import { firstDifference, makeNoise, makeSpeechBursts, quantize } from './signals.js';

const RATE = 48_000;
const FRAMES = RATE + 123;
const LOSSLESS = new Set<EncodedKind>(['flac', 'flac-24', 'flac-ogg', 'alac']);
/** Samples decoded beyond those given: delay and padding of the encoder that the file does not tell. */
const EXTRA_FRAMES: Partial<Record<EncodedKind, number>> = {
  'mp3-cbr-bare': 1413,
  'mp3-vbr-bare': 1413,
  'aac-adts': 1029,
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-encode-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function signalOf(channels: number, bits = 16): Signal {
  return { samples: quantize(makeNoise(FRAMES, channels, 4, 0.3), bits), sampleRate: RATE, channels };
}

function pathOf(kind: EncodedKind): string {
  return path.join(folder, `${kind}.${extensionOf(kind)}`);
}

describe('writeEncoded()', () => {
  for (const kind of ENCODED_KINDS.filter((each) => each !== 'aac-encrypted')) {
    it(`${kind} decodes to ${LOSSLESS.has(kind) ? 'the samples given' : 'the count given'}`, () => {
      for (const channels of [1, 2]) {
        const signal = signalOf(channels, kind === 'flac-24' ? 24 : 16);
        writeEncoded(pathOf(kind), signal, kind);
        const decoded = decodeFile(pathOf(kind));
        expect([decoded.channels, decoded.sampleRate]).toEqual([channels, RATE]);
        if (LOSSLESS.has(kind)) expect(firstDifference(decoded.samples, signal.samples)).toBe(-1);
        else expect(decoded.frames).toBe(FRAMES + (EXTRA_FRAMES[kind] ?? 0));
      }
    });

    it(`${kind} has the same bytes each time`, () => {
      writeEncoded(pathOf(kind), signalOf(1), kind);
      const first = readFileSync(pathOf(kind));
      writeEncoded(pathOf(kind), signalOf(1), kind);
      expect(readFileSync(pathOf(kind)).equals(first)).toBe(true);
    });
  }

  it('a lossy file stands at the time of what was encoded', () => {
    const samples = quantize(makeSpeechBursts(FRAMES, RATE), 16);
    for (const kind of ['mp3-vbr', 'opus', 'vorbis', 'aac'] as const) {
      writeEncoded(pathOf(kind), { samples, sampleRate: RATE, channels: 1 }, kind);
      expect([kind, bestLag(decodeFile(pathOf(kind)).samples, samples, 100)]).toEqual([kind, 0]);
    }
  });

  it('Opus of a rate that it does not know is read back at 48 kHz', () => {
    writeEncoded(pathOf('opus'), { samples: makeNoise(44_100), sampleRate: 44_100, channels: 1 }, 'opus');
    expect(decodeFile(pathOf('opus'))).toMatchObject({ sampleRate: 48_000, frames: 48_000 });
  });

  it('aac-encrypted yields nothing without its key', () => {
    writeEncoded(pathOf('aac-encrypted'), signalOf(1), 'aac-encrypted');
    const decoded = decodeFile(pathOf('aac-encrypted'));
    expect(decoded.frames).toBe(0);
    expect(decoded.refusedPackets).toBeGreaterThan(40);
  });
});

describe('files of several streams', () => {
  it('writeVideoWithAudio() holds a video first and the whole audio second', () => {
    const file = path.join(folder, 'video.mp4');
    for (const codec of ['mpeg4', 'mjpeg'] as const) {
      writeVideoWithAudio(file, signalOf(2), codec);
      expect(decodeFile(file)).toMatchObject({ codec: 'aac', frames: FRAMES });
      expect(decodeFile(file, 1).frames).toBe(FRAMES);
    }
  });

  it('writeVideoOnly() holds no audio', () => {
    const file = path.join(folder, 'silent.mp4');
    writeVideoOnly(file);
    expect(() => decodeFile(file)).toThrow('find an audio stream');
  });

  it('writeTwoStreams() holds both streams', () => {
    const first = signalOf(1);
    const second = { ...first, samples: first.samples.map((x) => -x) };
    const matroska = path.join(folder, 'two.mka');
    writeTwoStreams(matroska, first, second, 'matroska');
    expect(firstDifference(decodeFile(matroska, 0).samples, first.samples)).toBe(-1);
    expect(firstDifference(decodeFile(matroska, 1).samples, second.samples)).toBe(-1);
    const m4a = path.join(folder, 'two.m4a');
    writeTwoStreams(m4a, first, second, 'm4a');
    expect([decodeFile(m4a, 0).frames, decodeFile(m4a, 1).frames]).toEqual([FRAMES, FRAMES]);
  });
});

/** Shift of `decoded` against `original`, within ±`reach` samples, at which they are most alike. */
function bestLag(decoded: Float64Array, original: Float64Array, reach: number): number {
  let best = { lag: 0, product: -Infinity };
  for (let lag = -reach; lag <= reach; lag += 1) {
    let product = 0;
    for (let n = reach; n < original.length - reach; n += 1) product += (decoded[n + lag] ?? 0) * (original[n] ?? 0);
    if (product > best.product) best = { lag, product };
  }
  return best.lag;
}
