import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { build } from '#cutroom/build/build.js';
import { cut } from '#cutroom/cut/cut.js';
import { findOwnShards } from '#cutroom/shard/own-shards.js';
import { findPackedShards } from '#cutroom/shard/packed-rows.js';
import { makeFolder, makeSegments, wavOfNoise, writeCorpus } from '../support/cut-runs.js';
import { ShardFolder } from '../support/shard-files.js';

const spoken = { id: 'a', file: 'a.wav', segments: makeSegments(2, 1, 0.7), write: wavOfNoise(2, 1) };
const LENGTHS = { jobs: 1, minDurationSeconds: 0.1, maxDurationSeconds: 0.8 };

/** The rates of the shards that are proven to be cutroom's own. */
async function ratesIn(input: string): Promise<(number | null)[]> {
  const own = await findOwnShards((await findPackedShards(input)) ?? []);
  return [...own.values()].map(({ sampleRate }) => sampleRate);
}

test('findOwnShards() trusts finished metrics of cut that name the very shards', async (context) => {
  const folder = await makeFolder(context);
  const { options } = await writeCorpus(folder, [spoken], { ...LENGTHS, targetSampleRate: 8000 });
  const sharded = path.join(folder, 'sharded');
  await cut({ ...options, outputDir: sharded, numShards: 2 });
  expect(await ratesIn(sharded)).toEqual([8000, 8000]);
  const tar = path.join(sharded, 'snippets.000001.tar');
  writeFileSync(tar, Buffer.concat([readFileSync(tar), Buffer.alloc(512)]));
  expect(await ratesIn(sharded)).toEqual([8000]);

  await cut(options);
  const single = options.outputDir;
  expect(await ratesIn(path.join(single, 'snippets.jsonl'))).toEqual([8000]);
  const metrics = path.join(single, 'metrics.json');
  const text = readFileSync(metrics, 'utf8');
  writeFileSync(metrics, text.replace('"complete": true', '"complete": false'));
  expect(await ratesIn(path.join(single, 'snippets.tar'))).toEqual([]);
  writeFileSync(metrics, text.slice(0, -9));
  expect(await ratesIn(path.join(single, 'snippets.tar'))).toEqual([]);
  writeFileSync(metrics, text);
  for (const extension of ['tar', 'jsonl']) {
    copyFileSync(path.join(single, `snippets.${extension}`), path.join(single, `other.${extension}`));
  }
  expect(await ratesIn(path.join(single, 'other.tar'))).toEqual([]);
});

test('findOwnShards() trusts the metrics of build, and no dataset without any', async (context) => {
  const folder = await makeFolder(context);
  await wavOfNoise(1, 2)(path.join(folder, 'a.wav'));
  const input = path.join(folder, 't.tsv');
  writeFileSync(input, 'a\ta.wav\ttext\n');
  const built = path.join(folder, 'built');
  await build({ input, outputDir: built, numTars: 1, jobs: 1, format: 'wav' });
  expect(await ratesIn(built)).toEqual([null]);
  const manifest = path.join(built, 'manifests', 't.000000.jsonl');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"duration":1', '"duration":1.5'));
  expect(await ratesIn(built)).toEqual([]);

  mkdirSync(path.join(folder, 'foreign'));
  const foreign = new ShardFolder(path.join(folder, 'foreign')).add('one', ['a.flac']);
  expect(await ratesIn(foreign.folder)).toEqual([]);
  writeFileSync(path.join(foreign.folder, 'metrics.json'), '{"rows_read": 3, "shards": [{}, {"tar": 1}]}');
  expect(await ratesIn(foreign.folder)).toEqual([]);
});
