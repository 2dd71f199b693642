import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, afterAll, describe, expect, it, test } from 'vitest';
import { mkdtemp, rm, cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { build } from '#cutroom/build/build.js';
import { checkCutOutputs } from '#cutroom/check/dataset-cut.js';
import { checkNemoFolder } from '#cutroom/check/dataset-nemo.js';
import type { PathFacts } from '#cutroom/check/finding.js';
import { cut } from '#cutroom/cut/cut.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { makeMixedCorpus } from '../../support/cut-runs.js';
import { makeNoise } from '../../support/signals.js';
import { buildWav } from '../../support/wav-files.js';
import { kindsOf, makeContext } from '../../check/dataset-context.js';

/** Outputs of each command, made once; defects go into copies. */
let made: string;

beforeAll(async () => {
  made = await mkdtemp(path.join(tmpdir(), 'cutroom-own-'));
  const audio = path.join(made, 'audio');
  mkdirSync(audio);
  const rows = Array.from({ length: 14 }, (_, k) => {
    const frames = 3000 + 517 * k;
    writeFileSync(path.join(audio, `${k}.wav`), buildWav(makeNoise(frames, 1, k + 1), { sampleRate: 16_000 }));
    return { audio_filepath: `audio/${k}.wav`, text: `text ${k}`, duration: frames / 16_000 };
  });
  writeFileSync(path.join(made, 'all.json'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const tsv = rows.map((row, k) => `utt_${k}\t${row.audio_filepath}\t${row.text}\t0\t-1\n`);
  writeFileSync(path.join(made, 'all.tsv'), tsv.join(''));
  const corpus = await makeMixedCorpus(made, 4, { outputDir: path.join(made, 'cut'), maxFailures: { percent: 100 } });
  await cut(corpus.options);
  await cut({ ...corpus.options, outputDir: path.join(made, 'cut-shards'), numShards: 3 });
  const input = path.join(made, 'all.tsv');
  await build({ input, outputDir: path.join(made, 'build'), numTars: 3, jobs: 1 });
  await build({ input, outputDir: path.join(made, 'build-no-list'), numTars: 2, noLst: true, jobs: 1 });
  const manifestPaths = [path.join(made, 'all.json')];
  await tarDataset({ manifestPaths, targetDir: path.join(made, 'tarred'), numShards: 4, jobs: 1 });
  const bounds = { minDurationSeconds: 0.1, maxDurationSeconds: 0.7, bucketsNum: 2 };
  await tarDataset({ manifestPaths, targetDir: path.join(made, 'buckets'), numShards: 2, jobs: 1, ...bounds });
}, 60_000);
afterAll(() => rm(made, { recursive: true }));

function checker(name: string): (folder: string, context: ReturnType<typeof makeContext>) => Promise<PathFacts> {
  return name.startsWith('cut') || name.startsWith('build') ? checkCutOutputs : checkNemoFolder;
}

describe('the checks of datasets', () => {
  test.each(['cut', 'cut-shards', 'build', 'build-no-list', 'tarred', 'buckets'])(
    'find nothing wrong with what cutroom wrote, decoded too: %s',
    async (name) => {
      const context = makeContext({ deep: true, jobs: 2 });
      const facts = await checker(name)(path.join(made, name), context);
      // Noise at half of full scale is neither silent nor clipped, and speech bursts of the corpus come close to neither.
      expect(context.findings).toEqual([]);
      expect(facts.rows).toBeGreaterThan(5);
      expect(facts.members).toBe(facts.rows);
    },
  );

  it('compare metrics with files that are of a format which a loader does not read', async () => {
    const folder = path.join(made, 'build-ogg');
    await build({ input: path.join(made, 'all.tsv'), outputDir: folder, numTars: 1, jobs: 1, format: 'ogg' });
    const context = makeContext({ deep: true });
    expect((await checkCutOutputs(folder, context)).notes).toEqual([]);
    expect(kindsOf(context)).toEqual(['unread_format']);
    const metrics = path.join(folder, 'metrics.json');
    edit(metrics, '"samples": 14', '"samples": 13');
    await checkCutOutputs(folder, context);
    expect(kindsOf(context)).toEqual(['unread_format', 'wrong_metrics', 'unbalanced_metrics']);
  });

  it('find the same, in the same order, in several processes', async () => {
    const folder = path.join(made, 'many');
    await cp(path.join(made, 'tarred'), folder, { recursive: true });
    truncateSync(path.join(folder, 'audio_1.tar'), 3000);
    rmSync(path.join(folder, 'sharded_manifests', 'manifest_2.json'));
    const [one, many] = [makeContext(), makeContext({ jobs: 3 })];
    const facts = await checkNemoFolder(folder, one);
    expect(await checkNemoFolder(folder, many)).toEqual(facts);
    expect(many.findings).toEqual(one.findings);
    expect(kindsOf(one)).toEqual(['missing_sharded_manifest', 'unreadable_tar']);
  });
});

function edit(file: string, from: string | RegExp, to: string): void {
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  writeFileSync(file, changed);
}

describe('checkCutOutputs()', () => {
  const defects: [string, string, string, (folder: string) => void][] = [
    [
      'cut',
      'a count of other rows',
      'unbalanced_metrics',
      (folder) => edit(path.join(folder, 'metrics.json'), /"num_output_snippets": \d+/u, '"num_output_snippets": 3'),
    ],
    [
      'cut',
      'other hours',
      'wrong_metrics',
      (folder) =>
        edit(
          path.join(folder, 'metrics.json'),
          /"output_total_duration_sec": [\d.]+/u,
          '"output_total_duration_sec": 1.5',
        ),
    ],
    [
      'cut',
      'segments that nobody counts',
      'unbalanced_metrics',
      (folder) => edit(path.join(folder, 'metrics.json'), /"failed_segments": \d+/u, '"failed_segments": 1000'),
    ],
    [
      'cut',
      'a failure that is not listed',
      'unbalanced_metrics',
      (folder) => edit(path.join(folder, 'failures.jsonl'), /^.*\n/u, ''),
    ],
    ['cut', 'no metrics', 'missing_output', (folder) => rmSync(path.join(folder, 'metrics.json'))],
    ['cut', 'no tar', 'missing_output', (folder) => rmSync(path.join(folder, 'snippets.tar'))],
    ['cut', 'no manifest', 'missing_output', (folder) => rmSync(path.join(folder, 'snippets.jsonl'))],
    ['cut', 'a run under way', 'unfinished_run', (folder) => mkdirSync(path.join(folder, '.cutroom-cut'))],
    [
      'cut',
      'metrics that are no JSON',
      'unreadable_metrics',
      (folder) => writeFileSync(path.join(folder, 'metrics.json'), '{'),
    ],
    [
      'cut',
      'another snippet_id',
      'wrong_snippet_id',
      (folder) => edit(path.join(folder, 'snippets.jsonl'), /"snippet_id":"/u, '"snippet_id":"x'),
    ],
    [
      'cut',
      'rows in another order',
      'order_differs',
      (folder) => {
        const [first = '', second = '', ...rest] = readFileSync(path.join(folder, 'snippets.jsonl'), 'utf8').split(
          '\n',
        );
        writeFileSync(path.join(folder, 'snippets.jsonl'), [second, first, ...rest].join('\n'));
      },
    ],
    ['cut', 'a row less', 'member_without_row', (folder) => edit(path.join(folder, 'snippets.jsonl'), /^.*\n/u, '')],
    ['cut-shards', 'no list', 'missing_output', (folder) => rmSync(path.join(folder, 'snippets.lst'))],
    [
      'cut-shards',
      'a line less on the list',
      'wrong_metrics',
      (folder) => edit(path.join(folder, 'snippets.lst'), /^.*\n/u, ''),
    ],
    ['cut-shards', 'a shard less', 'missing_tar', (folder) => rmSync(path.join(folder, 'snippets.000001.tar'))],
    [
      'build',
      'another duration',
      'wrong_metrics',
      (folder) => edit(path.join(folder, 'metrics.json'), /"duration_sec": ./u, '"duration_sec": 7'),
    ],
    [
      'build',
      'rows that nobody counts',
      'unbalanced_metrics',
      (folder) => edit(path.join(folder, 'metrics.json'), /"rows_read": 14/u, '"rows_read": 15'),
    ],
    [
      'build',
      'another plan',
      'wrong_metrics',
      (folder) => edit(path.join(folder, 'metrics.json'), /"plan_hash": "./u, '"plan_hash": "x'),
    ],
    ['build', 'no metrics', 'unfinished_run', (folder) => rmSync(path.join(folder, 'metrics.json'))],
    ['build', 'a damaged plan', 'unreadable_metrics', (folder) => truncateSync(path.join(folder, 'plan.jsonl'), 500)],
  ];

  test.each(defects)('tells of %s outputs with %s: %s, and of nothing else', async (name, _what, kind, inject) => {
    const folder = path.join(made, 'broken');
    await cp(path.join(made, name), folder, { recursive: true });
    for (const list of readdirSync(folder).filter((file) => file.endsWith('.lst'))) {
      const text = readFileSync(path.join(folder, list), 'utf8');
      writeFileSync(path.join(folder, list), text.replaceAll(path.join(made, name), folder));
    }
    try {
      inject(folder);
      const context = makeContext();
      await checkCutOutputs(folder, context);
      expect(kindsOf(context)).toEqual([kind]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
