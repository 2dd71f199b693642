// Recordings and spans of them made into files, whatever they are.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from '../support/decode.js';
import { extensionOf, writeEncoded } from '../support/encode.js';
import { firstDifference, interleaveChannels, makeSpeechBursts, quantize } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { SECOND, convertToMemory } from './convert-to-memory.js';
import { channelOf } from './cut-to-memory.js';

const RATE = 44_100;
const FRAMES = RATE + 77;
const STEREO = quantize(
  interleaveChannels(
    makeSpeechBursts(FRAMES, RATE),
    makeSpeechBursts(FRAMES, RATE, { burstSeconds: 0.9, seed: 5, amplitude: 0.3 }),
  ),
  16,
);
const FORMATS = ['flac', 'wav', 'ogg', 'mp3', 'opus'] as const;

let folder = '';
let flac = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-convert-'));
  flac = path.join(folder, `stereo.${extensionOf('flac')}`);
  writeEncoded(flac, { samples: STEREO, sampleRate: RATE, channels: 2 }, 'flac');
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

describe('convertRecording()', () => {
  it.each(FORMATS)('makes %s of a whole recording, of the length that it says', async (format) => {
    const { bytes, facts } = await convertToMemory({ path: flac, format, sampleRate: 16_000 });
    const samples = Math.ceil((FRAMES * 16_000) / RATE);
    expect(facts).toMatchObject({ samples, sampleRate: 16_000, audioEndSeconds: undefined });
    expect(facts.info).toEqual({ sampleRate: RATE, channels: 2, container: 'flac', codec: 'flac' });
    const decoded = decodeFile(write(`x.${format}`, bytes));
    expect(decoded.frames).toBe(format === 'opus' ? samples * 3 : samples);
    expect(decoded.channels).toBe(1);
  });

  it('keeps the rate and every sample where nothing is asked of them', async () => {
    const full = decodeFile(flac);
    const { bytes, facts } = await convertToMemory({ path: flac, channel: 1 });
    expect(facts).toMatchObject({ samples: FRAMES, sampleRate: RATE });
    expect(firstDifference(decodeFile(write('x.flac', bytes)).samples, channelOf(full, 1))).toBe(-1);
  });

  it('takes the frames of a span from the one that holds its start', async () => {
    const span = { start: 0.500001 * SECOND, end: 0.75 * SECOND };
    const { bytes, facts } = await convertToMemory({ path: flac, channel: 0, span });
    const expected = channelOf(decodeFile(flac), 0).slice(0.5 * RATE, 0.75 * RATE);
    expect(facts).toMatchObject({ samples: expected.length, audioEndSeconds: undefined });
    expect(firstDifference(decodeFile(write('x.flac', bytes)).samples, expected)).toBe(-1);
  });

  it('says where the audio ended before the span did', async () => {
    const end = FRAMES / RATE;
    const late = await convertToMemory({ path: flac, span: { start: SECOND, end: 2 * SECOND } });
    expect(late.facts).toMatchObject({ samples: 77, audioEndSeconds: end });
    const open = await convertToMemory({ path: flac, span: { start: SECOND, end: null } });
    expect(open.facts).toMatchObject({ samples: 77, audioEndSeconds: undefined });
    expect(open.bytes.equals(late.bytes)).toBe(true);
  });

  it.each(FORMATS)('writes nothing of a span past the audio, as %s', async (format) => {
    for (const end of [11 * SECOND, null]) {
      const past = await convertToMemory({ path: flac, format, sampleRate: 48_000, span: { start: 10 * SECOND, end } });
      expect(past.facts).toMatchObject({ samples: 0, audioEndSeconds: FRAMES / RATE });
      expect(past.bytes.length).toBe(0);
    }
  });

  it('refuses a rate that the format does not hold before anything is written', async () => {
    const pieces: Buffer[] = [];
    const wide = write('wide.wav', buildWav(new Float64Array(100), { sampleRate: 96_000 }));
    await expect(convertToMemory({ path: flac, format: 'opus' }, pieces)).rejects.toMatchObject({
      reason: 'unsupported_rate',
      message: `Cannot encode "${flac}": Opus cannot hold 44100 Hz`,
      hint: 'Ask for a sample rate of 8000, 12000, 16000, 24000 or 48000 Hz.',
    });
    await expect(convertToMemory({ path: wide, format: 'mp3' }, pieces)).rejects.toMatchObject({
      reason: 'unsupported_rate',
    });
    const huge = { path: wide, format: 'flac', sampleRate: 700_000 } as const;
    await expect(convertToMemory(huge, pieces)).rejects.toMatchObject({ reason: 'unsupported_rate' });
    expect(pieces).toEqual([]);
  });

  it('refuses a channel that is not there, and a file that is not there', async () => {
    const mono = write('mono.wav', buildWav(new Float64Array(100)));
    for (const file of [flac, mono]) {
      await expect(convertToMemory({ path: file, channel: 2 })).rejects.toMatchObject({ reason: 'bad_channel' });
    }
    await expect(convertToMemory({ path: `${flac}.no` })).rejects.toMatchObject({ reason: 'missing_recording' });
  });

  it('counts clipped and invalid samples', async () => {
    const loud = write('loud.wav', buildWav(Float64Array.of(0, 1.5, -1.5, NaN, 0.5), { encoding: 'f32' }));
    const { facts } = await convertToMemory({ path: loud });
    expect(facts).toMatchObject({ samples: 5, clippedSamples: 2, invalidSamples: 1 });
  });

  it('warns of channels in opposite phase', async () => {
    const tone = makeSpeechBursts(8000, 8000);
    const file = write(
      'phase.wav',
      buildWav(
        interleaveChannels(
          tone,
          tone.map((x) => -x),
        ),
        { channels: 2, sampleRate: 8000 },
      ),
    );
    expect((await convertToMemory({ path: file })).facts.cancellationDb).toBeLessThan(-60);
    expect((await convertToMemory({ path: file, channel: 0 })).facts.cancellationDb).toBeUndefined();
  });
});
