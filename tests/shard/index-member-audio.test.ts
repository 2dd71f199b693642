import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MemberAudioReader } from '#cutroom/shard/index-member-audio.js';
import { writeEncoded, type EncodedKind } from '../support/encode.js';
import { buildWav, listChunk } from '../support/wav-files.js';

const RATE = 24_000;
const FRAMES = 30_001;

describe('MemberAudioReader.read()', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-member-audio-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The bytes between others, as in a tar. */
  function readInside(bytes: Buffer) {
    const file = path.join(folder, 'tar');
    writeFileSync(file, Buffer.concat([Buffer.alloc(512, 0x4f), bytes, Buffer.from('OggS'.repeat(400))]));
    const reader = new MemberAudioReader(file);
    try {
      return reader.read(512, bytes.length);
    } finally {
      reader.close();
    }
  }

  function encoded(kind: EncodedKind, channels: number): Buffer {
    const file = path.join(folder, 'audio');
    const samples = Float64Array.from({ length: FRAMES * channels }, (_, at) => Math.sin(at / 7) / 3);
    writeEncoded(file, { samples, sampleRate: RATE, channels }, kind);
    return readFileSync(file);
  }

  it.each(['flac', 'vorbis', 'opus'] as const)('knows rate, channels and length of %s', (kind) => {
    expect(readInside(encoded(kind, 1))).toEqual({ sampleRate: RATE, channels: 1, frames: FRAMES });
    expect(readInside(encoded(kind, 2))).toEqual({ sampleRate: RATE, channels: 2, frames: FRAMES });
  });

  it.each(['mp3-cbr', 'mp3-vbr-bare'] as const)('knows rate and channels of %s', (kind) => {
    expect(readInside(encoded(kind, 1))).toEqual({ sampleRate: RATE, channels: 1, frames: undefined });
    expect(readInside(encoded(kind, 2))).toEqual({ sampleRate: RATE, channels: 2, frames: undefined });
  });

  it('finds the audio of a WAV behind other chunks, and takes no size on trust', () => {
    const samples = new Float64Array(FRAMES * 2);
    const facts = { sampleRate: RATE, channels: 2, frames: FRAMES };
    const wav = buildWav(samples, { sampleRate: RATE, channels: 2, before: [listChunk(2000)] });
    expect(readInside(wav)).toEqual(facts);
    const plain = buildWav(samples, { sampleRate: RATE, channels: 2 });
    plain.writeUInt32LE(0xffff_ffff, plain.indexOf('data') + 4);
    expect(readInside(plain)).toEqual(facts);
  });

  it('knows nothing of text, of other formats, and of headers that are cut off', () => {
    expect(readInside(Buffer.from('{"text":"hello"}'))).toBeUndefined();
    expect(readInside(encoded('alac', 1))).toBeUndefined();
    expect(readInside(encoded('flac', 1).subarray(0, 20))).toBeUndefined();
    expect(readInside(encoded('opus', 1).subarray(0, 30))).toBeUndefined();
    expect(readInside(Buffer.from('RIFF\0\0\0\0WAVEfmt '))).toBeUndefined();
    expect(readInside(Buffer.alloc(0))).toBeUndefined();
  });
});
