import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readTarIndex } from '#cutroom/tar/reader.js';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { ABSENT, bounds, EXPECTED, GOLDEN, isAbsent, RUNS } from '../../tarred/golden-runs.js';
import { readRows, type Json } from '../../tarred/tar-runs.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-golden-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function run(name: string, manifest: string, options: TarOptions): Promise<string> {
  const targetDir = path.join(folder, name);
  const manifestPaths = [path.join(GOLDEN, manifest)];
  const result = await tarDataset({ manifestPaths, targetDir, remainder: 'drop', jobs: 1, ...options });
  expect(result.kind).toBe('packed');
  return targetDir;
}

/** Hash, size and name of each member, as the golden lists have them. */
async function membersOf(tar: string): Promise<string> {
  const bytes = readFileSync(tar);
  const lines = (await readTarIndex(tar)).members.map(({ name, offsetBytes, sizeBytes }) => {
    const payload = bytes.subarray(offsetBytes, offsetBytes + sizeBytes);
    return `${createHash('sha256').update(payload).digest('hex').slice(0, 16)} ${sizeBytes} ${name}\n`;
  });
  return lines.join('');
}

/** All of a dataset's folder but what the converter does not write: failures and metrics. */
async function expectSameDataset(made: string, expected: string): Promise<void> {
  for (const name of readdirSync(expected)) {
    const there = path.join(expected, name);
    const here = path.join(made, name);
    if (name.endsWith('.members')) {
      expect(await membersOf(here.replace(/\.members$/u, ''))).toBe(readFileSync(there, 'utf8'));
    } else if (name === 'metadata.yaml') {
      const [ours, theirs] = [here, there].map((file) => readFileSync(file, 'utf8'));
      // On purpose: the clock decides nothing that we write.
      expect(ours?.split('\n').slice(1)).toEqual(theirs?.split('\n').slice(1));
    } else if (name === 'sharded_manifests') {
      expect(readdirSync(here).toSorted()).toEqual(readdirSync(there).toSorted());
      for (const shard of readdirSync(there)) expectSameRows(path.join(here, shard), path.join(there, shard));
    } else {
      expectSameRows(here, there);
    }
  }
  const tars = readdirSync(made).filter((name) => name.endsWith('.tar'));
  expect(tars).toHaveLength(readdirSync(expected).filter((name) => name.endsWith('.members')).length);
}

/** Rows, their order, their keys and the order of those; on purpose not the blanks between them. */
function expectSameRows(here: string, there: string): void {
  const spell = (file: string): string[] => readRows(file).map((row) => JSON.stringify(row));
  expect(spell(here)).toEqual(spell(there));
}

describe.skipIf(isAbsent)(`tarDataset() against NeMo's converter${ABSENT}`, () => {
  it.each(['shuffled', 'sorted', 'ordered', 'offsets'])('%s: members, rows and metadata', async (name) => {
    const [manifest, options] = RUNS[name] ?? ['', {}];
    const made = await run(name, manifest, { ...options, subRows: true });
    await expectSameDataset(made, path.join(EXPECTED, name));
  });

  it('buckets: members, rows and metadata of each', async () => {
    const [manifest, options] = RUNS['buckets'] ?? ['', {}];
    const made = await run('buckets', manifest, options);
    for (const bucket of ['bucket1', 'bucket2', 'bucket3']) {
      await expectSameDataset(path.join(made, bucket), path.join(EXPECTED, 'buckets', bucket));
    }
  });

  it('together: the same order, but no file in two shards', async () => {
    const options = { numShards: 4, ...bounds(0.1, 20), shuffle: true, shuffleSeed: 42, keepFilesTogether: true };
    const made = await run('together', 'offsets.json', { ...options, subRows: true });
    const ours = readRows(path.join(made, 'tarred_audio_manifest.json'));
    const theirs = readRows(path.join(EXPECTED, 'together/tarred_audio_manifest.json'));
    // On purpose: the converter's shards have as many rows each, and a file that lies across a border is in both of its shards.
    const shardsOf = (rows: Json[]): Map<string, Set<unknown>> => {
      const shards = new Map<string, Set<unknown>>();
      for (const { audio_filepath: name, shard_id: shard } of rows) {
        const file = String(name).replace(/-sub\d+/u, '');
        shards.set(file, (shards.get(file) ?? new Set()).add(shard));
      }
      return shards;
    };
    const straddling = (rows: Json[]): string[] =>
      [...shardsOf(rows)].filter(([, shards]) => shards.size > 1).map(([file]) => file);
    expect(straddling(ours)).toEqual([]);
    expect(straddling(theirs).length).toBeGreaterThan(0);
    expect(ours.map(({ text }) => text)).toEqual(theirs.map(({ text }) => text));
    const [metadata, converters] = [made, path.join(EXPECTED, 'together')].map(
      (place) => parse(readFileSync(path.join(place, 'metadata.yaml'), 'utf8')) as Json,
    );
    expect(metadata?.['dataset_config']).toEqual(converters?.['dataset_config']);
  });

  it('offsets without --sub-rows: every repeated file becomes members of its spans', async () => {
    const made = await run('spans', 'offsets.json', { numShards: 4, ...bounds(0.1, 20), remainder: 'spread' });
    const rows = readRows(path.join(made, 'tarred_audio_manifest.json'));
    expect(rows).toHaveLength(90);
    expect(rows.filter(({ audio_filepath: name }) => String(name).includes('-sub'))).toEqual([]);
    const names = await Promise.all(
      [0, 1, 2, 3].map(async (shard) => (await readTarIndex(path.join(made, `audio_${shard}.tar`))).members),
    );
    expect(names.map(({ length }) => length)).toEqual([23, 23, 22, 22]);
    expect(names.flat().map(({ name }) => name)).toEqual(rows.map(({ audio_filepath: name }) => name));
    expect(rows.find(({ text }) => text === 'utterance 2 ünïcode part 1')).toEqual({
      audio_filepath: 'audio_utt_002_0_374_0_374.wav',
      text: 'utterance 2 ünïcode part 1',
      duration: 0.374,
      lang: 'de',
      source_audio_offset: 0.374,
      shard_id: 0,
    });
  });

  it('all_offsets with --slice-with-offset, which ends the converter with an error', async () => {
    const made = await run('slices', 'all_offsets.json', { numShards: 3, ...bounds(0.1, 20), sliceWithOffset: true });
    const rows = readRows(path.join(made, 'tarred_audio_manifest.json'));
    const shards = await Promise.all([0, 1, 2].map((shard) => readTarIndex(path.join(made, `audio_${shard}.tar`))));
    const found = shards.flatMap(({ members }) => members);
    expect(found.map(({ name }) => name)).toEqual(rows.map(({ audio_filepath: name }) => name));
    for (const [index, row] of rows.entries()) {
      expect(Object.keys(row)).toEqual(expect.arrayContaining(['source_audio_offset', 'shard_id']));
      expect(row).not.toHaveProperty('offset');
      // 8 kHz, 16 bits, a header of 44 bytes; spans end at the first frame behind them.
      const frames = Math.ceil(((Number(row['source_audio_offset']) + Number(row['duration'])) * 1e6) / 125 - 1e-6);
      const first = Math.floor((Number(row['source_audio_offset']) * 1e6) / 125 + 1e-6);
      expect(Math.abs(((found[index]?.sizeBytes ?? 0) - 44) / 2 - (frames - first))).toBeLessThanOrEqual(1);
    }
  });
});
