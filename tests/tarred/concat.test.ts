import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset, type TarResult } from '#cutroom/tarred/tar-dataset.js';
import { rowOf, TarFolder, type Json } from './tar-runs.js';

let place: TarFolder;
beforeEach(async () => {
  place = new TarFolder();
  const rows = Array.from({ length: 6 }, (_, index) => rowOf(`old/u${index}.wav`, index + 1));
  const options = { numShards: 2, shuffle: true, shuffleSeed: 3, maxDurationSeconds: 20 };
  await place.run(place.addManifest('m.json', rows), options);
});
afterEach(() => place.remove());

function rowsNamed(names: readonly string[]): Json[] {
  return names.map((name) => rowOf(name, 2));
}

async function add(rows: readonly Json[], options: TarOptions = {}, version = ''): Promise<TarResult> {
  const added = place.addManifest(`more${version}.json`, rows);
  return await tarDataset({
    concatManifestPaths: [path.join(place.target, `tarred_audio_manifest${version}.json`), added],
    metadataPath: path.join(place.target, `metadata${version}.yaml`),
    targetDir: place.target,
    onlyManifests: true,
    ...options,
  });
}

describe('tarDataset() with concatManifestPaths', () => {
  it('puts new rows into new shards behind those of the dataset, and leaves these alone', async () => {
    const before = place.listing().map((name) => [name, place.read(name)] as const);
    const { summary } = await add(rowsNamed(['n0.wav', 'n1.wav', 'n2.wav', 'n3.wav', 'n4.wav', 'n5.wav', 'n6.wav']));
    for (const [name, text] of before) expect(place.read(name)).toBe(text);
    const old = place.read('tarred_audio_manifest.json');
    const both = place.read('tarred_audio_manifest_version_1.json');
    expect(both.startsWith(old)).toBe(true);
    const rows = place.rows('tarred_audio_manifest_version_1.json');
    expect(rows.map((row) => row['shard_id'])).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]);
    expect(place.rows('sharded_manifests/manifest_3.json')).toEqual(rows.slice(10));
    expect(parse(place.read('metadata_version_1.yaml'))).toMatchObject({
      version: 1,
      num_samples_per_shard: 3,
      is_concatenated_manifest: true,
      dataset_config: { num_shards: 4, shuffle: true, shuffle_seed: 3, max_duration: 20 },
      history: [{ version: 0, dataset_config: { num_shards: 2 }, history: [] }],
    });
    expect(place.read('metadata_version_1.yaml')).toContain('max_duration: 20.0\n');
    expect(summary?.warnings.join()).toContain('new shards hold 3 to 4 rows, those of the dataset 3');
    expect(place.listing()).toContain('metrics_version_1.json');
  });

  it('goes on from version to version', async () => {
    await add(rowsNamed(['n0.wav', 'n1.wav', 'n2.wav']));
    await add(rowsNamed(['p0.wav', 'p1.wav', 'p2.wav']), {}, '_version_1');
    const metadata = parse(place.read('metadata_version_2.yaml')) as Json;
    expect((metadata['history'] as Json[]).map(({ version }) => version)).toEqual([0, 1]);
    expect(place.rows('tarred_audio_manifest_version_2.json')).toHaveLength(12);
    expect(await add(rowsNamed(['p0.wav', 'p1.wav', 'p2.wav']), {}, '_version_1')).toMatchObject({
      kind: 'already_done',
    });
  });

  it('drops the remainder where that is asked for', async () => {
    const { summary } = await add(rowsNamed(['n0.wav', 'n1.wav', 'n2.wav', 'n3.wav']), { remainder: 'drop' });
    expect(summary).toMatchObject({ written: { rows: 3 }, dropped: { rows: 1 } });
    expect(place.rows('failures_version_1.jsonl')).toHaveLength(1);
    await expect(add(rowsNamed(['n0.wav']), { remainder: 'drop', overwrite: true })).rejects.toThrow(
      'Nothing can be added: 1 row fills no shard of 3',
    );
  });

  it('tells apart new members from those that are there', async () => {
    await add(rowsNamed(['old/u1.wav', 'old_u2.flac', 'n.wav']));
    const names = place.rows('sharded_manifests/manifest_2.json').map((row) => String(row['audio_filepath']));
    expect(names.toSorted()).toEqual([
      'n.wav',
      expect.stringMatching(/^old_u1-x[0-9a-f]{8}\.wav$/u),
      expect.stringMatching(/^old_u2-x[0-9a-f]{8}\.flac$/u),
    ]);
  });

  it('refuses what does not belong together', async () => {
    const manifest = path.join(place.target, 'tarred_audio_manifest.json');
    const metadata = path.join(place.target, 'metadata.yaml');
    const run = (concat: string[], metadataPath: string | undefined, more: TarOptions = {}): Promise<TarResult> =>
      tarDataset({ concatManifestPaths: concat, metadataPath, targetDir: place.target, ...more });
    await expect(run([manifest], metadata)).rejects.toThrow('names the dataset alone');
    await expect(run([manifest, 'x'], undefined)).rejects.toThrow('needs --metadata-path');
    await expect(run([manifest, 'x'], metadata, { numShards: 2 })).rejects.toThrow('--num-shards and --concat');
    await expect(run([manifest, 'x'], metadata, { bucketsNum: 2 })).rejects.toThrow('--buckets-num and --concat');
    await expect(run([path.join(place.folder, 'm.json'), manifest], metadata)).rejects.toThrow(
      'line 1: the row has no "shard_id"',
    );
    writeFileSync(metadata, readFileSync(metadata, 'utf8').replace('num_shards: 2', 'num_shards: 1'));
    await expect(run([manifest, 'x'], metadata)).rejects.toThrow(
      'its "shard_id" is 1, and the metadata tells of 1 shard',
    );
    writeFileSync(metadata, 'version: [');
    await expect(run([manifest, 'x'], metadata)).rejects.toThrow(/Cannot read the metadata/u);
    writeFileSync(metadata, 'version: 0\n');
    await expect(run([manifest, 'x'], metadata)).rejects.toThrow(
      '"num_samples_per_shard" is no whole number from 1 on',
    );
  });
});
