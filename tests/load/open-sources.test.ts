import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { InputError, UsageError } from '#cutroom/errors.js';
import type { ItemTable } from '#cutroom/load/item-table.js';
import { openSources } from '#cutroom/load/open-sources.js';
import type { ExcerptDataset, SourceSpec } from '#cutroom/load/sources.js';
import { createWordsTokenizer } from '#cutroom/text/words.js';
import { jsonLines, rowOf, ShardFolder, tarBytes } from '../support/shard-files.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-sources-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string, content: string | Buffer = ''): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** A shard of so many members of one second each, beside its manifest. */
function putShard(key: string, count: number): { tar: string; manifest: string } {
  const names = Array.from({ length: count }, (_, at) => `${key}-${at}.wav`);
  const tar = put(`${key}.tar`, tarBytes(names));
  return { tar, manifest: put(`${key}.jsonl`, jsonLines(names.map((name) => rowOf(name, 1)))) };
}

/** A manifest of files of so many seconds. */
function putFiles(name: string, seconds: readonly (number | null)[], fields: object = {}): SourceSpec {
  const rows = seconds.map((duration, at) => ({ audio_filepath: `/${name}/${at}.wav`, duration, ...fields }));
  return { type: 'nemo', manifests: [put(`${name}.json`, jsonLines(rows))] };
}

function tarNames(table: ItemTable): string[] {
  return [...table.rowParts].map((part) => path.basename(table.parts[part]!.tarPath ?? '-'));
}

function lost(table: ItemTable): Record<string, number> {
  return Object.fromEntries(Object.entries(table.left.reasons).map(([reason, { rows }]) => [reason, rows]));
}

describe('openSources() of shards', () => {
  test('reads the shards of a list in order, whatever stands in the columns behind the paths', async () => {
    const a = putShard('a', 3);
    const b = putShard('b', 2);
    const list = put(
      'data.lst',
      `${b.tar} ${b.manifest} 0.000 0\n${a.tar} ${a.manifest} 1.5\n${a.tar} ${a.manifest}\n`,
    );
    const table = await openSources({ type: 'path', path: list });
    expect(tarNames(table)).toEqual(['b.tar', 'b.tar', 'a.tar', 'a.tar', 'a.tar', 'a.tar', 'a.tar', 'a.tar']);
    expect([...table.durationsMicros]).toEqual(Array.from({ length: 8 }, () => 1e6));
    expect(table.tokenCounts).toBeUndefined();
    expect(table.leaves).toEqual([
      { name: list, weight: undefined, firstItem: 0, endItem: 8, bucket: undefined, tags: {}, excerpts: undefined },
    ]);
  });

  test('finds the tar of a row of one manifest by its shard_id', async () => {
    const rows = [2, 0, 1, 2, 3].map((shardId, at) => ({ ...rowOf(`m${at}.wav`), shard_id: shardId }));
    const manifest = put('all.json', jsonLines([...rows, rowOf('m9.wav')]));
    for (const shard of [0, 1, 2]) put(`audio_${shard}.tar`);
    const tars = [path.join(folder, 'audio__OP_0..2_CL_.tar')];
    const table = await openSources({ type: 'nemo_tarred', manifests: [manifest], tars });
    expect(tarNames(table)).toEqual(['audio_2.tar', 'audio_0.tar', 'audio_1.tar', 'audio_2.tar']);
    expect([...table.lineNumbers]).toEqual([1, 2, 3, 4]);
    expect(lost(table)).toEqual({ bad_shard_id: 2 });
    expect(table.left.firstFaults.map(({ lineNumber }) => lineNumber)).toEqual([5, 6]);
  });

  test('pairs manifests and tars by the numbers of their names, else in order', async () => {
    for (const shard of [2, 10]) {
      put(`audio_${shard}.tar`);
      put(`manifest_${shard}.json`, jsonLines([rowOf(`m${shard}.wav`)]));
    }
    const manifests = [path.join(folder, 'manifest_{2,10}.json')];
    const table = await openSources({ type: 'nemo_tarred', manifests, tars: [path.join(folder, 'audio_*.tar')] });
    expect(tarNames(table)).toEqual(['audio_2.tar', 'audio_10.tar']);
    put('audio_3.tar');
    const tars = [path.join(folder, 'audio_[2..3].tar')];
    await expect(openSources({ type: 'nemo_tarred', manifests, tars })).rejects.toThrow(
      /do not belong together: .*manifest_10.*audio_3/u,
    );
    const named = ['x', 'y'].map((key) => putShard(key, 1));
    const byOrder = await openSources({
      type: 'nemo_tarred',
      manifests: named.map(({ manifest }) => manifest),
      tars: named.map(({ tar }) => tar).toReversed(),
    });
    expect(tarNames(byOrder)).toEqual(['y.tar', 'x.tar']);
  });

  test('reads folders of build and of NeMo, and a tar beside its manifest', async () => {
    const built = new ShardFolder(path.join(folder, 'built')).add('k.0', ['a.wav', 'b.wav']).add('k.1', ['c.wav']);
    expect(tarNames(await openSources({ type: 'path', path: built.folder }))).toEqual([
      'k.0.tar',
      'k.0.tar',
      'k.1.tar',
    ]);
    const rows = [1, 0].map((shardId) => ({ ...rowOf('a.wav'), shard_id: shardId }));
    put('nemo/tarred_audio_manifest.json', jsonLines(rows));
    for (const shard of [0, 1]) put(`nemo/audio_${shard}.tar`, tarBytes(['a.wav']));
    const nemo = await openSources({ type: 'path', path: path.join(folder, 'nemo') });
    expect(tarNames(nemo)).toEqual(['audio_1.tar', 'audio_0.tar']);
    const { tar } = putShard('one', 2);
    expect(tarNames(await openSources({ type: 'path', path: tar }))).toEqual(['one.tar', 'one.tar']);
  });

  test('names all files that are not there', async () => {
    const { tar, manifest } = putShard('a', 1);
    const list = put('data.lst', `${tar} ${manifest}\n/none/b.tar /none/b.jsonl\n`);
    const sources: SourceSpec[] = [
      { type: 'path', path: list },
      { type: 'nemo', manifests: ['/none/c.json'] },
      { type: 'nemo_tarred', manifests: [manifest], tars: ['/none/t_{0..7}.tar'] },
    ];
    const error: unknown = await openSources({ type: 'group', sources }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect((error as InputError).message).toBe(
      'Cannot open the sources: 11 files are not there: "/none/b.jsonl", "/none/b.tar", "/none/c.json", ' +
        '"/none/t_0.tar", "/none/t_1.tar" and 6 more',
    );
  });

  test('takes the first of rows that name the same member, and spans of it', async () => {
    const { tar } = putShard('a', 0);
    const row = { audio_filepath: 'm.wav', duration: 2 };
    const rows = [row, { ...row, audio_filepath: 'm-sub1.wav' }, row, { ...row, offset: 1 }, { ...row, offset: 3 }];
    const manifest = put('a.jsonl', jsonLines([...rows, { ...row, offset: 1 }, { ...row, offset: 1, duration: 3 }]));
    const table = await openSources({ type: 'nemo_tarred', manifests: [manifest], tars: [tar] });
    expect([...table.lineNumbers]).toEqual([1, 2, 4, 5, 7]);
    expect(table.left.reasons).toEqual({ duplicate_row: { rows: 2, hours: 4 / 3600 } });
    expect(table.left.firstFaults[0]).toMatchObject({ lineNumber: 3, message: expect.stringContaining('line 1') });
    const files = await openSources({ type: 'nemo', manifests: [manifest] });
    expect(files.rowCount).toBe(7);
  });
});

describe('openSources() of rows', () => {
  test('counts and names rows that are faulty', async () => {
    const row = { audio_filepath: 'a.wav', duration: 1 };
    const lines: (object | string)[] = [
      row,
      '{"audio_filepath": "a.wav"',
      '[1]',
      { ...row, duration: null },
      { audio_filepath: 'a.wav' },
      { ...row, duration: 0 },
      { ...row, duration: '1' },
      '{"audio_filepath": "a.wav", "duration": NaN}',
      { duration: 3600 },
      { ...row, audio_filepath: ['l.wav', 'r.wav'] },
      { ...row, audio_filepath: 'pipe:sph2pipe a.sph' },
      { ...row, audio_filepath: 'sph2pipe -f wav a.sph |' },
      { ...row, audio_filepath: 'https://host/a.wav' },
      { ...row, audio_filepath: '-' },
      { ...row, offset: -1 },
      { ...row, text: ['a'] },
      { ...row, text_filepath: 'a.txt' },
      { ...row, _skipme: true },
      { ...row, _skipme: 0 },
      '{"audio_filepath": "b.wav", "duration": 2, "snr": NaN}',
      '',
    ];
    const manifest = put(
      'm.json',
      Buffer.concat([Buffer.from(jsonLines(lines)), Buffer.from('{"text": "\xff"}', 'latin1')]),
    );
    const table = await openSources({ type: 'nemo', manifests: [manifest] });
    expect([...table.lineNumbers]).toEqual([1, 19, 20]);
    expect(lost(table)).toEqual({
      ...{ invalid_json: 1, not_an_object: 1, invalid_utf8: 1, no_duration: 2, bad_duration: 3, bad_offset: 1 },
      ...{ missing_audio_filepath: 1, several_files: 1, not_a_file: 4, bad_text: 2, skipme: 1 },
    });
    expect(table.left.reasons['missing_audio_filepath']!.hours).toBe(1);
    expect(table.left.firstFaults).toContainEqual({
      path: manifest,
      lineNumber: 11,
      reason: 'not_a_file',
      message: expect.stringContaining('commands are never run'),
      hint: expect.any(String),
    });
    expect(table.left.firstFaults.map(({ message }) => message)).toContain(
      '"duration" is NaN, and must be seconds above 0',
    );
    expect(new Set(table.left.firstFaults.map(({ reason }) => reason)).size).toBe(10);
  });

  test('applies filters, bounds included, and counts what they leave out', async () => {
    const texts: [number, string][] = [
      [0.1, 'ab'],
      [0.3, 'abc def'],
      [0.299_999, 'a b'],
      [1, '𝄞𝄞𝄞'],
      [1, 'abcd'],
      [1, 'ab cd ef'],
      [2.000_001, ''],
    ];
    const rows = texts.map(([duration, text], at) => ({ audio_filepath: `${at}.wav`, duration, text }));
    const source: SourceSpec = { type: 'nemo', manifests: [put('m.json', jsonLines(rows))] };
    const byDuration = await openSources(source, { filters: { minDurationSeconds: 0.3, maxDurationSeconds: 2 } });
    expect([...byDuration.lineNumbers]).toEqual([2, 4, 5, 6]);
    expect(lost(byDuration)).toEqual({ too_short: 2, too_long: 1 });
    const byRate = await openSources(source, {
      filters: { minCharactersPerSecond: 3, maxCharactersPerSecond: 4 },
      needsTokens: true,
    });
    expect([...byRate.lineNumbers]).toEqual([4, 5]);
    expect([...byRate.tokenCounts!]).toEqual([3, 4]);
    const tokenizer = createWordsTokenizer();
    const byTokens = await openSources(source, {
      filters: { minTokens: 2, maxTokensPerSecond: 6 },
      tokenizer,
      needsTokens: true,
    });
    expect([...byTokens.lineNumbers]).toEqual([6]);
    expect([...byTokens.tokenCounts!]).toEqual([3]);
    const asked: unknown[] = [];
    const byRow = await openSources(
      { ...source, tags: { lang: 'en', text: 'tag' } },
      { filters: { maxDurationSeconds: 1, keep: (row) => asked.push(row) % 2 === 0 } },
    );
    expect(asked[0]).toEqual({ ...rows[0], lang: 'en' });
    expect(lost(byRow)).toEqual({ filtered: 3, too_long: 1 });
    await expect(openSources(source, { filters: { maxTokens: 3 } })).rejects.toThrow('there is no tokenizer');
    await expect(openSources(source, { filters: { minDurationSeconds: 3, maxDurationSeconds: 2 } })).rejects.toThrow(
      UsageError,
    );
    await expect(openSources(source, { filters: { minDurationSeconds: 9 } })).rejects.toThrow('7 too_short');
  });

  test('takes texts of segments, and another field', async () => {
    const row = { audio_filepath: 'a.wav', duration: 1 };
    const lines = [
      { ...row, segments: [{ text: ' ab ' }, { text: '' }, { text: 'c' }] },
      { ...row, answer: 'xy', text: 'z' },
    ];
    const source: SourceSpec = { type: 'nemo', manifests: [put('m.json', jsonLines(lines))] };
    expect([...(await openSources(source, { needsTokens: true })).tokenCounts!]).toEqual([4, 1]);
    const other = await openSources(source, { needsTokens: true, textField: 'answer' });
    expect([...other.tokenCounts!]).toEqual([4, 2]);
  });

  test('stops at a signal and tells how far it is', async () => {
    const source = putFiles(
      'm',
      Array.from({ length: 45_000 }, () => 1),
    );
    const rows: number[] = [];
    await openSources(source, { onProgress: (progress) => rows.push(progress.rows) });
    expect(rows).toEqual([19_999, 39_999, 45_000]);
    const stop = new AbortController();
    const reason = new Error('enough');
    const onProgress = (): void => stop.abort(reason);
    await expect(openSources(source, { signal: stop.signal, onProgress })).rejects.toBe(reason);
  });

  test('refuses rows of a tarred dataset without its tars', async () => {
    const row = { ...rowOf('a.wav'), shard_id: 0 };
    const source: SourceSpec = { type: 'nemo', manifests: [put('m.json', jsonLines([row]))] };
    await expect(openSources(source)).rejects.toMatchObject({
      hint: expect.stringContaining('tarred_audio_filepaths'),
    });
    put('a.wav');
    expect((await openSources(source)).rowCount).toBe(1);
  });

  test('unpacks manifests in gzip, whatever they are called', async () => {
    const plain = jsonLines(
      Array.from({ length: 5000 }, (_, at) => ({ audio_filepath: `é${at}.wav`, duration: at + 1 })),
    );
    const packed = gzipSync(plain);
    const expected = await openSources({ type: 'nemo', manifests: [put('a.json', plain)] });
    for (const name of ['a.json.gz', 'b.json']) {
      const table = await openSources({ type: 'path', path: put(name, packed) });
      for (const column of ['durationsMicros', 'lineOffsetsBytes', 'lineLengthsBytes', 'lineNumbers'] as const) {
        expect(table[column]).toEqual(expected[column]);
      }
    }
    const torn = put('torn.json.gz', packed.subarray(0, packed.length - 20));
    const opened = openSources({ type: 'nemo', manifests: [torn] });
    await expect(opened).rejects.toThrow(InputError);
    await expect(opened).rejects.toThrow(/Cannot unpack .*torn.json.gz.*unexpected end of file/u);
    const missing = openSources({ type: 'nemo', manifests: [path.join(folder, 'none.json.gz')] });
    await expect(missing).rejects.toThrow('1 file is not there');
  });

  test('refuses what is no manifest', async () => {
    const open = async (name: string): Promise<ItemTable> =>
      await openSources({ type: 'path', path: put(name, 'a: 1\n') });
    await expect(open('train.yaml')).rejects.toThrow('is a configuration');
    await expect(open('a.tar.gz')).rejects.toThrow('it is compressed, and no manifest');
    await expect(open('m.json')).rejects.toThrow(/no row is left \(1 invalid_json\); the first fault: line 1/u);
    await expect(openSources({ type: 'nemo', manifests: [put('e.json')] })).rejects.toThrow('hold no row');
    await expect(openSources({ type: 'nemo', manifests: [folder] })).rejects.toThrow('no regular file');
  });
});

describe('openSources() of mixtures', () => {
  test('multiplies weights down, exactly as they are spelled', async () => {
    const three = putFiles('three', [1, 1, 1]);
    const table = await openSources({
      type: 'group',
      sources: [
        { ...putFiles('a', [1]), weight: 0.7, name: 'a', tags: { set: 'a' } },
        {
          type: 'group',
          weight: '0.3',
          tags: { set: 'inner', lang: 'de' },
          sources: [
            { ...three, weight: 0.1 },
            { ...three, weight: 0.2, tags: { set: 'own' } },
          ],
        },
      ],
    });
    expect(table.leaves.map(({ weight }) => weight)).toEqual([7, 1, 2]);
    const manifest = path.join(folder, 'three.json');
    expect(table.leaves.map(({ name }) => name)).toEqual(['a', manifest, `${manifest} (2)`]);
    expect(table.leaves.map(({ tags }) => tags)).toEqual([
      ...[{ set: 'a' }, { set: 'inner', lang: 'de' }, { set: 'own', lang: 'de' }],
    ]);
    expect(table.leaves.map(({ firstItem, endItem }) => [firstItem, endItem])).toEqual([
      ...[
        [0, 1],
        [1, 4],
        [4, 7],
      ],
    ]);
  });

  test('raises weights to the temperature of their group, and shares what has no weights by items', async () => {
    const sources = [4, 1].map((weight): SourceSpec => ({ ...putFiles(`w${weight}`, [1]), weight }));
    const weightsOf = async (spec: SourceSpec): Promise<unknown[]> =>
      (await openSources(spec)).leaves.map(({ weight }) => weight);
    expect(await weightsOf({ type: 'group', sources, temperature: 0.5 })).toEqual([2, 1]);
    expect(await weightsOf({ type: 'group', sources, temperature: 0 })).toEqual([1, 1]);
    expect(await weightsOf({ type: 'group', sources: [putFiles('a', [1]), putFiles('b', [1, 1])] })).toEqual([
      undefined,
      undefined,
    ]);
    const inner: SourceSpec = { type: 'group', sources: [putFiles('a', [1]), putFiles('b', [1, 1])], weight: 0.5 };
    expect(await weightsOf({ type: 'group', sources: [{ ...putFiles('c', [1]), weight: 0.5 }, inner] })).toEqual([
      3, 1, 2,
    ]);
    const buckets: SourceSpec[] = [
      { ...putFiles('a', [1, 1, 1]), weight: 2 },
      { ...putFiles('b', [1]), weight: 1 },
    ];
    expect(await weightsOf({ type: 'buckets', buckets })).toEqual([6, 1]);
    const unevenly = await openSources({
      type: 'buckets',
      buckets: [putFiles('a', [1]), { type: 'group', sources: [putFiles('b', [1]), putFiles('c', [1])] }],
    });
    expect(unevenly.leaves.map(({ bucket, weight }) => [bucket, weight])).toEqual([
      ...[
        [0, undefined],
        [1, undefined],
        [1, undefined],
      ],
    ]);
  });

  test('refuses mixtures that mean nothing', async () => {
    const a = putFiles('a', [1]);
    const short = putFiles('short', [0.1]);
    const open = async (spec: SourceSpec): Promise<ItemTable> =>
      await openSources(spec, { filters: { minDurationSeconds: 0.5 } });
    const group = (...sources: SourceSpec[]): SourceSpec => ({ type: 'group', sources });
    await expect(open(group())).rejects.toThrow('holds no source');
    await expect(open(group({ ...a, weight: 1 }, a))).rejects.toThrow('has no weight');
    await expect(open(group({ ...a, weight: 0 }, { ...a, weight: 1 }))).rejects.toThrow('above 0');
    await expect(open(group({ ...a, name: 'x' }, { ...a, name: 'x' }))).rejects.toThrow(
      'Two sources have the name "x"',
    );
    await expect(open({ type: 'group', sources: [a, a], temperature: 0.5 })).rejects.toThrow('have no weights');
    await expect(open({ type: 'group', sources: [{ ...a, weight: 1 }], temperature: -1 })).rejects.toThrow('from 0');
    await expect(open({ type: 'buckets', buckets: [{ type: 'buckets', buckets: [a] }] })).rejects.toThrow(
      'static buckets',
    );
    await expect(open(group({ ...a, weight: 1 }, { ...short, weight: 1 }))).rejects.toThrow('no row of it is left');
    const table = await open(group(a, short));
    expect(table.leaves.map(({ firstItem, endItem }) => endItem - firstItem)).toEqual([1, 0]);
  });

  test('gives excerpts items behind all rows', async () => {
    const dataset = (length: number): ExcerptDataset => ({
      length,
      get: async (index) => {
        const excerpt = { waveform: new Float32Array(8000), channels: 1, samples: 8000, sampleRate: 16_000 };
        return await Promise.resolve(
          index === 0 ? undefined : { ...excerpt, filepath: 'f', source: 's', offsetSeconds: 0 },
        );
      },
    });
    const excerpts = (length: number, weight: number): SourceSpec => ({
      type: 'excerpts',
      dataset: dataset(length),
      weight,
    });
    const table = await openSources({
      type: 'group',
      sources: [
        excerpts(Number.POSITIVE_INFINITY, 1),
        excerpts(10, 2),
        { ...putFiles('a', [1, 1]), weight: 3 },
        excerpts(Number.POSITIVE_INFINITY, 4),
      ],
    });
    expect(table.leaves.map(({ firstItem, endItem }) => [firstItem, endItem])).toEqual([
      ...[
        [12, Number.POSITIVE_INFINITY],
        [2, 12],
        [0, 2],
        [2 ** 44, Number.POSITIVE_INFINITY],
      ],
    ]);
    expect(table.leaves.map(({ excerpts: own }) => own?.durationMicros)).toEqual([
      500_000,
      500_000,
      undefined,
      500_000,
    ]);
    expect(table.leaves.map(({ weight }) => weight)).toEqual([1, 2, 3, 4]);
    const inner: SourceSpec = {
      type: 'group',
      weight: 1,
      sources: [{ type: 'excerpts', dataset: dataset(Number.POSITIVE_INFINITY) }, putFiles('b', [1])],
    };
    await expect(
      openSources({ type: 'group', sources: [inner, { ...putFiles('a', [1]), weight: 1 }] }),
    ).rejects.toThrow('without end');
    await expect(openSources({ type: 'excerpts', dataset: dataset(1) })).rejects.toThrow(
      'none of its first 1 excerpts',
    );
  });
});
