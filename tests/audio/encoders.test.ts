// The files that snippets become, read back by an independent decoder.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from '../support/decode.js';
import { makeNoise, makeSpeechBursts, toInt16 } from '../support/signals.js';
import { encodeInMemory, samplesOfWav, worstDifference } from './cut-to-memory.js';

const LENGTHS = [1, 2, 4095, 4096, 4097, 8192, 50_001];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-encoders-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

function floats(length: number): Float32Array {
  const noise = makeNoise(length, 1, 5, 0.1);
  return Float32Array.from(makeSpeechBursts(length, 16_000), (x, n) => x + (noise[n] ?? 0));
}

describe('WavEncoder', () => {
  it.each(LENGTHS)('writes %i samples that read back, with the sizes of a plain header', (length) => {
    const { bytes } = encodeInMemory('wav', 22_050, floats(length));
    expect(bytes.length).toBe(44 + 2 * length);
    expect([bytes.readUInt32LE(4), bytes.readUInt32LE(40)]).toEqual([36 + 2 * length, 2 * length]);
    const decoded = decodeFile(write('x.wav', bytes));
    expect(decoded).toMatchObject({ codec: 'pcm_s16le', sampleRate: 22_050, channels: 1, frames: length });
    expect(toInt16(decoded.samples)).toEqual(samplesOfWav(bytes));
  });
});

describe('FlacEncoder', () => {
  it.each(LENGTHS)('writes %i samples that equal those of WAV, with their length and MD5', (length) => {
    const wav = encodeInMemory('wav', 16_000, floats(length));
    const { bytes } = encodeInMemory('flac', 16_000, floats(length));
    const decoded = decodeFile(write('x.flac', bytes));
    expect(decoded).toMatchObject({
      codec: 'flac',
      sampleRate: 16_000,
      channels: 1,
      frames: length,
      refusedPackets: 0,
    });
    expect(toInt16(decoded.samples)).toEqual(samplesOfWav(wav.bytes));
    const info = streamInfoOf(bytes);
    expect(info).toMatchObject({ sampleRate: 16_000, channels: 1, bits: 16, totalSamples: length });
    expect(info.md5).toBe(createHash('md5').update(wav.bytes.subarray(44)).digest('hex'));
    if (length > 4096) expect([info.minBlock, info.maxBlock]).toEqual([4096, 4096]);
  });

  it('writes silence and full-scale noise', () => {
    for (const samples of [new Float32Array(9000), Float32Array.from(makeNoise(9000, 1, 2, 1))]) {
      const { bytes } = encodeInMemory('flac', 48_000, samples);
      const wav = samplesOfWav(encodeInMemory('wav', 48_000, samples).bytes);
      expect(toInt16(decodeFile(write('x.flac', bytes)).samples)).toEqual(wav);
    }
  });

  it.each([8000, 11_025, 44_100, 47_999, 96_000, 192_000, 655_350])('holds %i Hz', (rate) => {
    const { bytes } = encodeInMemory('flac', rate, floats(5000));
    expect(streamInfoOf(bytes).sampleRate).toBe(rate);
    expect(decodeFile(write('x.flac', bytes))).toMatchObject({ sampleRate: rate, frames: 5000 });
  });
});

describe('VorbisEncoder', () => {
  it.each(LENGTHS)('writes %i samples of the same length', (length) => {
    const { bytes } = encodeInMemory('ogg', 16_000, floats(length));
    // The last page says where the audio ends (RFC 3533, section 6).
    const lastPage = bytes.lastIndexOf('OggS');
    expect(bytes.readUInt8(lastPage + 5) & 4).toBe(4);
    expect(bytes.readBigInt64LE(lastPage + 6)).toBe(BigInt(length));
    const decoded = decodeFile(write('x.ogg', bytes));
    expect(decoded).toMatchObject({ codec: 'vorbis', sampleRate: 16_000, channels: 1 });
    // FFmpeg does not apply the end to a file that is a page long.
    if (length > 4000) expect(decoded.frames).toBe(length);
  });

  it('keeps the waveform', () => {
    const samples = floats(50_000);
    const decoded = decodeFile(write('x.ogg', encodeInMemory('ogg', 16_000, samples).bytes)).samples;
    const power = samples.reduce((sum, x) => sum + x * x, 0);
    const noise = samples.reduce((sum, x, n) => sum + (x - (decoded[n] ?? 0)) ** 2, 0);
    expect(10 * Math.log10(power / noise)).toBeGreaterThan(10);
  });

  it('gives the same bytes for the same name, and another serial number for another', () => {
    const encode = (name: string): Buffer => encodeInMemory('ogg', 16_000, floats(20_000), { name }).bytes;
    const [first, again, other] = [encode('talk-0-1'), encode('talk-0-1'), encode('talk-1-2')];
    expect(first.equals(again)).toBe(true);
    expect(first.readUInt32LE(14)).not.toBe(other.readUInt32LE(14));
    const serials = new Set<number>();
    for (let at = first.indexOf('OggS'); at >= 0; at = first.indexOf('OggS', at + 1))
      serials.add(first.readUInt32LE(at + 14));
    expect(serials.size).toBe(1);
    expect(worstDifference(decodeFile(write('a.ogg', first)).samples, decodeFile(write('b.ogg', other)).samples)).toBe(
      0,
    );
  });

  it('names no time, program version or machine', () => {
    const text = encodeInMemory('ogg', 16_000, floats(5000)).bytes.toString('latin1');
    expect(text).not.toMatch(/Lavf\d|Lavc\d|20\d\d-/u);
  });

  it('writes what is not a number as silence, and counts it', () => {
    const samples = floats(5000);
    samples[100] = NaN;
    samples[200] = Infinity;
    const { bytes, invalidSamples } = encodeInMemory('ogg', 16_000, samples);
    expect(invalidSamples).toBe(2);
    const decoded = decodeFile(write('x.ogg', bytes));
    expect(decoded.frames).toBe(5000);
    expect(decoded.samples.every(Number.isFinite)).toBe(true);
  });
});

/** STREAMINFO of a FLAC file (RFC 9639, section 8.2). */
function streamInfoOf(flac: Buffer): Record<string, number | string> {
  expect(flac.toString('latin1', 0, 4)).toBe('fLaC');
  const info = flac.subarray(8, 42);
  const packed = info.readBigUInt64BE(10);
  return {
    minBlock: info.readUInt16BE(0),
    maxBlock: info.readUInt16BE(2),
    sampleRate: Number(packed >> 44n),
    channels: Number((packed >> 41n) & 7n) + 1,
    bits: Number((packed >> 36n) & 31n) + 1,
    totalSamples: Number(packed & 0xf_ffff_ffffn),
    md5: info.toString('hex', 18, 34),
  };
}
