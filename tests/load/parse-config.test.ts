import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UsageError } from '#cutroom/errors.js';
import { parseLoaderConfig, readLoaderConfig } from '#cutroom/load/parse-config.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-config-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string, content: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

async function refusalOf(yaml: string): Promise<UsageError> {
  const error: unknown = await parseLoaderConfig(yaml, { path: '/conf/train.yaml' }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof UsageError) return error;
  throw new Error(`taken, or thrown otherwise: ${String(error)}`);
}

/** Each list holds the one before it ten times. */
const BOMB = Array.from(
  { length: 9 },
  (_, at) => `x${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(', ')}]`,
).join('\n');

describe('parseLoaderConfig() of sources', () => {
  test('reads a nested input_cfg with weights, tags and temperatures of levels', async () => {
    const yaml = `
input_cfg:
  - type: nemo_tarred
    weight: 0.70
    tags: {lang: en}
    manifest_filepath: en/tarred_audio_manifest.json
    tarred_audio_filepaths: en/audio__OP_0..63_CL_.tar
  - type: group
    weight: 0.3
    input_cfg:
      - {type: lst, path: de/data.lst, weight: 1, name: german}
      - {type: nemo, manifest_filepath: /abs/fr.json, weight: "2.5"}
reweight_temperature: [0.5, 0]
`;
    const { source, ignored } = await parseLoaderConfig(yaml, { path: '/conf/train.yaml' });
    expect(ignored).toEqual([]);
    expect(source).toEqual({
      type: 'group',
      temperature: 0.5,
      sources: [
        {
          type: 'nemo_tarred',
          weight: 0.7,
          tags: { lang: 'en' },
          manifests: ['/conf/en/tarred_audio_manifest.json'],
          tars: ['/conf/en/audio__OP_0..63_CL_.tar'],
        },
        {
          type: 'group',
          weight: 0.3,
          temperature: 0,
          sources: [
            { type: 'path', path: '/conf/de/data.lst', weight: 1, name: 'german' },
            { type: 'nemo', manifests: ['/abs/fr.json'], weight: '2.5' },
          ],
        },
      ],
    });
  });

  test('reads lists from other files, whose relative paths belong to their folders', async () => {
    put('lists/inner.yaml', '- {type: cut, path: out}\n- type: group\n  input_cfg: deep/more.yaml\n');
    put('lists/deep/more.yaml', 'input_cfg:\n  - {manifest_filepath: "a.json,b.json"}\n');
    const file = put('train.yaml', 'model:\n  train_ds:\n    input_cfg: lists/inner.yaml\n    batch_size: 4\n');
    const { source, options } = await readLoaderConfig(file, { section: 'model.train_ds' });
    const lists = path.join(folder, 'lists');
    expect(source).toEqual({
      type: 'group',
      sources: [
        { type: 'path', path: `${lists}/out` },
        { type: 'group', sources: [{ type: 'nemo', manifests: [`${lists}/deep/a.json,${lists}/deep/b.json`] }] },
      ],
    });
    expect(options.plan).toEqual({ batchSize: 4 });
    await expect(readLoaderConfig(file)).rejects.toMatchObject({ hint: expect.stringContaining('model.train_ds') });
    put('loop.yaml', '- type: group\n  input_cfg: loop.yaml\n');
    await expect(readLoaderConfig(path.join(folder, 'loop.yaml'))).rejects.toThrow('a part of itself');
    await expect(readLoaderConfig(path.join(folder, 'none.yaml'))).rejects.toThrow('there is no such file');
  });

  test.each([
    ['a.json', undefined, { type: 'nemo', manifests: ['a.json'] }],
    [['a.json', 'b.json'], undefined, { type: 'nemo', manifests: ['a.json', 'b.json'] }],
    ['a.json', 't_{0..3}.tar', { type: 'nemo_tarred', manifests: ['a.json'], tars: ['t_{0..3}.tar'] }],
    [
      ['0.json', '1.json'],
      ['0.tar', '1.tar'],
      { type: 'nemo_tarred', manifests: ['0.json', '1.json'], tars: ['0.tar', '1.tar'] },
    ],
    [
      ['a.json', 'b.json'],
      ['a_{0..3}.tar', 'b.tar'],
      {
        type: 'group',
        sources: [
          { type: 'nemo_tarred', manifests: ['a.json'], tars: ['a_{0..3}.tar'] },
          { type: 'nemo_tarred', manifests: ['b.json'], tars: ['b.tar'] },
        ],
      },
    ],
    [
      [['a.json'], ['b.json']],
      [['a.tar'], ['b0.tar', 'b1.tar']],
      {
        type: 'buckets',
        buckets: [
          { type: 'nemo_tarred', manifests: ['a.json'], tars: ['a.tar'] },
          { type: 'nemo_tarred', manifests: ['b.json'], tars: ['b0.tar', 'b1.tar'] },
        ],
      },
    ],
    [
      [
        ['a.json', 0.7],
        ['b.json', 0.3],
      ],
      ['a.tar', 'b.tar'],
      {
        type: 'group',
        sources: [
          { type: 'nemo_tarred', manifests: ['a.json'], tars: ['a.tar'], weight: 0.7 },
          { type: 'nemo_tarred', manifests: ['b.json'], tars: ['b.tar'], weight: 0.3 },
        ],
      },
    ],
  ])('takes manifests %j with tars %j', async (manifests, tars, expected) => {
    const { source } = await parseLoaderConfig({ manifest_filepath: manifests, tarred_audio_filepaths: tars });
    expect(source).toEqual(expected);
  });

  test('takes lists of lists as sources that are put together where NeMo would use Lhotse', async () => {
    const lists = { manifest_filepath: [['a.json'], ['b.json']], use_lhotse: true };
    const { source, ignored } = await parseLoaderConfig(lists);
    expect(source.type).toBe('group');
    expect(ignored.map(({ key }) => key)).toEqual(['use_lhotse']);
  });

  test('merges what YAML merges', async () => {
    const list =
      '- &one {type: nemo, weight: 1, manifest_filepath: /a.json}\n- {<<: *one, manifest_filepath: /b.json}\n';
    const { source } = await parseLoaderConfig(list);
    expect(source).toMatchObject({ sources: [{ manifests: ['/a.json'] }, { manifests: ['/b.json'], weight: 1 }] });
  });
});

describe('parseLoaderConfig() of options', () => {
  test('maps keys of NeMo to options', async () => {
    const yaml = `
manifest_filepath: /a.json
sample_rate: 16000
min_duration: 0.1
max_duration: 20.0
min_tps: -1
max_tps: .inf
batch_size: 32
batch_duration: 360
quadratic_duration: 15
use_bucketing: true
num_buckets: 30
bucket_buffer_size: 20000
bucketing_2d_strict_mode: false
tarred_shard_strategy: replicate
shuffle: true
seed: 7
drop_last: true
perturb_speed: true
text_field: answer
num_workers: 8
pin_memory: true
shard_seed: trng
trim_silence: false
noise_path: null
`;
    const { options, ignored } = await parseLoaderConfig(yaml);
    expect(options).toEqual({
      plan: {
        batchDuration: 360,
        quadraticDuration: 15,
        maxSamples: 32,
        bucketCount: 30,
        bucketWindow: 20_000,
        strict2d: false,
        strategy: 'replicate',
        shuffle: true,
        seed: 7,
        lastBatch: 'drop',
        speeds: [0.9, 1, 1.1],
      },
      filters: { minDurationSeconds: 0.1, maxDurationSeconds: 20 },
      sampleRate: 16_000,
      textField: 'answer',
    });
    expect(ignored.map(({ key }) => key)).toEqual(['num_workers', 'pin_memory', 'shard_seed', 'trim_silence']);
    expect(ignored.every(({ reason }) => reason.length > 0)).toBe(true);
  });

  test.each([
    ['bucket_duration_bins: [2, 4]', { bins: [2, 4, 1e9] }],
    ['bucket_duration_bins: [2, 4]\nmax_duration: 9', { bins: [2, 4, 9] }],
    ['bucket_duration_bins: [2, 4]\nmax_duration: 4', { bins: [2, 4] }],
    ['bucket_duration_bins: [2, 4]\nbucket_batch_size: [8, 4]', { bins: [2, 4], bucketBatchSizes: [8, 4] }],
    ['bucket_duration_bins: [2, 4]\nbucket_batch_size: [8, 4, 2]', { bins: [2, 4, 1e9], bucketBatchSizes: [8, 4, 2] }],
    [
      'bucket_duration_bins: [[2, 10], [2, 20]]',
      {
        bins: [
          [2, 10],
          [2, 20],
        ],
      },
    ],
    ['bucketing_batch_size: 4\nbucketing_strategy: fixed_order', { bucketBatchSizes: 4, bucketOrder: 'fixed_order' }],
    ['num_buckets: 3', { bucketCount: 3 }],
    ['num_buckets: 3\nuse_bucketing: false', {}],
    ['last_batch: pad\nmax_batch_duration: 600\nbatch_size: 9', { lastBatch: 'pad', maxDuration: 600, maxSamples: 9 }],
  ])('takes buckets of %j', async (yaml, expected) => {
    const { options } = await parseLoaderConfig(`manifest_filepath: /a.json\n${yaml}\n`);
    expect(options.plan).toEqual(expected);
  });

  test('gives static buckets their weights', async () => {
    const lists = { manifest_filepath: [['a.json'], ['b.json']], bucketing_weights: [2, 1] };
    const { source } = await parseLoaderConfig(lists);
    expect(source).toMatchObject({ type: 'buckets', buckets: [{ weight: 2 }, { weight: 1 }] });
  });
});

describe('parseLoaderConfig() refuses', () => {
  const NEMO = 'manifest_filepath: /a.json\n';

  test.each([
    ['tarred_audio_filepath: /t.tar', 'line 2 of "/conf/train.yaml"', 'Did you mean tarred_audio_filepaths?'],
    ['batch_duratoin: 3', 'no key "batch_duratoin"', 'Did you mean batch_duration?'],
    ['batch_duratoin:', 'no key "batch_duratoin"', 'Did you mean batch_duration?'],
    ['qqqqqqqqqqqqqqqq: 3', 'no key', 'Keys are input_cfg'],
    [
      'temperature: 5',
      'line 2 of "/conf/train.yaml": "temperature" (5) is not done here',
      'reweight_temperature = 1/T',
    ],
    ['is_concat: true\nconcat_sampling_temperature: 5', '"is_concat" (true)', 'input_cfg'],
    ['reweight_temperature: -1', 'must be from 0 to 100', 'w^t'],
    ['is_tarred: true', 'there are no "tarred_audio_filepaths"', undefined],
    ['is_tarred: false\ntarred_audio_filepaths: /t.tar', '"is_tarred" is false', undefined],
    ['tarred_audio_filepaths: "pipe:aws s3 cp s3://b/t.tar -"', 'commands are never run', 'Run it yourself'],
    ['tarred_audio_filepaths: [s3://bucket/a.tar]', 's3 is not read', 'Copy it'],
    ['tarred_audio_filepaths: "-"', 'standard input', undefined],
    ['tarred_audio_filepaths: ${oc.env:HOME}/t.tar', 'holds a variable', undefined],
    ['tarred_audio_filepaths: ???', 'still missing', undefined],
    ['tarred_audio_filepaths: [[/t.tar]]', 'stand side by side', undefined],
    ['max_tps: [12, 10]', 'one bound a bucket', undefined],
    ['seed: trng', 'no two trainings would be alike', undefined],
    ['batch_size: 1.5', 'a whole number from 1 on', undefined],
    ['shuffle: "yes"', 'must be true or false', undefined],
    ['tarred_shard_strategy: scater', 'must be one of', 'Did you mean scatter?'],
    ['bucket_duration_bins: [4, 2]', 'the bin 2 is not above', undefined],
    ['noise_path: /noise.json', 'is not done here', 'augment'],
    ['shar_path: /shar', 'is not done here', 'Shar is not read'],
    ['bucketing_weights: [1]', 'no static buckets', undefined],
    ['drop_last: false\nlast_batch: drop', '"drop_last" false', undefined],
    ['input_cfg: /x.yaml', 'names its sources twice', undefined],
    ['manifest_filepath: /b.json', 'unique', undefined],
    ['batch_size: [', 'no YAML', undefined],
  ])('%j', async (yaml, message, hint) => {
    const error = await refusalOf(`${NEMO}${yaml}\n`);
    expect(error.message).toContain(message);
    if (hint !== undefined) expect(error.hint).toContain(hint);
  });

  test.each([
    ['- {type: nemo_tared, manifest_filepath: a}', 'no type "nemo_tared"', 'Did you mean nemo_tarred?'],
    ['- {type: lhotse_shar, shar_path: a}', 'lhotse_shar are not read', 'Types are'],
    ['- {type: nemo_tarred, manifest_filepath: a, tarred_audio_filepath: b}', 'no key', 'tarred_audio_filepaths?'],
    ['- {type: nemo, manifest_filepath: a, tarred_audio_filepath: b}', 'no key', 'tarred_audio_filepaths?'],
    ['- {type: nemo_tarred, manifest_filepath: a}', 'no "tarred_audio_filepaths"', undefined],
    ['- {type: nemo, weight: 0, manifest_filepath: a}', 'above 0', undefined],
    ['- {type: nemo, weight: .nan, manifest_filepath: a}', 'a weight is NaN', undefined],
    [
      '- {type: nemo, weight: 1, manifest_filepath: a}\n- {type: nemo, manifest_filepath: b}',
      '1 of 2 sources',
      undefined,
    ],
    ['- {type: path, path: "pipe:cat x"}', 'commands are never run', undefined],
    ['- {type: group, input_cfg: []}', 'an empty list', undefined],
    ['- {type: group, input_cfg: http://x/y.yaml}', 'http is not read', undefined],
    ['- {type: lst, path: a, weigth: 1}', 'no key "weigth"', 'Did you mean weight?'],
    ['- just text', 'keys and values', undefined],
    ['&a\n- {type: group, input_cfg: *a}', 'nested too deep', undefined],
    ['batch_size: 3', 'names no source', undefined],
    ['{}', 'names no source', undefined],
    ['', 'keys and values', undefined],
  ])('%j', async (yaml, message, hint) => {
    const error = await refusalOf(`${yaml}\n`);
    expect(error.message).toContain(message);
    if (hint !== undefined) expect(error.hint).toContain(hint);
  });

  test('aliases of aliases that stand for more than there is room for', async () => {
    const error = await refusalOf(`x0: &a0 [1, 1]\n${BOMB}\n`);
    expect(error.message).toContain('it holds more than 200,000 values');
  });

  test('temperatures of another number of levels', async () => {
    const yaml = '{input_cfg: [{type: nemo, manifest_filepath: /a}], reweight_temperature: [1, 0.5]}';
    expect((await refusalOf(yaml)).message).toContain('2 numbers, and the sources 1 levels');
  });
});
