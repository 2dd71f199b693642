// A stream whose decoder processes encode against one that is encoded from whole batches, to the last byte.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/run-cli.js';
import { writeDataset, type SmallItem } from '../../load/loader-shards.js';
import { truncated } from '../../support/broken-files.js';
import { extensionOf, writeEncoded, type EncodedKind, type Signal } from '../../support/encode.js';
import { jsonLines } from '../../support/shard-files.js';
import { interleaveChannels, makeSine, makeSpeechBursts } from '../../support/signals.js';
import { readTar } from '../../support/tar-members.js';
import { buildWav, type WavEncoding } from '../../support/wav-files.js';

const RATES = [16_000, 22_050];
const ENCODED: readonly EncodedKind[] = ['flac', 'flac-24', 'flac-ogg', 'mp3-vbr', 'opus', 'vorbis', 'aac'];
const WAVS: readonly WavEncoding[] = ['u8', 's16', 's24', 'f32'];
const SECONDS = 0.7;

let folder = '';
let manifest = '';
let list = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-encoded-'));
  manifest = path.join(folder, 'rows.jsonl');
  const files = writeRecordings();
  const spans = files.map((file) => ({ audio_filepath: file, offset: 0.1234, duration: 0.4, text: 'a part' }));
  const wholes = files.map((file) => ({ audio_filepath: file, duration: SECONDS, text: 'the whole' }));
  writeFileSync(manifest, jsonLines([...wholes, ...spans]));
  list = writeShards(files);
});
afterAll(() => rmSync(folder, { recursive: true }));

function signalOf(sampleRate: number, channels: number, seed: number): Signal {
  const frames = Math.round(SECONDS * sampleRate);
  const left = makeSpeechBursts(frames, sampleRate, { seed });
  const samples = channels === 1 ? left : interleaveChannels(left, makeSine(frames, sampleRate, 440));
  return { samples, sampleRate, channels };
}

/** Of each kind, rate and number of channels; and one that ends in the middle of a frame. */
function writeRecordings(): string[] {
  const audio = path.join(folder, 'audio');
  mkdirSync(audio);
  const files: string[] = [];
  const add = (name: string): string => {
    files.push(path.join(audio, name));
    return path.join(audio, name);
  };
  const shapes = RATES.flatMap((rate) => [1, 2].map((channels) => ({ rate, channels })));
  for (const [seed, { rate, channels }] of shapes.entries()) {
    const signal = signalOf(rate, channels, seed + 1);
    for (const kind of ENCODED) writeEncoded(add(`${kind}-${rate}-${channels}.${extensionOf(kind)}`), signal, kind);
    for (const encoding of WAVS) {
      const wav = buildWav(signal.samples, { sampleRate: rate, channels, encoding });
      writeFileSync(add(`${encoding}-${rate}-${channels}.wav`), wav);
    }
  }
  const [flac = ''] = files;
  writeFileSync(add('torn.flac'), truncated(readFileSync(flac), 0.6));
  return files;
}

/** The same recordings as members, some of which have names that say nothing. */
function writeShards(files: readonly string[]): string {
  const items = files.map((file, number): SmallItem => {
    const bytes = readFileSync(file);
    return { number, samples: Math.round(SECONDS * 8000), bytes, row: { duration: SECONDS } };
  });
  return writeDataset(path.join(folder, 'data'), items, 3);
}

async function stream(jobs: number, flags: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const stdoutBytes = new Writable({
    write: (chunk: Buffer, _, done) => {
      // As of any stream, memory of what was taken is written to again.
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const argv = ['stream', manifest, list, '--quiet', '--jobs', String(jobs), ...flags.split(' ')];
  const { exitCode, stderr } = await runCli(argv, { stdoutBytes });
  expect([exitCode, stderr]).toEqual([0, '']);
  return Buffer.concat(chunks);
}

describe('a stream whose processes encode', () => {
  it.each([
    '--epochs 2',
    '--format flac',
    '--sample-rate 22050',
    '--sample-rate 8000 --format flac',
    '--sample-rate native',
    '--batch-size 5 --speeds 0.9,1,1.1',
    '--batch-size 6 --num-copies 3 --on-item-error drop',
    '--max-duration 3 --buckets 3 --speeds 0.9,1.1 --num-copies 2',
  ])('has the bytes of one that encodes from batches: %s', async (flags) => {
    const expected = await stream(0, flags);
    expect(readTar(expected).size).toBeGreaterThan(200);
    expect((await stream(2, flags)).equals(expected)).toBe(true);
  });
});
