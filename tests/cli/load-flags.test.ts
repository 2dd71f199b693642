// What flags of loaders become: sources, filters and options of a plan.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlanFlags, RowFlags, SourceFlags } from '#cutroom/cli/load-flags.js';
import { readLoadRequest, readPlanOptions, requireLimit } from '#cutroom/cli/load-options.js';
import type { SourceSpec } from '#cutroom/load/sources.js';
import { batchSizes, binsFlag, decibelList, decibelRange, sourceFlag, speedList } from '#cutroom/cli/load-values.js';

const NO_SOURCES: SourceFlags & RowFlags = { staticBuckets: false, onError: 'fail' };

async function readSources(...given: Parameters<typeof readLoadRequest>): Promise<SourceSpec> {
  return (await readLoadRequest(...given)).source;
}

describe('sourceFlag()', () => {
  it.each([
    ['data.lst', { name: undefined, path: 'data.lst', weight: undefined }],
    ['a=data.lst', { name: 'a', path: 'data.lst', weight: undefined }],
    ['a=data.lst:0.70', { name: 'a', path: 'data.lst', weight: '0.70' }],
    ['data.lst:.5', { name: undefined, path: 'data.lst', weight: '0.5' }],
    ['a=c:\\x:1e3', { name: 'a', path: 'c:\\x', weight: '1e3' }],
    ['./a=b.lst', { name: undefined, path: './a=b.lst', weight: undefined }],
    ['data.lst:nine', { name: undefined, path: 'data.lst:nine', weight: undefined }],
    ['data.lst:-1', { name: undefined, path: 'data.lst', weight: '-1' }],
  ])('takes %s', (text, source) => {
    expect(sourceFlag(text)).toEqual(source);
  });

  it.each(['', ' ', 'a=', ' =x'])('refuses "%s"', (text) => {
    expect(() => sourceFlag(text)).toThrow('must be PATH, NAME=PATH or NAME=PATH:WEIGHT');
  });
});

describe('binsFlag()', () => {
  it.each([
    ['2.5,5,10', { bins: [2.5, 5, 10] }],
    [' [2.5, 5] ', { bins: [2.5, 5] }],
    ['7', { bins: [7] }],
    [
      '[[2.5,10],[2.5,20],[5,0]]',
      {
        bins: [
          [2.5, 10],
          [2.5, 20],
          [5, 0],
        ],
      },
    ],
    ['bins.yaml', { path: 'bins.yaml' }],
    ['5.yaml', { path: '5.yaml' }],
  ])('takes %s', (text, bins) => {
    expect(binsFlag(text)).toEqual(bins);
  });

  it.each(['', '5,2', '5,5', '0,1', '-1', '[2,3', '[[1,2],3]', '[[1,2],[1,2]]', '[[1,2.5]]', '[]', '1,,2', '[nan]'])(
    'refuses "%s"',
    (text) => {
      expect(() => binsFlag(text)).toThrow('must be 2.5,5,10 or [[2.5,20],[2.5,40]], ascending');
    },
  );
});

describe('decibelList() and decibelRange()', () => {
  it('take numbers', () => {
    expect(decibelList('-5, 0,12.5')).toEqual([-5, 0, 12.5]);
    expect(decibelRange('-6,6')).toEqual([-6, 6]);
    expect(decibelRange('3,3')).toEqual([3, 3]);
  });

  it.each(['', '5,', '5,x', 'Infinity'])('refuse "%s" as a list', (text) => {
    expect(() => decibelList(text)).toThrow('must be numbers of dB');
  });

  it.each(['', '6', '6,-6', '1,2,3', '-6,', 'a,b'])('refuse "%s" as a range', (text) => {
    expect(() => decibelRange(text)).toThrow('must be two numbers of dB, the lower one first');
  });
});

describe('batchSizes() and speedList()', () => {
  it('take lists, and one size as a base', () => {
    expect(batchSizes('32, 16,8')).toEqual([32, 16, 8]);
    expect(batchSizes('[32,16]')).toEqual([32, 16]);
    expect(batchSizes('[4]')).toEqual([4]);
    expect(batchSizes('4')).toBe(4);
    expect(speedList('0.9, 1,1.1')).toEqual([0.9, 1, 1.1]);
  });

  it.each(['', '0', '1.5', '4,', 'a', '[4'])('refuse sizes "%s"', (text) => {
    expect(() => batchSizes(text)).toThrow('must be whole numbers of 1 or more');
  });

  it.each(['', '0', '1,', '-1', 'fast'])('refuse speeds "%s"', (text) => {
    expect(() => speedList(text)).toThrow('must be numbers greater than 0');
  });
});

describe('readLoadRequest()', () => {
  it('takes a lone source as it is, and several as a group', async () => {
    expect(await readSources(NO_SOURCES, ['a.lst'])).toEqual({ type: 'path', path: 'a.lst' });
    const flags = { ...NO_SOURCES, source: [sourceFlag('x=b.lst:2')], manifest: ['m.json'], temperature: 0.5 };
    expect(await readSources(flags, ['a.lst'], [{ type: 'path', path: 'last' }])).toEqual({
      type: 'group',
      sources: [
        { type: 'path', path: 'a.lst' },
        { type: 'path', path: 'b.lst', name: 'x', weight: '2' },
        { type: 'nemo', manifests: ['m.json'] },
        { type: 'path', path: 'last' },
      ],
      temperature: 0.5,
    });
  });

  it('pairs manifests with tars', async () => {
    const both = { ...NO_SOURCES, manifest: ['m1', 'm2'], tars: ['t1', 't2'] };
    expect(await readSources({ ...both, staticBuckets: true }, [])).toEqual({
      type: 'buckets',
      buckets: [
        { type: 'nemo_tarred', manifests: ['m1'], tars: ['t1'] },
        { type: 'nemo_tarred', manifests: ['m2'], tars: ['t2'] },
      ],
    });
    const one = { ...both, manifest: ['m'] };
    expect(await readSources(one, [])).toEqual({ type: 'nemo_tarred', manifests: ['m'], tars: ['t1', 't2'] });
  });

  it.each<[string, SourceFlags & RowFlags, string]>([
    ['no source', NO_SOURCES, 'There is no source'],
    ['tars alone', { ...NO_SOURCES, tars: ['t'] }, 'There are 0 of --manifest and 1 of --tars'],
    [
      'two manifests of three tars',
      { ...NO_SOURCES, manifest: ['a', 'b'], tars: ['1', '2', '3'] },
      'There are 2 of --manifest and 3 of --tars',
    ],
    [
      'temperature of buckets',
      { ...NO_SOURCES, staticBuckets: true, manifest: ['a'], temperature: 1 },
      '--temperature is of mixtures',
    ],
  ])('refuses %s', async (_, flags, message) => {
    await expect(readSources(flags, [])).rejects.toThrow(message);
  });
});

describe('readPlanOptions()', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-load-flags-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reads bins and batch sizes of a file; sizes of a flag go before', async () => {
    const file = path.join(folder, 'bins.yaml');
    writeFileSync(file, 'num_buckets: 2\nbucket_duration_bins: [2.5, 5]\nbucket_batch_size: [8, 4]\n');
    const options = await readPlanOptions({ bins: binsFlag(file) });
    expect(options).toMatchObject({ bins: [2.5, 5], bucketBatchSizes: [8, 4] });
    const other = await readPlanOptions({ bins: binsFlag(file), bucketBatchSizes: 3 });
    expect(other.bucketBatchSizes).toBe(3);
  });

  it('leaves the last bucket open where a file has one bound fewer than buckets', async () => {
    const file = path.join(folder, 'inner.yaml');
    writeFileSync(file, 'num_buckets: 3\nbucket_duration_bins: [2.5, 5]\n');
    await expect(readPlanOptions({ bins: binsFlag(file) })).resolves.toMatchObject({ bins: [2.5, 5, 1e9] });
  });

  it.each([
    ['{}', '"bucket_duration_bins" is no list of bounds that ascend'],
    ['bucket_duration_bins: [3, 2]', '"bucket_duration_bins" is no list of bounds that ascend'],
    ['bucket_duration_bins: [3]\nbucket_batch_size: [0]', '"bucket_batch_size" is no list of whole numbers above 0'],
    ['a: [', 'Cannot take bins from'],
  ])('refuses a file of %j', async (text, message) => {
    const file = path.join(folder, 'wrong.yaml');
    writeFileSync(file, text);
    await expect(readPlanOptions({ bins: binsFlag(file) })).rejects.toThrow(message);
  });

  it.each<[string, Partial<PlanFlags>, string]>([
    ['bins beside a number of them', { bins: { bins: [1] }, buckets: 2 }, '--buckets and --bins exclude each other'],
    ['bins beside token buckets', { bins: { bins: [1] }, tokenBuckets: 2 }, '--token-buckets and --bins exclude'],
    ['a square alone', { quadraticDuration: 20 }, '--quadratic-duration is given without --batch-duration'],
    [
      'a file that is not there',
      { bins: { path: 'nowhere.yaml' } },
      'Cannot take bins from "nowhere.yaml": there is no such file',
    ],
  ])('refuses %s', async (_, flags, message) => {
    await expect(readPlanOptions(flags)).rejects.toThrow(message);
  });

  it('has no limit by itself', async () => {
    const options = await readPlanOptions({});
    expect(() => requireLimit(options)).toThrow('Nothing says how large a batch may be');
    expect(() => requireLimit({ ...options, batchSize: 2 })).not.toThrow();
  });
});

describe('a configuration', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-load-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('gives sources and options, which flags go before', async () => {
    const config = path.join(folder, 'train.yaml');
    const lines = [
      'manifest_filepath: m.json',
      'max_duration: 20',
      'min_duration: 1',
      'batch_duration: 100',
      'seed: 5',
    ];
    const all = [...lines, 'bucket_duration_bins: [2, 4]', 'bucket_batch_size: [8, 4]', 'num_workers: 3'];
    writeFileSync(config, ['model:', '  train_ds:', ...all.map((text) => `    ${text}`), ''].join('\n'));
    const flags = { ...NO_SOURCES, config, section: 'model.train_ds', minLength: 2 };
    const { source, filters, configured, notices } = await readLoadRequest(flags, []);
    expect(source).toMatchObject({ type: 'nemo' });
    expect(filters).toMatchObject({ minDurationSeconds: 2, maxDurationSeconds: 20 });
    expect(notices).toEqual([expect.stringMatching(/^"num_workers" of .*train\.yaml is passed over: /u)]);
    const plan = configured?.plan;
    expect(await readPlanOptions({}, plan)).toMatchObject({ batchDuration: 100, seed: 5, bucketBatchSizes: [8, 4] });
    const changed = await readPlanOptions({ buckets: 7, seed: 1, quadraticDuration: 9 }, plan);
    expect(changed).toMatchObject({ batchDuration: 100, seed: 1, quadraticDuration: 9, bucketCount: 7 });
    expect([changed.bins, changed.bucketBatchSizes]).toEqual([undefined, undefined]);
  });
});
