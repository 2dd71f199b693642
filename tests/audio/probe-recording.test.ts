// What headers tell, against what decoding gives.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureRecording } from '#cutroom/audio/measure-recording.js';
import { probeRecording } from '#cutroom/audio/probe-recording.js';
import { truncated, withZeroTotalSamples, withZeroXingFrames } from '../support/broken-files.js';
import { ENCODED_KINDS, extensionOf, writeEncoded, writeVideoOnly } from '../support/encode.js';
import type { EncodedKind } from '../support/encode.js';
import { makeSpeechBursts } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 8000;
const SIGNAL = { samples: makeSpeechBursts(2 * RATE + 77, RATE), sampleRate: RATE, channels: 1 };
const KINDS = ENCODED_KINDS.filter((kind) => kind !== 'aac-encrypted');
/** Files whose length only decoding tells; the WebM muxer writes none where it cannot go back. */
const SILENT_KINDS = new Set<EncodedKind>(['mp3-cbr-bare', 'mp3-vbr-bare', 'aac-adts', 'opus-webm']);
const FORMATS: Partial<Record<EncodedKind, string>> = {
  flac: 'flac',
  'flac-24': 'flac',
  'mp3-cbr': 'mp3',
  'mp3-vbr': 'mp3',
  'mp3-cbr-bare': 'mp3',
  'mp3-vbr-bare': 'mp3',
  opus: 'opus',
  vorbis: 'ogg',
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-probe-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

function encoded(kind: EncodedKind): string {
  const file = path.join(folder, `${kind}.${extensionOf(kind)}`);
  writeEncoded(file, SIGNAL, kind);
  return file;
}

const turn = (): Promise<void> => Promise.resolve();

describe('probeRecording()', () => {
  it.each(KINDS)('tells what %s is, and its exact length or none', async (kind) => {
    const file = encoded(kind);
    const { seconds, ...probe } = probeRecording(file);
    const { frames, format, ...measure } = await measureRecording(file, turn);
    expect(probe).toEqual(measure);
    expect(format).toBe(FORMATS[kind]);
    if (SILENT_KINDS.has(kind)) expect(seconds).toBeUndefined();
    else expect(seconds).toBeCloseTo(frames / measure.sampleRate, 6);
  });

  it('reads WAV of any kind of samples', () => {
    for (const encoding of ['u8', 's24', 'f32', 'mulaw'] as const) {
      const file = write('x.wav', buildWav(new Float64Array(600), { encoding, channels: 2, sampleRate: RATE }));
      expect(probeRecording(file)).toMatchObject({ seconds: 300 / RATE, channels: 2, container: 'wav' });
    }
  });

  it('says nothing of a length that is not told, or does not hold', () => {
    const wav = buildWav(new Float64Array(600));
    const flac = withZeroTotalSamples(readFileSync(encoded('flac')));
    const mp3 = readFileSync(encoded('mp3-cbr'));
    for (const file of [
      write('short.wav', wav.subarray(0, 1000)),
      write('unknown.flac', flac),
      write('zero.mp3', withZeroXingFrames(mp3)),
      write('short.mp3', truncated(mp3, 0.5)),
    ]) {
      expect(probeRecording(file).seconds).toBeUndefined();
    }
    expect(probeRecording(write('long.wav', buildWav(new Float64Array(600), { dataSize: 0 }))).seconds).toBe(
      600 / 16_000,
    );
  });

  it('refuses what holds no audio', () => {
    const video = path.join(folder, 'video.mp4');
    writeVideoOnly(video);
    expect(() => probeRecording(video)).toThrow('it holds no audio stream');
    expect(() => probeRecording(write('x.txt', Buffer.from('no audio at all\n')))).toThrow('not an audio file');
    expect(() => probeRecording(write('empty.wav', Buffer.alloc(0)))).toThrow('the file is empty');
    expect(() => probeRecording(path.join(folder, 'none.wav'))).toThrow('there is no such file');
  });
});
