// WAV files of every make: the right length and the right samples, also where the header misleads FFmpeg.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AudioError } from '#cutroom/audio/audio-error.js';
import { measureRecording } from '#cutroom/audio/measure-recording.js';
import { MediaWriter } from '../../scripts/media-writer.js';
import { decodeFile } from '../support/decode.js';
import { patchFile } from '../support/encode.js';
import { makeNoise, quantize, toInt16 } from '../support/signals.js';
import { buildWav, listChunk } from '../support/wav-files.js';
import type { WavEncoding, WavOptions } from '../support/wav-files.js';
import { channelOf, cutToMemory, encodeInMemory, samplesOfWav, worstDifference } from './cut-to-memory.js';

const FRAMES = 1999;
const NOISE = makeNoise(FRAMES, 8, 6, 0.9);
const ALL = { firstFrame: 0, endFrame: FRAMES + 1000 };
/** Bits of the grid on which an encoding keeps samples, none for G.711. */
const GRIDS: [WavEncoding, number][] = [
  ['u8', 8],
  ['s16', 16],
  ['s24', 24],
  ['s32', 32],
  ['f32', 24],
  ['f64', 32],
];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-wavs-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(bytes: Buffer): string {
  const file = path.join(folder, 'x.wav');
  writeFileSync(file, bytes);
  return file;
}

/** Expects a whole cut and one from inside to hold these samples, exactly as 16 bits and to float precision. */
async function expectSamples(
  file: string,
  expected: Float64Array,
  rate: number,
  mix: 'average' | number,
): Promise<void> {
  const spans = [ALL, { firstFrame: 700, endFrame: 1300 }, { firstFrame: FRAMES, endFrame: FRAMES + 1 }];
  const cut = await cutToMemory(file, spans, { targetRate: rate, mix });
  expect(cut.spans.map(({ samples, endFrame, missedAt }) => [samples.length, endFrame, missedAt])).toEqual([
    [FRAMES, FRAMES, undefined],
    [600, 1300, undefined],
    [0, undefined, FRAMES],
  ]);
  const [whole, inside] = cut.spans.map(({ samples }) => samples);
  expect(worstDifference(whole ?? [], expected)).toBeLessThan(1e-7);
  expect(worstDifference(inside ?? [], expected.slice(700, 1300))).toBeLessThan(1e-7);
  const wav = samplesOfWav(encodeInMemory('wav', rate, whole ?? new Float32Array(0)).bytes);
  // Averages can fall between two steps, where the last bit of a float decides.
  if (mix !== 'average') expect(wav).toEqual(toInt16(expected.map(Math.fround)));
}

describe('cutSpans() of WAV', () => {
  it.each(GRIDS)('keeps every sample of %s, whatever the number of channels', async (encoding, bits) => {
    for (const channels of [1, 2, 3, 6, 8]) {
      const samples = quantize(NOISE.subarray(0, FRAMES * channels), bits);
      const audio = {
        codec: '',
        sampleRate: 0,
        claimedFrames: 0,
        refusedPackets: 0,
        channels,
        frames: FRAMES,
        samples,
      };
      for (const fmtBytes of [16, 40] as const) {
        const file = write(buildWav(samples, { encoding, channels, fmtBytes, channelMask: channels === 6 ? 0x3f : 0 }));
        for (const mix of [0, channels - 1, 'average'] as const) {
          await expectSamples(file, channelOf(audio, mix), 16_000, mix);
        }
      }
    }
  });

  it.each(['alaw', 'mulaw'] as const)('gives what a plain decoder makes of %s', async (encoding) => {
    for (const channels of [1, 2]) {
      const samples = quantize(NOISE.subarray(0, FRAMES * channels), 16);
      const file = write(buildWav(samples, { encoding, channels, sampleRate: 8000 }));
      await expectSamples(file, channelOf(decodeFile(file), channels - 1), 8000, channels - 1);
    }
  });

  it('keeps the rate', async () => {
    const samples = quantize(NOISE.subarray(0, FRAMES), 16);
    for (const sampleRate of [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000]) {
      await expectSamples(write(buildWav(samples, { sampleRate })), samples, sampleRate, 'average');
    }
  });

  const samples = quantize(NOISE.subarray(0, FRAMES), 16);
  const list = [listChunk()];
  const headers: Record<string, WavOptions> = {
    'an odd LIST before': { before: [listChunk(27)] },
    'a long LIST before': { before: [listChunk(70_000)] },
    'a LIST after': { after: list },
    'LIST, bext and cue after': {
      after: [listChunk(27), { id: 'bext', body: Buffer.alloc(602, 1) }, { id: 'cue ', body: Buffer.alloc(28) }],
    },
    'an 18-byte fmt': { fmtBytes: 18 },
    'an extensible fmt': { fmtBytes: 40 },
    RF64: { container: 'rf64' },
    'RF64, LIST after': { container: 'rf64', after: list },
    'RF64 with data size 0, LIST after': { container: 'rf64', dataSize: 0, after: list },
    BW64: { container: 'bw64', after: list },
    Wave64: { container: 'w64' },
    'Wave64, odd LIST before, LIST after': { container: 'w64', before: [listChunk(27)], after: list },
    'RIFF size 0': { riffSize: 0 },
  };
  for (const dataSize of [0, 0x7fff_ffff, 0x7fff_ffff - 36, 0xffff_fffe, 0xffff_ffff]) {
    const name = `data size 0x${dataSize.toString(16)}`;
    headers[name] = { dataSize, riffSize: 0xffff_ffff };
    headers[`${name}, LIST after`] = { dataSize, riffSize: 0xffff_ffff, after: list };
    headers[`${name}, odd LIST before and after`] = { dataSize, before: [listChunk(27)], after: [listChunk(27)] };
    headers[`${name}, extensible, LIST after`] = { dataSize, fmtBytes: 40, after: list };
  }
  for (const [name, options] of Object.entries(headers)) {
    it(`reads every sample and no more: ${name}`, async () => {
      await expectSamples(write(buildWav(samples, options)), samples, 16_000, 0);
    });
  }

  it('keeps 24-bit and 8-channel audio of unknown size before a LIST', async () => {
    for (const [encoding, channels, bits] of [
      ['s24', 1, 24],
      ['s24', 3, 24],
      ['u8', 2, 8],
      ['f32', 8, 24],
    ] as const) {
      const wide = quantize(NOISE.subarray(0, FRAMES * channels), bits);
      const audio = {
        codec: '',
        sampleRate: 0,
        claimedFrames: 0,
        refusedPackets: 0,
        channels,
        frames: FRAMES,
        samples: wide,
      };
      const file = write(buildWav(wide, { encoding, channels, dataSize: 0xffff_ffff, after: list }));
      await expectSamples(file, channelOf(audio, 0), 16_000, 0);
    }
  });

  it('leaves out half a sample at the end', async () => {
    const file = write(Buffer.concat([buildWav(samples, { dataSize: 0xffff_ffff }), Buffer.alloc(1)]));
    await expectSamples(file, samples, 16_000, 0);
  });

  it.each(['adpcm_ms', 'adpcm_ima_wav', 'libmp3lame'])(
    'gives what a plain decoder makes of %s in WAV',
    async (codec) => {
      for (const isSizeKnown of [true, false]) {
        const file = path.join(folder, `${codec}.wav`);
        const writer = new MediaWriter(file, {
          container: 'wav',
          tracks: [{ codec, sampleRate: 16_000, channels: 1 }],
        });
        writer.write(toInt16(NOISE.subarray(0, 16_000)));
        writer.close();
        if (!isSizeKnown) patchFile(file, withUnknownDataSize);
        const full = decodeFile(file);
        expect(full.frames).toBeGreaterThanOrEqual(16_000);
        const cut = await cutToMemory(file, [{ firstFrame: 0, endFrame: 50_000 }], { targetRate: 16_000 });
        expect(worstDifference(cut.spans[0]?.samples ?? [], full.samples)).toBe(0);
      }
    },
  );
});

describe('cutSpans() of a WAV that is too short', () => {
  const samples = quantize(NOISE.subarray(0, FRAMES), 16);
  it.each(['riff', 'rf64', 'bw64', 'w64'] as const)('refuses %s at its end', async (container) => {
    const bytes = buildWav(samples, { container });
    const file = write(bytes.subarray(0, bytes.length - 1000));
    const start = await cutToMemory(file, [{ firstFrame: 0, endFrame: 100 }], { targetRate: 16_000 });
    expect(worstDifference(start.spans[0]?.samples ?? [], samples.slice(0, 100))).toBe(0);
    await expect(cutToMemory(file, [ALL], { targetRate: 16_000 })).rejects.toMatchObject({
      reason: 'truncated_recording',
    });
  });

  it('refuses a rate that no number of the codec library holds', async () => {
    const bytes = buildWav(samples);
    bytes.writeUInt32LE(2 ** 31, 24);
    const file = write(bytes);
    await expect(cutToMemory(file, [ALL], { targetRate: 16_000 })).rejects.toMatchObject({ reason: 'not_audio' });
    await expect(measureRecording(file, () => Promise.resolve())).rejects.toMatchObject({ reason: 'not_audio' });
  });

  it('refuses Wave64 with a chunk that ends beyond all files', async () => {
    const bytes = buildWav(samples, { container: 'w64' });
    // The size of "fmt ", the first chunk behind the head.
    bytes.writeBigUInt64LE(2n ** 60n, 56);
    await expect(cutToMemory(write(bytes), [ALL], { targetRate: 16_000 })).rejects.toBeInstanceOf(AudioError);
  });
});

function withUnknownDataSize(wav: Buffer): Buffer {
  const bytes = Buffer.from(wav);
  bytes.writeUInt32LE(0xffff_ffff, bytes.indexOf('data', 0, 'latin1') + 4);
  return bytes;
}
