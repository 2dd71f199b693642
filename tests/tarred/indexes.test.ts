import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '#cutroom/errors.js';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset, type TarResult } from '#cutroom/tarred/tar-dataset.js';
import { readTree } from '../support/pack-runs.js';
import { buildWav } from '../support/wav-files.js';
import { rowOf, TarFolder, type Json } from './tar-runs.js';

const WAV = buildWav(new Float64Array(800), { sampleRate: 8000 });
const NAMES = ['a.wav', 'b.wav', 'c.wav', 'd.wav'];

let place: TarFolder;
let manifest: string;
beforeEach(() => {
  place = new TarFolder();
  for (const name of [...NAMES, 'e.wav', 'f.wav']) place.addFile(name, WAV);
  const rows = NAMES.map((name) => rowOf(name, 0.1));
  manifest = place.addManifest('m.json', rows, []);
});
afterEach(() => place.remove());

async function pack(options: TarOptions = {}): Promise<TarResult> {
  return await place.run(manifest, { numShards: 2, onlyManifests: false, ...options });
}

async function add(options: TarOptions = {}): Promise<TarResult> {
  const more = place.addManifest(
    'more.json',
    ['e.wav', 'f.wav'].map((name) => rowOf(name, 0.1)),
    [],
  );
  return await tarDataset({
    concatManifestPaths: [path.join(place.target, 'tarred_audio_manifest.json'), more],
    metadataPath: path.join(place.target, 'metadata.yaml'),
    targetDir: place.target,
    jobs: 1,
    ...options,
  });
}

const wids = (folder = ''): Json => JSON.parse(place.read(path.join(folder, 'wids.json'))) as Json;
const urls = (folder = ''): unknown[] => (wids(folder)['shardlist'] as Json[]).map(({ url }) => url);
const cuts = (): string[] => readdirSync(path.join(place.target, 'shar')).toSorted();

describe('indexes of tarDataset()', () => {
  it('are written beside the shards, and told in the metrics', async () => {
    const { kind, summary } = await pack({ index: ['lhotse', 'wids'] });
    expect(kind).toBe('packed');
    expect(summary?.indexes.map(({ index }) => index)).toEqual(['wids', 'lhotse']);
    const planHash = String((JSON.parse(place.read('metrics.json')) as Json)['plan_hash']);
    const filesize = readFileSync(path.join(place.target, 'audio_0.tar')).length;
    expect(wids()).toMatchObject({
      name: `tarred-${planHash.slice(0, 8)}`,
      shardlist: [0, 1].map((shard) => ({
        url: `audio_${shard}.tar`,
        nsamples: 2,
        filesize,
        manifest: `sharded_manifests/manifest_${shard}.json`,
      })),
    });
    const first = place.rows('shar/cuts.000000.jsonl');
    expect(first.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(first[0]).toMatchObject({
      recording: { sources: [{ source: 'audio_0.tar/a.wav' }], sampling_rate: 8000, num_samples: 800 },
    });
    expect(await pack({ index: ['wids'] })).toMatchObject({ kind: 'already_done' });
  });

  it('are the same where they are added to a finished dataset, which is not packed again', async () => {
    await pack({ index: ['wids', 'lhotse'], shardManifests: false });
    const all = readTree(place.target);
    await pack({ index: ['lhotse'], shardManifests: false, overwrite: true });
    expect(place.listing()).not.toContain('wids.json');
    for (const name of NAMES) rmSync(path.join(place.folder, name));
    const added = await pack({ index: ['wids'], shardManifests: false });
    expect(added).toMatchObject({ kind: 'indexed', isWithinLimit: true });
    expect(readTree(place.target)).toEqual(all);
  });

  it('are removed with the dataset that they are of', async () => {
    await pack({ index: ['wids', 'lhotse'] });
    place.addFile('tarred/shar/notes.txt', 'mine');
    await pack({ overwrite: true });
    expect(place.listing()).not.toContain('wids.json');
    expect(cuts()).toEqual(['notes.txt']);
  });

  it('are of each bucket', async () => {
    const rows = [0.05, 0.06, 0.15].map((duration, index) => rowOf(NAMES[index] ?? '', duration));
    manifest = place.addManifest('m.json', rows, []);
    const bounds = { minDurationSeconds: 0, maxDurationSeconds: 0.2, bucketsNum: 2 };
    await pack({ ...bounds, numShards: 1, index: ['wids'] });
    expect([urls('bucket1'), urls('bucket2')]).toEqual([['audio_0.tar'], ['audio_0.tar']]);
    expect(String(wids('bucket2')['name'])).toMatch(/^tarred-[0-9a-f]{8}-bucket2$/u);
  });

  it('are of all shards where rows are added', async () => {
    await pack({ index: ['wids'] });
    const bare = await add();
    expect(bare.summary?.warnings).toEqual([
      'the indexes for wids tell of the earlier shards alone: --index wids writes them anew',
    ]);
    expect(urls()).toHaveLength(2);
    await expect(pack({ index: ['lhotse'] })).rejects.toThrow(/without the rows that were added/u);
    expect(await add({ index: ['wids', 'lhotse'] })).toMatchObject({ kind: 'indexed' });
    expect(urls()).toEqual(['audio_0.tar', 'audio_1.tar', 'audio_2.tar']);
    expect(cuts()).toEqual(['cuts.000000.jsonl', 'cuts.000001.jsonl', 'cuts.000002.jsonl']);
  });

  it('are refused where shards lie elsewhere, are not there, or are not to be packed', async () => {
    await pack();
    const elsewhere = add({ index: ['wids'], targetDir: path.join(place.folder, 'other') });
    await expect(elsewhere).rejects.toThrow(/Cannot index the shards in .*other" with those in .*tarred"/u);
    rmSync(path.join(place.target, 'audio_1.tar'));
    await expect(add({ index: ['wids'] })).rejects.toThrow(/audio_1.tar" is not there/u);
    await expect(pack({ index: ['wids'], dryRun: true })).rejects.toThrow('it excludes --dry-run');
    await expect(pack({ index: ['wids'], onlyManifests: true })).rejects.toBeInstanceOf(UsageError);
  });
});
