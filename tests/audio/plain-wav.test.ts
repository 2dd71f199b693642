// The short way for WAV, from bytes to the encoder, against the long one through the codec library.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureRecording } from '#cutroom/audio/measure-recording.js';
import type { ConvertRequest } from '#cutroom/audio/convert-recording.js';
import { PlainWav } from '#cutroom/audio/plain-wav.js';
import { probeRecording } from '#cutroom/audio/probe-recording.js';
import { endFrame, firstFrame } from '#cutroom/audio/times.js';
import { decodeFile } from '../support/decode.js';
import { hashUniform, interleaveChannels, makeNoise, makeSpeechBursts, quantize } from '../support/signals.js';
import { buildWav, listChunk } from '../support/wav-files.js';
import type { WavOptions } from '../support/wav-files.js';
import { SECOND, convertToMemory } from './convert-to-memory.js';
import { cutToMemory, encodeInMemory } from './cut-to-memory.js';

const RATE = 16_000;
const LENGTHS = [1, 2, 3, 4095, 4096, 4097, 8192, 131_071, 131_072, 131_073, 150_001];
const noise = makeNoise(150_001, 1, 6, 0.4);
const SAMPLES = quantize(
  makeSpeechBursts(150_001, RATE).map((x, n) => (n % 977 === 0 ? -1 : x + (noise[n] ?? 0))),
  16,
);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-plain-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(bytes: Buffer, name = 'x.wav'): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

interface Span {
  start: number;
  end: number | null;
}

/** What the codec library makes of a span, or why it does not. */
async function longWay(file: string, span: Span, format: 'flac' | 'wav'): Promise<Buffer | string> {
  const end = span.end === null ? Infinity : endFrame(span.end, RATE);
  const frames = { firstFrame: firstFrame(span.start, RATE), endFrame: end };
  try {
    const cut = await cutToMemory(file, [frames], { targetRate: RATE });
    const samples = cut.spans[0]?.samples ?? new Float32Array(0);
    return samples.length === 0 ? Buffer.alloc(0) : encodeInMemory(format, RATE, samples).bytes;
  } catch (error) {
    return String(error);
  }
}

async function shortWay(file: string, span: Span, format: 'flac' | 'wav'): Promise<Buffer | string> {
  try {
    const { bytes, facts } = await convertToMemory({ path: file, format, sampleRate: RATE, span });
    expect(facts.info.container).toBe('wav');
    return bytes;
  } catch (error) {
    return String(error);
  }
}

async function expectSame(file: string, span: Span, format: 'flac' | 'wav'): Promise<void> {
  const [short, long] = [await shortWay(file, span, format), await longWay(file, span, format)];
  if (typeof short === 'string' || typeof long === 'string') expect(short).toBe(long);
  else expect(short.equals(long)).toBe(true);
}

function isTakenShort(file: string): boolean {
  using wav = PlainWav.open(file);
  return wav !== undefined;
}

describe('convertRecording() of 16-bit mono WAV', () => {
  it.each(LENGTHS)('gives the bytes that the codec library gives, of %i samples', async (length) => {
    const file = write(buildWav(SAMPLES.subarray(0, length)));
    expect(isTakenShort(file)).toBe(true);
    for (const format of ['flac', 'wav'] as const) await expectSame(file, { start: 0, end: null }, format);
  });

  it('gives the bytes that the codec library gives, of any span', async () => {
    const file = write(buildWav(SAMPLES));
    for (let k = 0; k < 12; k += 1) {
      const start = Math.floor(hashUniform(k, 1) * 9.9 * SECOND);
      const end = start + Math.floor(hashUniform(k, 2) ** 3 * 4 * SECOND);
      await expectSame(file, { start, end: k % 4 === 0 ? null : end }, k % 2 === 0 ? 'flac' : 'wav');
    }
  });

  const list = [listChunk()];
  const headers: Record<string, WavOptions> = {
    'an odd LIST before and after': { before: [listChunk(27)], after: [listChunk(27)] },
    'an 18-byte fmt': { fmtBytes: 18 },
    'an extensible fmt': { fmtBytes: 40 },
    RF64: { container: 'rf64', after: list },
    'RF64 with data size 0': { container: 'rf64', dataSize: 0, after: list },
    BW64: { container: 'bw64' },
    'data size 0': { dataSize: 0, after: list },
    'data size unknown': { dataSize: 0xffff_ffff, riffSize: 0xffff_ffff, after: list },
    'data size too large': { dataSize: 150_001 * 2 + 100 },
    'data size too small': { dataSize: 1001 },
    Wave64: { container: 'w64' },
  };
  for (const [name, options] of Object.entries(headers)) {
    it(`reads every sample and no more, or refuses: ${name}`, async () => {
      const bytes = buildWav(SAMPLES.subarray(0, 6000), options);
      for (const end of [bytes.length, bytes.length - 1, bytes.length - 1000, 500, 44]) {
        const file = write(bytes.subarray(0, end));
        for (const span of [
          { start: 0, end: null },
          { start: 0, end: 0.01 * SECOND },
          { start: 0.3 * SECOND, end: 0.5 * SECOND },
        ]) {
          const isWave64 = options.container === 'w64';
          if (!isWave64) await expectSame(file, span, 'flac');
        }
      }
    });
  }

  it('leaves to the codec library what is not certain', () => {
    const short = SAMPLES.subarray(0, 3000);
    const twoFormats = buildWav(short, { before: [{ id: 'fmt ', body: buildWav(short).subarray(20, 36) }] });
    const oddFrame = buildWav(short);
    oddFrame.writeUInt16LE(4, 32);
    const noRate = buildWav(short);
    noRate.writeUInt32LE(0, 24);
    for (const bytes of [
      twoFormats,
      oddFrame,
      noRate,
      buildWav(short, { container: 'w64' }),
      Buffer.from('RIFF1234WAVE'),
    ]) {
      expect(isTakenShort(write(bytes))).toBe(false);
    }
  });

  it('leaves to the codec library what looks like DTS', () => {
    const bytes = buildWav(SAMPLES.subarray(0, 20_000));
    const mark = Buffer.from('7ffe8001', 'hex');
    for (const at of [44, 5044]) mark.copy(bytes, at);
    expect(isTakenShort(write(bytes))).toBe(true);
    for (const at of [10_044, 15_044]) mark.copy(bytes, at);
    expect(isTakenShort(write(bytes))).toBe(false);
  });
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('convertRecording() of 16-bit WAV that is mixed or resampled', () => {
  /** What both ways make of a span, and of the recording. */
  async function expectSameMix(file: string, request: Pick<ConvertRequest, 'channel' | 'span' | 'sampleRate'>) {
    const short = convertToMemory({ path: file, format: 'wav', ...request }).then(
      ({ bytes, facts: { samples, cancellationDb, info } }) => ({
        sha256: sha256(bytes),
        samples,
        cancellationDb,
        info,
      }),
      String,
    );
    const { span, sampleRate: targetRate, channel: mix } = request;
    const long = async (): Promise<unknown> => {
      const info = probeRecording(file);
      const start = span?.start ?? 0;
      const end = span?.end ?? null;
      const frames = {
        firstFrame: firstFrame(start + 0.5, info.sampleRate),
        endFrame: end === null ? Infinity : endFrame(end - 1, info.sampleRate),
      };
      const { spans, facts } = await cutToMemory(file, [frames], { targetRate, mix });
      const { cancellationDb, ...rest } = facts;
      const samples = spans[0]?.samples ?? new Float32Array(0);
      const bytes =
        samples.length === 0 ? Buffer.alloc(0) : encodeInMemory('wav', targetRate ?? rest.sampleRate, samples).bytes;
      return { sha256: sha256(bytes), samples: samples.length, cancellationDb, info: rest };
    };
    expect(await short).toEqual(await long().catch(String));
  }

  const spans = [undefined, { start: 0, end: 0.01 * SECOND }, { start: 0.2 * SECOND, end: 1.31 * SECOND }];

  it.each([
    [8000, 1],
    [44_100, 1],
    [22_050, 2],
    [16_000, 2],
    [48_000, 6],
    [11_025, 9],
  ])('gives the bytes that the codec library gives: %i Hz, %i channels', async (sampleRate, channels) => {
    const file = write(buildWav(SAMPLES.subarray(0, 12_000 * channels), { sampleRate, channels }));
    for (const span of spans) {
      for (const channel of ['average', channels - 1, channels] as const) {
        await expectSameMix(file, { ...(span && { span }), channel, sampleRate: RATE });
      }
    }
    await expectSameMix(file, { span: { start: 20 * SECOND, end: null }, channel: 'average', sampleRate: RATE });
  });

  it('gives the same behind audio that is passed over, and of channels that cancel', async () => {
    const opposite = interleaveChannels(
      SAMPLES,
      SAMPLES.map((x) => -x * 0.99),
    );
    const file = write(buildWav(opposite, { sampleRate: 12_000, channels: 2 }));
    for (const start of [5.1, 12.49, 13].map((seconds) => seconds * SECOND)) {
      await expectSameMix(file, { span: { start, end: start + SECOND }, channel: 'average', sampleRate: RATE });
    }
    await expectSameMix(file, { channel: 'average', sampleRate: RATE });
  });

  it('gives the same whatever the header says, and of files that are cut off', async () => {
    const headers: WavOptions[] = [
      { channels: 1, fmtBytes: 40, channelMask: 1 },
      { channels: 1, fmtBytes: 40, channelMask: 4 },
      { channels: 2, fmtBytes: 40, channelMask: 0x30 },
      { channels: 2, dataSize: 0, after: [listChunk()] },
      { channels: 2, dataSize: 1001 },
      { channels: 2, container: 'rf64' },
    ];
    for (const options of headers) {
      const bytes = buildWav(SAMPLES.subarray(0, 6000), { sampleRate: 8000, ...options });
      for (const end of [bytes.length, bytes.length - 1, bytes.length - 1000, 44]) {
        const file = write(bytes.subarray(0, end));
        await expectSameMix(file, { channel: 'average', sampleRate: RATE });
        await expectSameMix(file, { span: { start: 0, end: 0.01 * SECOND }, channel: 0, sampleRate: RATE });
      }
    }
  });
});

describe('measureRecording() of WAV', () => {
  it.each(['u8', 's16', 's24', 's32', 'f32', 'f64', 'alaw', 'mulaw'] as const)(
    'counts %s as decoding does',
    async (encoding) => {
      for (const channels of [1, 2, 5]) {
        const file = write(buildWav(SAMPLES.subarray(0, 300 * channels), { encoding, channels, dataSize: 0 }));
        expect(isTakenShort(file)).toBe(true);
        const { codec, frames } = decodeFile(file);
        expect(await measureRecording(file, () => Promise.resolve())).toEqual({
          frames,
          channels,
          codec,
          sampleRate: RATE,
          container: 'wav',
          format: encoding === 's16' ? 'wav' : undefined,
        });
      }
    },
  );

  it('refuses a file that is cut off, and one without audio', async () => {
    const bytes = buildWav(SAMPLES.subarray(0, 1000));
    const turn = (): Promise<void> => Promise.resolve();
    await expect(measureRecording(write(bytes.subarray(0, 1000)), turn)).rejects.toMatchObject({
      reason: 'truncated_recording',
      message: expect.stringContaining('its header says 2000 bytes of audio, the file holds 956') as string,
    });
    await expect(measureRecording(write(bytes.subarray(0, 44)), turn)).rejects.toMatchObject({
      reason: 'truncated_recording',
    });
    await expect(measureRecording(write(buildWav(new Float64Array(0))), turn)).rejects.toMatchObject({
      reason: 'empty_recording',
    });
  });
});
