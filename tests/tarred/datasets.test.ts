import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { InputError, OutputError, UsageError } from '#cutroom/errors.js';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { rowOf, TarFolder, type Json } from './tar-runs.js';

let place: TarFolder;
beforeEach(() => {
  place = new TarFolder();
});
afterEach(() => place.remove());

function manyRows(count: number, durationOf: (index: number) => number = () => 1): Json[] {
  return Array.from({ length: count }, (_, index) => rowOf(`u${index}.wav`, durationOf(index)));
}

const shardIds = (): unknown[] => place.rows().map((row) => row['shard_id']);

describe('shards of tarDataset()', () => {
  it('spread what is too much, and say what equal shards need', async () => {
    const { summary } = await place.run(place.addManifest('m.json', manyRows(10)), { numShards: 4 });
    expect(shardIds()).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 3, 3]);
    expect(summary?.warnings).toEqual([
      'shards hold 2 to 3 rows: a loader that wants equal shards may hang at the end of an epoch; --remainder drop or --num-shards 5 makes them equal',
    ]);
    expect(place.rows('failures.jsonl')).toEqual([]);
  });

  it('drop it where that is asked for, and list what is dropped', async () => {
    const manifest = place.addManifest('m.json', manyRows(10));
    const { summary } = await place.run(manifest, { numShards: 4, remainder: 'drop' });
    expect(shardIds()).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(summary).toMatchObject({
      read: { rows: 10 },
      written: { rows: 8 },
      dropped: { rows: 2, micros: 2_000_000 },
    });
    expect(place.rows('failures.jsonl')).toMatchObject([
      { kind: 'dropped', reason: 'remainder', file: manifest, line: 9, id: 'u8.wav', duration: 1 },
      { kind: 'dropped', line: 10 },
    ]);
    expect(summary?.warnings).toEqual([]);
  });

  it('are refused where rows, or files that are kept together, are too few', async () => {
    const manifest = place.addManifest('m.json', [...manyRows(3), rowOf('u2.wav', 1, { offset: 1 })]);
    const tooMany = place.run(manifest, { numShards: 5 });
    await expect(tooMany).rejects.toThrow('4 rows cannot fill 5 shards');
    await expect(tooMany).rejects.toMatchObject({ code: 'usage', hint: 'Give --num-shards 4 or less.' });
    const together = place.run(manifest, { numShards: 4, keepFilesTogether: true });
    await expect(together).rejects.toThrow('3 files cannot fill 4 shards, since rows of a file are kept together');
    const none = place.run(manifest, { minDurationSeconds: 9 });
    await expect(none).rejects.toThrow('No row is left to be packed');
    expect(existsSync(place.target)).toBe(false);
  });

  it('keep files together, also those whose rows are apart', async () => {
    const rows = [0, 1, 0, 2, 0, 1].map((file, index) => rowOf(`f${file}.wav`, 1, { offset: index }));
    await place.run(place.addManifest('m.json', rows), { numShards: 3, keepFilesTogether: true });
    expect(place.rows().map((row) => String(row['audio_filepath']).slice(0, 2))).toEqual([
      'f0',
      'f0',
      'f0',
      'f1',
      'f1',
      'f2',
    ]);
    expect(shardIds()).toEqual([0, 0, 0, 1, 1, 2]);
  });

  it('come without manifests of their own where that is asked for', async () => {
    const manifest = place.addManifest('m.json', manyRows(2));
    await place.run(manifest, { numShards: 2, shardManifests: false });
    expect(place.listing()).toEqual(['failures.jsonl', 'metadata.yaml', 'metrics.json', 'tarred_audio_manifest.json']);
    expect(place.rows()).toHaveLength(2);
  });
});

describe('buckets of tarDataset()', () => {
  it('are datasets of their own; empty ones are noted and left out', async () => {
    const rows = [0.5, 2.9, 0.99, 1, 3.5, 3.999999, 4].map((duration, index) => rowOf(`${index}.wav`, duration));
    const manifest = place.addManifest('m.json', rows);
    const limits = { minDurationSeconds: 0, maxDurationSeconds: 4, bucketsNum: 4 };
    const { summary } = await place.run(manifest, limits);
    const idsOf = (bucket: number): unknown[] =>
      place.rows(`bucket${bucket}/tarred_audio_manifest.json`).map((row) => row['duration']);
    expect([1, 2, 3, 4].map(idsOf)).toEqual([[0.5, 0.99], [1], [2.9], [3.5, 3.999999, 4]]);
    expect(parse(place.read('bucket4/metadata.yaml'))).toMatchObject({
      dataset_config: { min_duration: 3, max_duration: 4.00001, num_buckets: null },
    });
    expect(summary?.datasets.map(({ folder }) => folder)).toEqual(['bucket1', 'bucket2', 'bucket3', 'bucket4']);
    const wide = await place.run(manifest, { ...limits, maxDurationSeconds: 16, overwrite: true });
    expect(wide.summary?.warnings.filter((text) => text.includes('left out'))).toEqual([
      'bucket3 has no rows: it is left out',
      'bucket4 has no rows: it is left out',
    ]);
    expect(readdirSync(place.target).filter((name) => name.startsWith('bucket'))).toEqual(['bucket1', 'bucket2']);
    const few = place.run(manifest, { ...limits, numShards: 2, overwrite: true });
    await expect(few).rejects.toThrow('bucket2: 1 row cannot fill 2 shards');
  });
});

describe('bad input of tarDataset()', () => {
  const BAD: readonly [string, string, RegExp][] = [
    ['{', 'invalid_json', /pretty-printed/u],
    ['[{"audio_filepath": "a.wav"}]', 'not_an_object', /array/u],
    ['{"audio_filepath": "a.wav"}{"x": 1}', 'invalid_json', /second object/u],
    ['{"duration": 1}', 'missing_audio_filepath', /no "audio_filepath"/u],
    ['{"audio_filepath": ["a.wav", "b.wav"], "duration": 1}', 'several_files', /is a list/u],
    ['{"audio_filepath": "", "duration": 1}', 'missing_audio_filepath', /names no file/u],
    ['{"audio_filepath": "a\\ud800.wav", "duration": 1}', 'bad_audio_filepath', /surrogate/u],
    ['{"audio_filepath": "a.wav"}', 'missing_duration', /no "duration"/u],
    ['{"audio_filepath": "a.wav", "duration": NaN}', 'bad_duration', /is NaN/u],
    ['{"audio_filepath": "a.wav", "duration": 0}', 'bad_duration', /is 0/u],
    ['{"audio_filepath": "a.wav", "duration": -1}', 'bad_duration', /is -1/u],
    ['{"audio_filepath": "a.wav", "duration": 1e400}', 'bad_duration', /is 1e400/u],
    ['{"audio_filepath": "a.wav", "duration": "3"}', 'bad_duration', /is "3"/u],
    ['{"audio_filepath": "a.wav", "duration": 1, "offset": -0.1}', 'bad_offset', /is -0.1/u],
    ['{"audio_filepath": "a.wav", "duration": 1, "offset": "0"}', 'bad_offset', /is "0"/u],
    ['{"audio_filepath": "gone.wav", "duration": 1}', 'missing_recording', /no file ".*gone.wav"/u],
    ['{"audio_filepath": "gone.wav"}', 'missing_recording', /no file ".*gone.wav"/u],
    ['{"audio_filepath": "s3://b/a.wav", "duration": 1}', 'missing_recording', /addresses are not followed/u],
    ['{"audio_filepath": "folder", "duration": 1}', 'unreadable_recording', /not a regular file/u],
    ['{"audio_filepath": "empty.wav", "duration": 1}', 'empty_recording', /is empty/u],
  ];

  it('is left out, listed line by line and counted', async () => {
    place.addFile('folder/x');
    place.addFile('a.wav');
    place.addFile('empty.wav', '');
    const manifest = place.addManifest('m.json', [rowOf('good.wav'), ...BAD.map(([line]) => line)], ['good.wav']);
    const seen: unknown[] = [];
    const result = await tarDataset(
      { manifestPaths: [manifest], targetDir: place.target, numShards: 1, onlyManifests: true },
      { onFailure: ({ line }) => seen.push(line) },
    );
    expect(result).toMatchObject({ kind: 'manifests', isWithinLimit: false });
    expect(seen).toEqual(BAD.map((_, index) => index + 2));
    expect(place.rows()).toHaveLength(1);
    const failures = place.rows('failures.jsonl');
    expect(failures.map(({ reason }) => reason)).toEqual(BAD.map(([, reason]) => reason));
    for (const [index, [, , message]] of BAD.entries()) {
      expect(`${String(failures[index]?.['message'])} ${String(failures[index]?.['hint'])}`).toMatch(message);
      expect(failures[index]).toMatchObject({ kind: 'row', file: manifest, line: index + 2 });
    }
    const { failed_rows: counts, first_failures: first } = JSON.parse(place.read('metrics.json')) as Json;
    expect(counts).toEqual(result.summary?.failedRows);
    expect((first as Json[]).map(({ reason }) => reason)).toEqual(Object.keys(counts as Json));
    const counted = Object.values(counts as Record<string, number>).reduce((sum, count) => sum + count, 0);
    expect(counted + (result.summary?.written.rows ?? 0)).toBe(result.summary?.read.rows);
  });

  it('fails the run beyond --max-failures, also when it is finished already, unless it is to be skipped', async () => {
    const manifest = place.addManifest('m.json', [rowOf('a.wav'), rowOf('b.wav'), '{}', rowOf('c.wav')]);
    const isWithin = async (options: TarOptions): Promise<boolean> =>
      (await place.run(manifest, options)).isWithinLimit;
    expect(await isWithin({ dryRun: true })).toBe(false);
    expect(await isWithin({})).toBe(false);
    const before = place.listing().map((name) => place.read(name));
    expect(await place.run(manifest)).toMatchObject({ kind: 'already_done', isWithinLimit: false });
    expect(await isWithin({ maxFailures: { percent: 24 } })).toBe(false);
    expect(await isWithin({ maxFailures: { percent: 25 } })).toBe(true);
    expect(await isWithin({ maxFailures: { count: 1 } })).toBe(true);
    expect(await isWithin({ onError: 'skip' })).toBe(true);
    expect(place.listing().map((name) => place.read(name))).toEqual(before);
    expect(await isWithin({ overwrite: true, onError: 'skip' })).toBe(true);
    expect(place.listing().map((name) => place.read(name))).toEqual(before);
  });

  it('leaves nothing to be written where no row can be used, or fewer than shards', async () => {
    const none = place.run(place.addManifest('m.json', ['{}', rowOf('gone.wav')], []));
    await expect(none).rejects.toThrow(/No row of ".*m.json" can be packed; the first failure: .*:1: the row has no/u);
    await expect(none).rejects.toBeInstanceOf(InputError);
    await expect(place.run(place.addManifest('m.json', ['\n']))).rejects.toThrow(/There is no row in ".*m.json"/u);
    const few = place.run(place.addManifest('m.json', [rowOf('a.wav'), '{}']), { numShards: 2 });
    await expect(few).rejects.toThrow('1 row cannot fill 2 shards');
    await expect(few).rejects.toMatchObject({ hint: expect.stringContaining('1 other cannot be used') });
    expect(existsSync(place.target)).toBe(false);
  });

  it('may be a manifest that is not there, or a folder', async () => {
    await expect(place.run(path.join(place.folder, 'none.json'))).rejects.toThrow(InputError);
    place.addFile('empty/x');
    await expect(place.run(path.join(place.folder, 'empty'))).rejects.toThrow(/holds no tar/u);
    writeFileSync(path.join(place.folder, 'bad.json.gz'), 'no gzip');
    await expect(place.run(path.join(place.folder, 'bad.json.gz'))).rejects.toThrow(/incorrect header check/u);
  });
});

describe('runs of tarDataset()', () => {
  it('that are finished are not done again, and others are refused', async () => {
    const manifest = place.addManifest('m.json', manyRows(6));
    await place.run(manifest, { numShards: 2 });
    const before = place.listing().map((name) => place.read(name));
    expect(await place.run(manifest, { numShards: 2 })).toMatchObject({
      kind: 'already_done',
      summary: { written: { rows: 6 } },
    });
    const other = place.run(manifest, { numShards: 3 });
    await expect(other).rejects.toThrow(/the dataset there is of another run: num-shards was 2, now 3/u);
    await expect(other).rejects.toBeInstanceOf(OutputError);
    expect(place.listing().map((name) => place.read(name))).toEqual(before);
    await place.run(manifest, { numShards: 1, shardManifests: false, overwrite: true });
    expect(place.listing()).toEqual(['failures.jsonl', 'metadata.yaml', 'metrics.json', 'tarred_audio_manifest.json']);
    place.addManifest('m.json', manyRows(7));
    const changed = place.run(manifest, { numShards: 1, shardManifests: false });
    await expect(changed).rejects.toThrow(/the manifests have another content/u);
  });

  it('that are finished need their audio no more, and all shards still', async () => {
    const manifest = place.addManifest('m.json', manyRows(6));
    const options = { numShards: 2, onlyManifests: false };
    const packed = await place.run(manifest, options);
    for (const { audio_filepath: name } of manyRows(6)) rmSync(path.join(place.folder, String(name)));
    const again = await place.run(manifest, options);
    expect(again).toMatchObject({ kind: 'already_done', isWithinLimit: true });
    expect(again.summary).toEqual(packed.summary);
    writeFileSync(path.join(place.target, 'audio_1.tar'), 'torn');
    await expect(place.run(manifest, options)).rejects.toThrow(
      /does not hold ".*audio_1.tar" any more: it has 4 bytes/u,
    );
  });

  it('do not touch what they did not make', async () => {
    const manifest = place.addManifest('m.json', manyRows(2));
    place.addFile('tarred/audio_0.tar', 'precious');
    await expect(place.run(manifest)).rejects.toThrow(/audio_0.tar" is not part of a finished run/u);
    expect(place.read('audio_0.tar')).toBe('precious');
    place.addFile('tarred/notes.txt', 'mine');
    await place.run(manifest, { overwrite: true });
    expect(place.listing()).toContain('notes.txt');
    expect(place.listing()).not.toContain('audio_0.tar');
  });

  it('are finished whichever version finished them, and no version goes on with what another one began', async () => {
    const manifest = place.addManifest('m.json', manyRows(2));
    await place.run(manifest);
    const metrics = JSON.parse(place.read('metrics.json')) as Json;
    place.addFile('tarred/metrics.json', JSON.stringify({ ...metrics, cutroom_version: '0.0.0' }));
    // The first key tells of what command metrics are.
    expect(place.read('metrics.json')).toMatch(/^\{"command":"tar"/u);
    expect((await place.run(manifest)).kind).toBe('already_done');
    rmSync(path.join(place.target, 'metrics.json'));
    const { command, inputs, options, audio_architecture } = metrics;
    const begun = { command, cutroom_version: '0.0.0', audio_architecture, inputs, options };
    place.addFile('tarred/.cutroom-tar/identity.json', JSON.stringify(begun));
    await expect(place.run(manifest)).rejects.toThrow(/another kind is there: cutroom_version was "0.0.0", now/u);
  });

  it('leave alone what another command made, also with overwrite', async () => {
    const manifest = place.addManifest('m.json', manyRows(2));
    place.addFile('tarred/metrics.json', '{"plan_hash": "x", "options": {}}');
    const run = place.run(manifest, { overwrite: true });
    await expect(run).rejects.toThrow(/metrics.json" is not of this command/u);
    expect(place.listing()).toEqual(['metrics.json']);
  });

  it('write nothing with dryRun', async () => {
    const manifest = place.addManifest('m.json', manyRows(5));
    const { kind, summary } = await place.run(manifest, { numShards: 2, dryRun: true });
    expect(kind).toBe('preview');
    expect(summary?.datasets).toMatchObject([
      { shards: 2, smallestShard: { rows: 2 }, largestShard: { rows: 3 }, planned: { rows: 5 } },
    ]);
    expect(existsSync(place.target)).toBe(false);
  });

  it('depend on the clock only as SOURCE_DATE_EPOCH says', async () => {
    const manifest = place.addManifest('m.json', manyRows(2));
    await place.run(manifest);
    expect(place.read('metadata.yaml').split('\n')[0]).toBe('created_datetime: 01-01-1970 00-00-00');
    rmSync(place.target, { recursive: true });
    await tarDataset(
      { manifestPaths: [manifest], targetDir: place.target, numShards: 1, onlyManifests: true },
      { environment: { SOURCE_DATE_EPOCH: '1758000000' } },
    );
    expect(place.read('metadata.yaml').split('\n')[0]).toBe('created_datetime: 09-16-2025 05-20-00');
  });

  it('write default metadata and nothing else', async () => {
    const { kind } = await tarDataset({
      writeMetadata: true,
      targetDir: place.target,
      maxDurationSeconds: 20,
      shuffle: true,
    });
    expect(kind).toBe('metadata');
    expect(place.listing()).toEqual(['default_metadata.yaml']);
    expect(parse(place.read('default_metadata.yaml'))).toMatchObject({
      version: 0,
      dataset_config: { num_shards: -1, shuffle: true, max_duration: 20, shuffle_seed: 0, bucket_duration_bins: null },
    });
  });

  it.each([
    [{}, '--num-shards is needed'],
    [{ numShards: 1, bucketsNum: 2 }, '--buckets-num needs --min-duration and --max-duration'],
    [
      { numShards: 1, minDurationSeconds: 2, maxDurationSeconds: 2 },
      '--min-duration 2 is not less than --max-duration 2',
    ],
    [{ numShards: 1, subRows: true, sliceWithOffset: true }, '--sub-rows and --slice-with-offset exclude each other'],
    [{ numShards: 1, subRows: true, forceCodec: 'flac' as const }, '--sub-rows shares files as they are'],
    [{ numShards: 1, forceCodec: 'opus' as const, forceSamplingRate: 44_100 }, 'opus cannot hold 44100 Hz'],
    [{ numShards: 1, metadataPath: 'x' }, '--metadata-path goes with --concat-manifest-paths'],
  ])('refuse %j', async (options, message) => {
    await expect(tarDataset({ manifestPaths: ['m.json'], ...options })).rejects.toThrow(message);
    await expect(tarDataset({ manifestPaths: ['m.json'], ...options })).rejects.toBeInstanceOf(UsageError);
  });
});
