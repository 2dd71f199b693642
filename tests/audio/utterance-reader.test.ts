// Utterances from memory and from files against the road that `cut` takes through the whole file, to the last bit.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { speedRatio } from '#cutroom/audio/speed-ratio.js';
import { UtteranceReader } from '#cutroom/audio/utterance-reader.js';
import type { UtteranceSamples, UtteranceWish } from '#cutroom/audio/utterance-reader.js';
import { truncated, withZeroTotalSamples } from '../support/broken-files.js';
import { extensionOf, writeEncoded } from '../support/encode.js';
import type { EncodedKind } from '../support/encode.js';
import { interleaveChannels, makeNoise, makeSine, makeSpeechBursts } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { cutToMemory } from './cut-to-memory.js';

const RATE = 22_050;
const FRAMES = RATE / 2 + 123;
const HISS = makeNoise(FRAMES, 1, 3, 0.1);
const LEFT = makeSpeechBursts(FRAMES, RATE).map((x, n) => 0.8 * x + (HISS[n] ?? 0));
const RIGHT = makeSpeechBursts(FRAMES, RATE, { pauseSeconds: 0.31, seed: 2 });
const KINDS = ['flac', 'flac-24', 'flac-ogg', 'mp3-cbr', 'mp3-vbr', 'mp3-cbr-bare', 'opus', 'vorbis', 'aac'] as const;
const ALL: UtteranceWish = { span: undefined, sampleRate: null, speed: 1 };

let folder = '';
let reader: UtteranceReader;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-utterance-'));
  reader = new UtteranceReader();
});
afterAll(() => {
  reader[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

function encoded(kind: EncodedKind | 'wav', channels: 1 | 2): string {
  const file = path.join(folder, `${kind}-${channels}.${kind === 'wav' ? 'wav' : extensionOf(kind)}`);
  if (existsSync(file)) return file;
  // Opus knows a few rates alone.
  const sampleRate = kind === 'opus' ? 24_000 : RATE;
  const samples = channels === 1 ? LEFT : interleaveChannels(LEFT, RIGHT);
  if (kind === 'wav') writeFileSync(file, buildWav(samples, { sampleRate, channels }));
  else writeEncoded(file, { samples, sampleRate, channels }, kind);
  return file;
}

async function cutWhole(file: string, targetRate: number | null): Promise<Float32Array> {
  const { spans } = await cutToMemory(file, [{ firstFrame: 0, endFrame: Infinity }], { targetRate });
  return spans[0]?.samples ?? new Float32Array(0);
}

/** To the last bit; comparing number by number takes the test library long. */
function expectSame(samples: Float32Array, expected: Float32Array | undefined): void {
  expect(samples).toHaveLength(expected?.length ?? -1);
  expect(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).equals(bytesOf(expected))).toBe(true);
}

function bytesOf(samples: Float32Array | undefined): Uint8Array {
  return new Uint8Array(samples?.buffer ?? new ArrayBuffer(0), samples?.byteOffset, samples?.byteLength);
}

function reasonOf(read: () => UtteranceSamples): unknown {
  try {
    return read().samples.length;
  } catch (error) {
    return (error as { reason?: string }).reason;
  }
}

describe('UtteranceReader', () => {
  it.each(['wav', ...KINDS] as const)(
    'gives what cutting the whole %s gives, of one channel and of two',
    async (kind) => {
      for (const [channels, sampleRate] of [
        [1, null],
        [1, 16_000],
        [2, null],
      ] as const) {
        const file = encoded(kind, channels);
        const expected = await cutWhole(file, sampleRate);
        expect(expected.length).toBeGreaterThan(7000);
        const wish = { ...ALL, sampleRate };
        expectSame(reader.readBytes(readFileSync(file), file, wish).samples, expected);
        expectSame(reader.readFile(file, wish).samples, expected);
      }
    },
  );

  it.each(['wav', 'flac', 'flac-24', 'mp3-vbr', 'vorbis'] as const)(
    'gives the same span of %s either way',
    async (kind) => {
      const file = encoded(kind, 1);
      const [start, end] = [RATE / 10, (RATE * 2) / 5];
      const span = { start: 100_000, end: 400_000 };
      const { spans } = await cutToMemory(file, [{ firstFrame: start, endFrame: end }], { targetRate: 16_000 });
      const wish = { span, sampleRate: 16_000, speed: 1 };
      expectSame(reader.readBytes(readFileSync(file), file, wish).samples, spans[0]?.samples);
      expectSame(reader.readFile(file, wish).samples, spans[0]?.samples);
      const whole = await cutWhole(file, null);
      const own = { span, sampleRate: null, speed: 1 };
      expectSame(reader.readBytes(readFileSync(file), file, own).samples, whole.slice(start, end));
      const open = { span: { start: 100_000, end: null }, sampleRate: null, speed: 1 };
      expectSame(reader.readBytes(readFileSync(file), file, open).samples, whole.slice(start));
      expectSame(reader.readFile(file, open).samples, whole.slice(start));
    },
  );

  it('gives nothing of a span behind the end, and what there is of one across it', async () => {
    for (const kind of ['wav', 'flac'] as const) {
      const file = encoded(kind, 1);
      const behind = { ...ALL, span: { start: 9_000_000, end: 9_500_000 } };
      const across = { ...ALL, span: { start: 400_000, end: 9_500_000 } };
      const whole = await cutWhole(file, null);
      for (const read of [
        (wish: UtteranceWish) => reader.readBytes(readFileSync(file), file, wish).samples,
        (wish: UtteranceWish) => reader.readFile(file, wish).samples,
      ]) {
        expect(read(behind)).toHaveLength(0);
        expectSame(read(across), whole.slice(0.4 * RATE));
      }
    }
  });

  it.each([0.9, 1.1, 1.05, 2])('a speed of %d makes it so much shorter and higher, to the sample', (speed) => {
    const tone = path.join(folder, 'tone.wav');
    writeFileSync(tone, buildWav(makeSine(16_000, 16_000, 1000), { sampleRate: 16_000, channels: 1 }));
    const { samples, sampleRate } = reader.readFile(tone, { ...ALL, speed });
    expect(sampleRate).toBe(16_000);
    const hundredths = Math.round(speed * 100);
    expect(samples).toHaveLength(Math.ceil((16_000 * 100) / hundredths));
    let crossings = 0;
    for (let at = 1; at < samples.length; at += 1) {
      if ((samples[at - 1] ?? 0) < 0 && (samples[at] ?? 0) >= 0) crossings += 1;
    }
    // One second of sound holds its 1,000 periods, however fast it is played.
    expect(Math.abs(crossings - 1000)).toBeLessThanOrEqual(2);
  });

  it('a speed gives what the same samples at a higher rate give', async () => {
    const faster = path.join(folder, 'faster.wav');
    writeFileSync(faster, buildWav(LEFT, { sampleRate: (RATE * 6) / 5, channels: 1 }));
    const expected = await cutWhole(faster, 16_000);
    const { samples } = reader.readFile(encoded('wav', 1), { ...ALL, sampleRate: 16_000, speed: 1.2 });
    expectSame(samples, expected);
  });

  it('reads FLAC behind tags and pictures of any size', () => {
    const flac = readFileSync(encoded('flac', 1));
    const expected = reader.readBytes(flac, 'a.flac', ALL).samples;
    const picture = Buffer.alloc(4 + 200_000, 0xff);
    picture.writeUInt32BE(0x06_000000 + 200_000);
    const first = 8 + 34;
    const pictured = Buffer.concat([flac.subarray(0, first), picture, flac.subarray(first)]);
    expectSame(reader.readBytes(pictured, 'a.flac', ALL).samples, expected);
    const id3 = Buffer.concat([Buffer.from('ID3\u0004\0\0\0\0\u0001\u0000', 'latin1'), Buffer.alloc(128)]);
    expectSame(reader.readBytes(Buffer.concat([id3, flac]), 'a.flac', ALL).samples, expected);
  });

  it('reads FLAC whose length is not known', () => {
    const flac = readFileSync(encoded('flac', 1));
    const expected = reader.readBytes(flac, 'a.flac', ALL).samples;
    expectSame(reader.readBytes(withZeroTotalSamples(flac), 'a.flac', ALL).samples, expected);
  });

  it('tells damage by its reason, and reads the next one as if nothing had been', () => {
    const flac = readFileSync(encoded('flac', 1));
    const flipped = Buffer.from(flac);
    flipped[flac.length >> 1] = (flac[flac.length >> 1] ?? 0) ^ 0x40;
    const wav = readFileSync(encoded('wav', 1));
    const read = (bytes: Buffer, name: string): unknown => reasonOf(() => reader.readBytes(bytes, name, ALL));
    expect(read(flipped, 'a.flac')).toBe('corrupt_recording');
    expect(read(flac, 'a.flac')).toBe(FRAMES);
    expect(['truncated_recording', 'corrupt_recording']).toContain(read(truncated(flac, 0.6), 'a.flac'));
    expect(read(flac.subarray(0, 20), 'a.flac')).toBe('not_audio');
    expect(read(truncated(wav, 0.6), 'a.wav')).toBe('truncated_recording');
    expect(read(Buffer.from('this is no audio'), 'a.mp3')).toBe('not_audio');
    expect(read(Buffer.alloc(0), 'a.mp3')).toBe('empty_recording');
    expect(reasonOf(() => reader.readFile(path.join(folder, 'none.wav'), ALL))).toBe('missing_recording');
    expect(read(flac, 'a.flac')).toBe(FRAMES);
    expect(readdirSync(tmpdir()).filter((name) => /^cutroom-[0-9a-f-]{36}\.(?:flac|wav|mp3)$/u.test(name))).toEqual([]);
  });
});

describe('speedRatio()', () => {
  it('takes a speed as the decimal that it is spelled as', () => {
    expect(speedRatio(44_100, 16_000, 1)).toEqual({ source: 44_100, target: 16_000 });
    expect(speedRatio(16_000, 16_000, 1.1)).toEqual({ source: 8800, target: 8000 });
    const { source, target } = speedRatio(48_000, 16_000, 1.037);
    expect(source * 16_000 * 1000).toBe(target * 48_000 * 1037);
  });

  it('refuses speeds that are none', () => {
    for (const speed of [0, -1, NaN, Infinity]) expect(() => speedRatio(16_000, 16_000, speed)).toThrow(RangeError);
    expect(() => speedRatio(16_000, 16_001, 1.000_000_000_1)).toThrow(/too many digits/u);
  });
});
