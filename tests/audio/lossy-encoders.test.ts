// MP3 and Opus as utterances become them, read back by independent decoders: exact lengths, the same bytes each time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setInfoSamples } from '#cutroom/audio/info-header.js';
import { mp3Kilobits } from '#cutroom/audio/lossy-formats.js';
import { RecordingReader } from '#cutroom/audio/recording-reader.js';
import { SAMPLE_RATES, isRateHeld, nameRates } from '#cutroom/audio/sample-rates.js';
import { decodeFile } from '../support/decode.js';
import { writeEncoded } from '../support/encode.js';
import { makeNoise, makeSpeechBursts } from '../support/signals.js';
import { encodeInMemory } from './cut-to-memory.js';

/** Around frames of 320, 576 and 1152, and where LAME pads more than a frame. */
const LENGTHS = [1, 2, 46, 47, 319, 320, 576, 577, 622, 623, 1151, 1153, 20_001];
const RATES = { mp3: SAMPLE_RATES.mp3.only ?? [], opus: SAMPLE_RATES.opus.only ?? [] };

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-lossy-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

function floats(length: number, sampleRate = 16_000): Float32Array {
  const noise = makeNoise(length, 1, 5, 0.1);
  return Float32Array.from(makeSpeechBursts(length, sampleRate), (x, n) => x + (noise[n] ?? 0));
}

function readerFrames(file: string): number {
  using reader = new RecordingReader(file);
  while (reader.next());
  return reader.position;
}

/** Signal to noise in dB. */
function quality(samples: Float32Array, decoded: Float64Array): number {
  const power = samples.reduce((sum, x) => sum + x * x, 0);
  const noise = samples.reduce((sum, x, n) => sum + (x - (decoded[n] ?? 0)) ** 2, 0);
  return 10 * Math.log10(power / noise);
}

describe('MP3', () => {
  it.each(LENGTHS)('gives %i samples back', (length) => {
    const file = write('x.mp3', encodeInMemory('mp3', 16_000, floats(length)).bytes);
    expect(decodeFile(file)).toMatchObject({ sampleRate: 16_000, channels: 1, refusedPackets: 0 });
    expect(readerFrames(file)).toBe(length);
  });

  it.each(RATES.mp3)('holds %i Hz, in place', (rate) => {
    const samples = floats(rate, rate);
    const { bytes, clippedSamples } = encodeInMemory('mp3', rate, samples, { compressionLevel: 0 });
    const decoded = decodeFile(write('x.mp3', bytes));
    expect(decoded).toMatchObject({ sampleRate: rate, frames: rate });
    expect(quality(samples, decoded.samples)).toBeGreaterThan(10);
    expect(clippedSamples).toBe(0);
  });

  it('takes the bit rate that libsndfile takes for a compression level', () => {
    expect([0, 0.5, 0.65, 1].map((level) => mp3Kilobits(44_100, level))).toEqual([320, 176, 132, 32]);
    expect([0, 0.65, 1].map((level) => mp3Kilobits(16_000, level))).toEqual([160, 61, 8]);
    expect([0, 0.65, 1].map((level) => mp3Kilobits(11_025, level))).toEqual([64, 27, 8]);
    const sizeOf = (compressionLevel: number | null): number =>
      encodeInMemory('mp3', 16_000, floats(32_000), { compressionLevel }).bytes.length;
    // LAME takes the nearest rate there is: 160, 64 and 8 kbit/s, over 2 s.
    for (const [level, bytes] of [
      [0, 40_000],
      [null, 16_000],
      [1, 2000],
    ] as const) {
      expect(sizeOf(level) / bytes).toBeGreaterThan(0.98);
      expect(sizeOf(level) / bytes).toBeLessThan(1.2);
    }
  });

  it('begins with an Info header without a version, at every frame the same rate', () => {
    const { bytes } = encodeInMemory('mp3', 16_000, floats(50_000));
    expect(bytes.readUInt16BE(0) & 0xffe0).toBe(0xffe0);
    expect(bytes.toString('latin1', 0, 64)).toContain('Info');
    expect(bytes.toString('latin1')).not.toMatch(/Lav[fc]\d|20\d\d-/u);
  });
});

describe('setInfoSamples()', () => {
  it('tells of the samples that were asked for, under a checksum as the codec library makes it', () => {
    const mp3 = encodeInMemory('mp3', 44_100, floats(5000)).bytes;
    const header = Buffer.from(mp3.subarray(0, 417));
    setInfoSamples(header, 4000);
    expect(header.equals(mp3.subarray(0, 417))).toBe(false);
    setInfoSamples(header, 5000);
    expect(header.equals(mp3.subarray(0, 417))).toBe(true);

    const file = path.join(folder, 'plain.mp3');
    writeEncoded(file, { samples: makeNoise(5000, 2), sampleRate: 44_100, channels: 2 }, 'mp3-cbr');
    const plain = readFileSync(file);
    // Of stereo, where the codec library ends the checksum at the right place.
    const frame = plain.subarray(plain.indexOf('Info', 0, 'latin1') - 36);
    const changed = Buffer.from(frame);
    setInfoSamples(changed, 5000);
    expect(changed.equals(frame)).toBe(true);
  });

  it('refuses a header that is none', () => {
    expect(() => setInfoSamples(Buffer.alloc(200), 1)).toThrow('wrote no Info header');
  });
});

describe('Opus', () => {
  it.each(LENGTHS)('gives %i samples back, at 48 kHz', (length) => {
    const { bytes } = encodeInMemory('opus', 16_000, floats(length));
    const file = write('x.opus', bytes);
    expect(readerFrames(file)).toBe(length * 3);
    const lastPage = bytes.lastIndexOf('OggS');
    const preSkip = bytes.readUInt16LE(bytes.indexOf('OpusHead') + 10);
    // RFC 7845, section 4: the last page's position less the pre-skip is the length.
    expect(bytes.readUInt8(lastPage + 5) & 4).toBe(4);
    expect(bytes.readBigInt64LE(lastPage + 6)).toBe(BigInt(length * 3 + preSkip));
  });

  it.each(RATES.opus)('holds %i Hz', (rate) => {
    const { bytes } = encodeInMemory('opus', rate, floats(rate + 1, rate));
    expect(bytes.readUInt32LE(bytes.indexOf('OpusHead') + 12)).toBe(rate);
    expect(decodeFile(write('x.opus', bytes))).toMatchObject({
      sampleRate: 48_000,
      frames: ((rate + 1) * 48_000) / rate,
    });
  });

  it('keeps the waveform in place', () => {
    const samples = floats(48_000, 48_000);
    const decoded = decodeFile(write('x.opus', encodeInMemory('opus', 48_000, samples).bytes));
    expect(quality(samples, decoded.samples)).toBeGreaterThan(5);
  });

  it('has pages of a fifth of a second at most', () => {
    const { bytes } = encodeInMemory('opus', 16_000, floats(50_000));
    let earlier = 0n;
    for (let at = bytes.indexOf('OggS'); at >= 0; at = bytes.indexOf('OggS', at + 1)) {
      const position = bytes.readBigInt64LE(at + 6);
      expect(position - earlier).toBeLessThanOrEqual(9600n);
      earlier = position;
    }
    expect(earlier).toBeGreaterThan(150_000n);
  });
});

describe.each(['mp3', 'opus'] as const)('%s', (format) => {
  it('gives the same bytes for the same name, in pieces of any size', () => {
    const encode = (name: string, pieceSamples: number): Buffer =>
      encodeInMemory(format, 16_000, floats(20_000), { name, pieceSamples }).bytes;
    const first = encode('a/b.x', 1000);
    expect(encode('a/b.x', 333).equals(first)).toBe(true);
    expect(encode('a/c.x', 1000).equals(first)).toBe(format === 'mp3');
  });

  it('writes what is not a number as silence, and counts it', () => {
    const samples = floats(5000);
    samples[100] = NaN;
    samples[200] = -Infinity;
    const { bytes, invalidSamples } = encodeInMemory(format, 16_000, samples);
    expect(invalidSamples).toBe(2);
    expect(decodeFile(write(`x.${format}`, bytes)).samples.every(Number.isFinite)).toBe(true);
  });

  const ffmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
  it.skipIf(!ffmpeg)('has its length for the ffmpeg that is installed', () => {
    const file = write(`x.${format}`, encodeInMemory(format, 16_000, floats(50_001)).bytes);
    const { stdout } = spawnSync('ffmpeg', ['-v', 'error', '-i', file, '-f', 's16le', '-'], { maxBuffer: 1 << 24 });
    expect(stdout.length / 2).toBe(50_001 * (format === 'opus' ? 3 : 1));
  });
});

describe('isRateHeld()', () => {
  it('knows the rates of each format, and nameRates() says them', () => {
    expect(isRateHeld('opus', 44_100)).toBe(false);
    expect(isRateHeld('mp3', 44_100)).toBe(true);
    expect(isRateHeld('mp3', 96_000)).toBe(false);
    expect(isRateHeld('flac', 655_350)).toBe(true);
    expect(isRateHeld('flac', 655_351)).toBe(false);
    expect(isRateHeld('wav', 0.5)).toBe(false);
    expect(nameRates('opus')).toBe('8000, 12000, 16000, 24000 or 48000');
    expect(nameRates('ogg')).toBe('1 to 200000');
  });
});
