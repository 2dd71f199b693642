import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CanceledError, InputError, UsageError } from '#cutroom/errors.js';
import { widsKey } from '#cutroom/shard/index-wids.js';
import { INDEX_KINDS, writeIndexes, type IndexedShard, type IndexProgress } from '#cutroom/shard/write-indexes.js';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '#cutroom/tar/header.js';
import { jsonLines } from '../support/shard-files.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 8000;
const wav = (seconds: number): Buffer => buildWav(new Float64Array(seconds * RATE), { sampleRate: RATE });

describe('writeIndexes()', () => {
  let outer: string;
  let folder: string;
  beforeEach(() => {
    outer = mkdtempSync(path.join(tmpdir(), 'cutroom-write-indexes-'));
    folder = path.join(outer, 'set');
    mkdirSync(folder);
  });
  afterEach(() => rmSync(outer, { recursive: true }));

  /** A tar with the names, each a WAV of 2 s, and the rows beside it. */
  function addShard(stem: string, names: readonly string[], rows?: readonly object[]): IndexedShard {
    const payload = wav(2);
    const member = (name: string) => [
      ...[tarHeader({ name, sizeBytes: payload.length }), payload, Buffer.alloc(paddingBytes(payload.length))],
    ];
    const tarPath = path.join(folder, `${stem}.tar`);
    writeFileSync(tarPath, Buffer.concat([...names.flatMap(member), END_OF_ARCHIVE]));
    if (rows === undefined) return { tarPath };
    const manifestPath = path.join(folder, `${stem}.jsonl`);
    writeFileSync(manifestPath, jsonLines(rows));
    return { tarPath, manifestPath };
  }

  const rowOf = (name: string) => ({ audio_filepath: name, text: name, duration: 2 });
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
  const cutsOf = (name: string) =>
    read(name)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const dataset = (shards: readonly IndexedShard[]) => ({ folder, name: 'set', shards });

  it('writes the same bytes again, wherever the folder is', async () => {
    const make = async () => {
      mkdirSync(path.join(folder, 'a b'), { recursive: true });
      const shards = [0, 1].map((n) => addShard(`a b/x.00000${n}`, [`u${n}.wav`], [rowOf(`u${n}.wav`)]));
      const { files, warnings } = await writeIndexes(INDEX_KINDS, dataset(shards));
      return { warnings, bytes: Object.fromEntries(files.map((name) => [name, read(name)])) };
    };
    const first = await make();
    expect(Object.keys(first.bytes)).toEqual([
      ...['.nv-meta/.info.json', '.nv-meta/dataset.yaml', '.nv-meta/index.sqlite', '.nv-meta/index.uuid'],
      ...['.nv-meta/split.yaml', 'a b/x.000000.tar.idx', 'a b/x.000001.tar.idx', 'energon-rows.jsonl'],
      ...['energon-rows.jsonl.idx', 'energon.yaml', 'shar/cuts.000000.jsonl', 'shar/cuts.000001.jsonl', 'wids.json'],
    ]);
    folder = path.join(outer, 'elsewhere');
    expect(await make()).toEqual(first);
  });

  it('counts samples as each loader does', async () => {
    const names = ['__meta__/a.json', 'a.json', 'a.wav', 'b.c.wav', 'dir/b.wav', 'no-dot'];
    const { warnings } = await writeIndexes(['wids', 'energon'], dataset([addShard('s', names)]));
    const { shardlist } = JSON.parse(read('wids.json')) as { shardlist: object[] };
    const filesize = readFileSync(path.join(folder, 's.tar')).length;
    expect(shardlist).toEqual([{ url: 's.tar', nsamples: 4, filesize }]);
    expect(JSON.parse(read('.nv-meta/.info.json'))).toMatchObject({ shard_counts: { 's.tar': 3 } });
    const index = readFileSync(path.join(folder, 's.tar.idx'));
    const memberBytes = (filesize - END_OF_ARCHIVE.length) / names.length;
    const offsets = Array.from({ length: index.length / 8 }, (_, at) => Number(index.readBigUInt64LE(8 * at)));
    expect(offsets).toEqual([1, 3, 4, 6].map((members) => members * memberBytes));
    expect(warnings).toEqual([]);
  });

  it('does without a database of names where they are not unique, and says so', async () => {
    await writeIndexes(['energon'], dataset([addShard('a', ['x.wav'])]));
    expect(existsSync(path.join(folder, '.nv-meta/index.sqlite'))).toBe(true);
    const shards = [addShard('a', ['x.wav', 'y.wav']), addShard('b', ['y.wav', 'x.wav'])];
    const { files, warnings } = await writeIndexes(['energon'], dataset(shards));
    expect(files).not.toContain('.nv-meta/index.sqlite');
    expect(existsSync(path.join(folder, '.nv-meta/index.sqlite'))).toBe(false);
    expect(warnings.map(({ message }) => message)).toEqual([
      'samples of one name: Energon reads them in order, but there is no index.sqlite to find them by name: ' +
        '2 times, first "y" in "a.tar" and "b.tar"',
    ]);
  });

  it('warns of names that wids reads in part, and paths that it cannot open', async () => {
    const long = `${'l'.repeat(60)}/${'n'.repeat(60)}.wav`;
    const { warnings } = await writeIndexes(['wids'], dataset([addShard('a#b', [long])]));
    expect(warnings.map(({ message }) => message)).toEqual([
      'wids cannot open a path with "#", "?" or ";" in it: "a#b.tar"',
      `wids reads names of over 100 bytes in part: "${long}" in "a#b.tar"`,
    ]);
  });

  it('leaves shards without samples out of Energon, which refuses them', async () => {
    const { warnings } = await writeIndexes(['energon'], dataset([addShard('a', []), addShard('b', ['x.wav'])]));
    expect(read('.nv-meta/split.yaml')).toContain('train:\n  - "b.tar"\n');
    expect(warnings[0]?.message).toBe('a shard without samples is left out: "a.tar"');
  });

  it('makes cuts of spans and of rows that share a member', async () => {
    const rows = [
      { audio_filepath: 'x.wav', text: 'all', duration: 2, source: 'a', shard_id: 0 },
      { audio_filepath: 'x-sub1.wav', text: 'part', duration: 0.5, offset: 1.25 },
      { audio_filepath: 'x-sub2.wav', text: 'to the end', duration: 1.1, offset: 1 },
      { audio_filepath: 'x-sub3.wav', text: 'nearly all', duration: 1.9, offset: 7 },
      { audio_filepath: 'x-sub4.wav', text: 'outside', duration: 1, offset: 2 },
      { audio_filepath: 'gone.wav', text: '', duration: 2 },
    ];
    const { warnings } = await writeIndexes(['lhotse', 'energon'], dataset([addShard('s', ['x.wav'], rows)]));
    const cuts = cutsOf('shar/cuts.000000.jsonl');
    expect(cuts.map(({ id, start, duration }) => [id, start, duration])).toEqual([
      ['x', 0, 2],
      ['x-sub1-1.25', 1.25, 0.5],
      ['x-sub2-1', 1, 1],
      ['x-sub3', 0, 2],
    ]);
    expect(cuts[0]).toMatchObject({
      recording: { id: 'x', sources: [{ type: 'file', source: 's.tar/x.wav' }], num_samples: 2 * RATE },
      supervisions: [{ start: 0, duration: 2, text: 'all' }],
      custom: { source: 'a', shard_id: 0 },
    });
    expect(read('energon-rows.jsonl').match(/"audio_filepath":"x\.wav"/gu)).toHaveLength(5);
    const manifest = path.join(folder, 's.jsonl');
    expect(warnings.map(({ index, message }) => [index, message])).toEqual([
      ['energon', `a row whose member is not there is left out: "${manifest}" line 6`],
      ['lhotse', `a row whose span lies outside its audio is left out: "${manifest}" line 5`],
      ['lhotse', `a row whose member is not there is left out: "${manifest}" line 6`],
    ]);
  });

  it('finds the rows of each shard in a manifest of all', async () => {
    const manifestPath = path.join(folder, 'all.json');
    const rows = [0, 1].map((shard_id) => ({ ...rowOf(`u${shard_id}.wav`), shard_id }));
    writeFileSync(manifestPath, jsonLines(rows));
    const shards = [0, 1].map((shardId) => ({
      ...addShard(`audio_${shardId}`, [`u${shardId}.wav`]),
      manifestPath,
      shardId,
    }));
    const { warnings } = await writeIndexes(['lhotse'], dataset(shards));
    expect([0, 1].flatMap((shard) => cutsOf(`shar/cuts.00000${shard}.jsonl`).map(({ id }) => id))).toEqual([
      'u0',
      'u1',
    ]);
    expect(warnings).toEqual([]);
  });

  it('removes what earlier shards had, and nothing else', async () => {
    const shards = [addShard('a', ['x.wav'], [rowOf('x.wav')]), addShard('b', ['y.wav'], [rowOf('y.wav')])];
    await writeIndexes(INDEX_KINDS, dataset(shards));
    writeFileSync(path.join(folder, 'shar/speaker.000000.jsonl'), '');
    await writeIndexes(INDEX_KINDS, dataset(shards.slice(0, 1)));
    expect(readdirSync(path.join(folder, 'shar'))).toEqual(['cuts.000000.jsonl', 'speaker.000000.jsonl']);
    const { warnings } = await writeIndexes(INDEX_KINDS, dataset([{ tarPath: shards[0]!.tarPath }]));
    expect(readdirSync(path.join(folder, 'shar'))).toEqual(['speaker.000000.jsonl']);
    expect(readdirSync(folder).filter((name) => name.startsWith('energon'))).toEqual([]);
    expect(warnings.map(({ message }) => message)).toEqual(['a shard without a manifest has no cuts: "a.tar"']);
  });

  it('refuses a tar that is not what it was, or lies elsewhere, or is torn', async () => {
    const shard = addShard('a', ['x.wav']);
    const changed = { ...shard, tarBytes: 1 };
    await expect(writeIndexes(['wids'], dataset([changed]))).rejects.toThrow(/it has [\d,]+ bytes instead of 1$/u);
    await expect(writeIndexes(['wids'], dataset([{ ...shard, members: 2 }]))).rejects.toThrow(InputError);
    const elsewhere = { folder: path.join(outer, 'other'), name: '', shards: [shard] };
    await expect(writeIndexes(INDEX_KINDS, elsewhere)).rejects.toThrow(UsageError);
    writeFileSync(shard.tarPath, readFileSync(shard.tarPath).subarray(0, 1000));
    await expect(writeIndexes(['energon'], dataset([shard]))).rejects.toThrow(/truncated/u);
    const whole = addShard('whole', ['y.wav']);
    await expect(writeIndexes(['energon'], dataset([whole, shard]))).rejects.toThrow(/truncated/u);
    expect(existsSync(path.join(folder, '.nv-meta'))).toBe(false);
  });

  it('stops when it is told to, and reports how far it is', async () => {
    const shards = ['a', 'b', 'c'].map((stem) => addShard(stem, [`${stem}.wav`], [rowOf(`${stem}.wav`)]));
    const seen: string[] = [];
    const onProgress = (progress: IndexProgress) => void seen.push(`${progress.shards}/${progress.totalShards}`);
    await writeIndexes(INDEX_KINDS, dataset(shards), { onProgress });
    expect(seen).toEqual(Array.from({ length: 9 }, (_, at) => `${at + 1}/9`));
    const controller = new AbortController();
    const stopped = writeIndexes(INDEX_KINDS, dataset(shards), {
      signal: controller.signal,
      onProgress: (progress) => progress.shards === 2 && controller.abort(),
    });
    await expect(stopped).rejects.toThrow(CanceledError);
  });
});

describe('widsKey()', () => {
  it.each([
    ['a.wav', 'a'],
    ['dir.x/a.b.wav', 'dir.x/a'],
    ['dir.x/plain', 'dir'],
    ['._a.wav', ''],
    ['plain', undefined],
    ['dir/plain', undefined],
  ])('finds the sample of %s: %s', (name, key) => {
    expect(widsKey(name)).toBe(key);
  });
});
