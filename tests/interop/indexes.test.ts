// Shards with the indexes of other loaders beside them, read back by these. scripts/make-venv.sh makes the Python environment.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INDEX_KINDS, writeIndexes, type WriteIndexesResult } from '#cutroom/shard/write-indexes.js';
import { TarAppender } from '#cutroom/tar/writer.js';
import { writeEncoded, type EncodedKind } from '../support/encode.js';
import { jsonLines } from '../support/shard-files.js';
import { buildWav } from '../support/wav-files.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const bin = path.join(root, '.venv/bin');
const hasPython = existsSync(path.join(root, '.venv/requirements-hash')) && existsSync(path.join(bin, 'energon'));
if (!hasPython) console.warn('Skipped: .venv is missing or has no energon; sh scripts/make-venv.sh makes it');

interface Utterance {
  name: string;
  kind: EncodedKind | 'wav';
  frames: number;
  rate: number;
  channels?: number;
  row?: object;
}

/** By shard. Names have folders, letters beyond ASCII, and over 100 bytes: all that the tars of cutroom may have. */
const SHARDS: Utterance[][] = [
  [
    { name: 'a_1.flac', kind: 'flac', frames: 16_000, rate: 16_000 },
    { name: 'größe.wav', kind: 'wav', frames: 8001, rate: 8000, row: { lang: 'de', speaker: 'x"y' } },
    { name: 'folder/c.mp3', kind: 'mp3-cbr', frames: 32_000, rate: 16_000 },
  ],
  [{ name: 'd.ogg', kind: 'vorbis', frames: 24_000, rate: 16_000, row: { n: 12345678901234567890n.toString() } }],
  [
    { name: 'e.opus', kind: 'opus', frames: 48_000, rate: 48_000 },
    { name: 'f.wav', kind: 'wav', frames: 4410, rate: 44_100, channels: 2 },
  ],
];

type Cells = (string | number)[];

interface Database {
  integrity: string[][];
  samples: Cells[];
  sample_parts: Cells[];
}

interface Prepared {
  database: Database;
  offsets: Record<string, string>;
  info: object;
}

interface Report {
  wids: { key: string; parts: Record<string, string> }[];
  energon: { key: string; parts: Record<string, string> }[];
  energon_rows: { parts: { audio: string }; row: Record<string, unknown> }[];
  energon_train: string[];
  energon_store: Record<string, string>;
  lhotse: Record<string, unknown>[];
}

describe.skipIf(!hasPython)('writeIndexes()', () => {
  const utterances = SHARDS.flat();
  const bytes = new Map<string, Buffer>();
  let outer: string;
  let result: WriteIndexesResult;
  let report: Report;

  beforeAll(async () => {
    outer = mkdtempSync(path.join(tmpdir(), 'cutroom-indexes-'));
    const made = path.join(outer, 'made here');
    mkdirSync(path.join(made, 'sharded_manifests'), { recursive: true });
    const shards = [];
    for (const [number, shard] of SHARDS.entries()) shards.push(await makeShard(made, number, shard));
    result = await writeIndexes(INDEX_KINDS, { folder: made, name: 'speech', shards });
    const folder = path.join(outer, 'moved there');
    renameSync(made, folder);
    const names = JSON.stringify(utterances.map(({ name }) => name));
    report = runScript([folder, path.join(outer, 'cache'), names]);
  });
  afterAll(() => rmSync(outer, { recursive: true }));

  function runScript<T>(args: readonly string[]): T {
    const script = fileURLToPath(new URL('read-indexes.py', import.meta.url));
    const options = { cwd: outer, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28 } as const;
    return JSON.parse(execFileSync(path.join(bin, 'python'), [script, ...args], options)) as T;
  }

  /** Samples of one, two and three parts; names with folders, in other scripts, and so long that headers before the header hold them. */
  async function makeLargeTar(folder: string, shard: number): Promise<string> {
    const tarPath = path.join(folder, `train.00000${shard}.tar`);
    const tar = await TarAppender.open(tarPath);
    for (let sample = 0; sample < 3000; sample += 1) {
      const length = sample % 100 === 0 ? 300 : sample % 50;
      const key = `${sample % 3 === 0 ? 'größe/' : ''}${'n'.repeat(length)}${(sample * 7919) % 3001}-${shard}`;
      for (const extension of ['wav', 'txt', 'json'].slice(0, 1 + (sample % 3))) {
        await tar.appendBytes(`${key}.${extension}`, Buffer.alloc(sample % 700, 7));
      }
    }
    await tar.finish();
    await tar.close();
    return tarPath;
  }

  async function makeShard(folder: string, number: number, shard: readonly Utterance[]) {
    const tarPath = path.join(folder, `audio_${number}.tar`);
    const tar = await TarAppender.open(tarPath);
    for (const utterance of shard) {
      bytes.set(utterance.name, encode(utterance));
      await tar.appendBytes(utterance.name, bytes.get(utterance.name)!);
    }
    const tarBytes = await tar.finish();
    await tar.close();
    const manifestPath = path.join(folder, 'sharded_manifests', `manifest_${number}.json`);
    writeFileSync(manifestPath, jsonLines(shard.map(rowOf)));
    return { tarPath, manifestPath, rows: shard.length, members: shard.length, tarBytes };
  }

  function encode({ kind, frames, rate, channels = 1 }: Utterance): Buffer {
    const samples = Float64Array.from({ length: frames * channels }, (_, at) => Math.sin(at / 9) / 2);
    if (kind === 'wav') return buildWav(samples, { sampleRate: rate, channels });
    const file = path.join(outer, 'encoded');
    writeEncoded(file, { samples, sampleRate: rate, channels }, kind);
    return readFileSync(file);
  }

  function rowOf({ name, frames, rate, row }: Utterance) {
    return { audio_filepath: name, text: `text of ${name}`, duration: frames / rate, ...row };
  }

  const digest = (name: string): string => createHash('sha256').update(bytes.get(name)!).digest('hex');
  const keyOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
  const suffix = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

  it('lets wids find every sample by its number', () => {
    expect(report.wids).toEqual(
      utterances.map(({ name }) => ({ key: keyOf(name), parts: { [`.${suffix(name)}`]: digest(name) } })),
    );
  });

  it('lets Energon read every sample in order, and each once in training', () => {
    expect(report.energon).toEqual(
      utterances.map(({ name }) => ({ key: keyOf(name), parts: { [suffix(name)]: digest(name) } })),
    );
    expect(report.energon_train.toSorted()).toEqual(utterances.map(({ name }) => keyOf(name)).toSorted());
  });

  it('lets Energon find the audio of each row, and audio by name', () => {
    expect(report.energon_rows.map(({ row }) => row)).toEqual(utterances.map(rowOf));
    expect(report.energon_rows.map(({ parts }) => parts.audio)).toEqual(utterances.map(({ name }) => digest(name)));
    expect(report.energon_store).toEqual(Object.fromEntries(utterances.map(({ name }) => [name, digest(name)])));
  });

  it('writes what Energon itself prepares, with a database that SQLite finds no fault in', async () => {
    const folder = path.join(outer, 'many');
    mkdirSync(folder);
    const shards = [];
    for (const number of [0, 1]) shards.push({ tarPath: await makeLargeTar(folder, number) });
    const { warnings } = await writeIndexes(['energon'], { folder, name: 'many', shards });
    expect(warnings).toEqual([]);
    const { ours, theirs } = runScript<{ ours: Prepared; theirs: Prepared }>([folder]);
    expect(ours.database.integrity).toEqual([['ok']]);
    expect(ours.database.samples).toHaveLength(6000);
    expect(ours).toEqual(theirs);
  });

  it('lets Lhotse load every cut with its text', () => {
    expect(report.lhotse.map(({ id, text, rate, channels }) => ({ id, text, rate, channels }))).toEqual(
      utterances.map(({ name, rate, channels = 1 }) => ({ id: keyOf(name), text: `text of ${name}`, rate, channels })),
    );
    for (const [at, { frames, rate }] of utterances.entries()) {
      expect(report.lhotse[at]?.['frames']).toBe(frames);
      expect(report.lhotse[at]?.['duration']).toBeCloseTo(frames / rate, 3);
    }
    expect(report.lhotse[1]).toMatchObject({ language: 'de', custom: { lang: 'de', speaker: 'x"y' } });
    expect(result.warnings).toEqual([]);
  });
});
