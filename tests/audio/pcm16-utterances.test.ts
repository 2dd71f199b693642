// Samples of 16 bits as they are, against the same as floats.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AudioError } from '#cutroom/audio/audio-error.js';
import { UtteranceReader } from '#cutroom/audio/utterance-reader.js';
import type { UtteranceWish } from '#cutroom/audio/utterance-reader.js';
import { truncated } from '../support/broken-files.js';
import { extensionOf, writeEncoded, type EncodedKind } from '../support/encode.js';
import { interleaveChannels, makeSpeechBursts } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 16_000;
const FRAMES = 9001;
const SPEECH = makeSpeechBursts(FRAMES, RATE);
const AS_IS: UtteranceWish = { span: undefined, sampleRate: RATE, speed: 1, takesPcm16: true };

let folder = '';
let reader: UtteranceReader;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-pcm16-'));
  reader = new UtteranceReader();
});
afterAll(() => {
  reader[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

function encoded(kind: EncodedKind | 'wav', channels: 1 | 2 = 1): Buffer {
  const samples = channels === 1 ? SPEECH : interleaveChannels(SPEECH, SPEECH);
  if (kind === 'wav') return buildWav(samples, { sampleRate: RATE, channels });
  const file = path.join(folder, `${kind}-${channels}.${extensionOf(kind)}`);
  writeEncoded(file, { samples, sampleRate: RATE, channels }, kind);
  return readFileSync(file);
}

/** At an odd place of its memory. */
function shifted(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(1), bytes]).subarray(1);
}

describe('UtteranceReader, asked for samples as they are', () => {
  it.each([
    ['FLAC', () => encoded('flac'), {}],
    ['FLAC, at its own rate', () => encoded('flac'), { sampleRate: null }],
    ['WAV', () => encoded('wav'), {}],
    ['WAV at an odd place', () => shifted(encoded('wav')), {}],
    ['WAV, a span of it', () => encoded('wav'), { span: { start: 100_000, end: 400_000 } }],
  ])('gives those of a %s', (_kind, bytes, changes) => {
    const wish = { ...AS_IS, ...changes };
    const { samples } = reader.readBytes(bytes(), 'a', { ...wish, takesPcm16: false });
    const { pcm16, sampleRate, samples: none } = reader.readBytes(bytes(), 'a', wish);
    expect([none.length, sampleRate, samples.length > 4000]).toEqual([0, RATE, true]);
    expect(pcm16).toEqual(Int16Array.from(samples, (sample) => sample * 32_768));
  });

  it.each([
    ['of two channels', () => encoded('flac', 2), {}],
    ['of two channels, a WAV', () => encoded('wav', 2), {}],
    ['of 24 bits', () => encoded('flac-24'), {}],
    ['of another rate', () => encoded('flac'), { sampleRate: 8000 }],
    ['at another speed', () => encoded('wav'), { speed: 1.1 }],
    ['of which a span is wanted', () => encoded('flac'), { span: { start: 100_000, end: null } }],
    ['without samples', () => encoded('mp3-cbr'), {}],
    ['that ends too early', () => truncated(encoded('flac'), 0.9), {}],
  ])('gives floats of audio %s, the same as else', (_state, bytes, changes) => {
    const read = (takesPcm16: boolean): unknown => {
      try {
        return reader.readBytes(bytes(), 'a', { ...AS_IS, ...changes, takesPcm16 });
      } catch (error) {
        return (error as AudioError).state;
      }
    };
    const asIs = read(true);
    expect(asIs).toEqual(read(false));
    expect(asIs).not.toHaveProperty('pcm16');
  });
});
