import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { array, assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateList } from '#cutroom/build/generate-list.js';
import { cut } from '#cutroom/cut/cut.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { checkShardCount, ShardCursor, type Sharding } from '#cutroom/cut/sharding.js';
import { UsageError } from '#cutroom/errors.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { makeFolder, makeSegments, stopAt, wavOfNoise, writeCorpus, type Corpus } from '../support/cut-runs.js';

/** The shard of each of some snippets, by their planned seconds. */
function placeAll(sharding: Sharding, seconds: readonly number[]): number[] {
  const cursor = new ShardCursor(sharding, seconds.length);
  const shards = seconds.map((length) => cursor.next(length * 1e6));
  expect(cursor.count).toBe(shards.length === 0 ? 0 : (shards.at(-1) ?? 0) + 1);
  return shards;
}

function countEach(shards: readonly number[]): number[] {
  const counts: number[] = [];
  for (const shard of shards) counts[shard] = (counts[shard] ?? 0) + 1;
  return counts;
}

const anySeconds = array(integer({ min: 1, max: 40 }), { maxLength: 200 });

describe('ShardCursor', () => {
  test('makes the shards that are asked for, of sizes within one of each other', () => {
    assert(
      property(integer({ min: 1, max: 60 }), integer({ min: 0, max: 300 }), (value, more) => {
        const counts = countEach(placeAll({ by: 'count', value }, Array<number>(value + more).fill(1)));
        expect(counts).toHaveLength(value);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('fills each shard with so many snippets but for the last', () => {
    assert(
      property(integer({ min: 1, max: 20 }), anySeconds, (value, seconds) => {
        const counts = countEach(placeAll({ by: 'snippets', value }, seconds));
        expect(counts).toHaveLength(Math.ceil(seconds.length / value));
        expect(counts.slice(0, -1).every((count) => count === value)).toBe(true);
      }),
    );
  });

  test('ends a shard with the snippet that reaches the hours', () => {
    assert(
      property(integer({ min: 1, max: 100 }), anySeconds, (limit, seconds) => {
        const shards = placeAll({ by: 'hours', value: limit / 3600 }, seconds);
        for (let shard = 0; shard <= (shards.at(-1) ?? -1); shard += 1) {
          const own = seconds.filter((_, at) => shards[at] === shard);
          const sum = own.reduce((a, b) => a + b, 0);
          expect(sum - (own.at(-1) ?? 0)).toBeLessThan(limit);
          if (shard < (shards.at(-1) ?? 0)) expect(sum).toBeGreaterThanOrEqual(limit);
        }
      }),
    );
  });
});

describe('checkShardCount()', () => {
  test('refuses more shards than snippets, and more than can be meant', () => {
    const plan = { snippetCount: 1_000_000, plannedSeconds: 3_600_000 };
    for (const [by, good, bad] of [
      ['count', 100_000, 100_001],
      ['snippets', 10, 9],
      ['hours', 0.0101, 0.0099],
    ] as const) {
      expect(() => checkShardCount({ by, value: good }, plan)).not.toThrow();
      expect(() => checkShardCount({ by, value: bad }, plan)).toThrow(/^Cannot make \d+ shards: 100000 are the most$/);
    }
    expect(() => checkShardCount({ by: 'count', value: 1 }, { snippetCount: 0, plannedSeconds: 0 })).toThrow(
      'Cannot fill 1 shard: 0 snippets are planned',
    );
    expect(() => checkShardCount({ by: 'hours', value: 1e-9 }, { snippetCount: 9, plannedSeconds: 9 })).not.toThrow();
    expect(() => checkShardCount(undefined, plan)).not.toThrow();
  });
});

/** Four recordings with two snippets each, which interleave: a-… and a-1-… by name. */
async function makeTinyCorpus(folder: string, changes: Partial<CutOptions> = {}): Promise<Corpus> {
  const segments = makeSegments(2, 0.5, 0.3);
  const recordings = ['a', 'a-1', 'b', 'c'].map((id, k) => ({
    id,
    file: `${id}.wav`,
    segments,
    write: wavOfNoise(1, k + 1),
  }));
  return await writeCorpus(folder, recordings, { minDurationSeconds: 0.1, jobs: 1, ...changes });
}

/** The content of each file in a folder. */
function readAll(folder: string): Record<string, string> {
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(folder, name), 'latin1')]));
}

function namesOf(shards: number, stem = 'snippets'): string[] {
  const numbers = Array.from({ length: shards }, (_, shard) => String(shard).padStart(6, '0'));
  const files = numbers.flatMap((number) => [`${stem}.${number}.jsonl`, `${stem}.${number}.tar`]);
  return ['failures.jsonl', 'metrics.json', ...files, `${stem}.lst`];
}

interface Metrics {
  shards: { name: string; manifest: string; snippets: number; hours: number; bytes: number | null }[];
  empty_shards?: string[];
  options: Record<string, unknown>;
}

function readMetrics({ options }: Corpus): Metrics {
  return JSON.parse(readFileSync(path.join(options.outputDir, 'metrics.json'), 'utf8')) as Metrics;
}

describe('cut() with shards', () => {
  test('cuts the order of all snippets into shards, and lists them as gen-lst does', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context));
    const { options } = corpus;
    await cut(options);
    const whole = readAll(options.outputDir);
    const wholeIndex = await readTarIndex(path.join(options.outputDir, 'snippets.tar'));
    await rm(options.outputDir, { recursive: true });
    const result = await cut({ ...options, numShards: 3 });
    expect(result).toMatchObject({ kind: 'cut', summary: { outputSnippets: 8, emptyShards: [] } });
    expect(readdirSync(options.outputDir).toSorted()).toEqual(namesOf(3));
    const shards = readAll(options.outputDir);
    const numbers = ['000000', '000001', '000002'];
    expect(numbers.map((number) => shards[`snippets.${number}.jsonl`]).join('')).toBe(whole['snippets.jsonl']);
    const payload = (tar: string, { offsetBytes, sizeBytes }: { offsetBytes: number; sizeBytes: number }) =>
      tar.slice(offsetBytes, offsetBytes + sizeBytes);
    const members: [string, string][] = [];
    for (const number of numbers) {
      const index = await readTarIndex(path.join(options.outputDir, `snippets.${number}.tar`));
      expect(index.isComplete).toBe(true);
      for (const member of index.members) {
        members.push([member.name, payload(shards[`snippets.${number}.tar`] ?? '', member)]);
      }
    }
    expect(members).toEqual(
      wholeIndex.members.map((member) => [member.name, payload(whole['snippets.tar'] ?? '', member)]),
    );
    const output = path.join(corpus.folder, 'data.lst');
    const audioPattern = path.join(options.outputDir, '*.tar');
    const list = await generateList({ audioPattern, txtDir: options.outputDir, output, jobs: 1 });
    expect(list).toMatchObject({ shardCount: 3, sampleCount: 8 });
    expect(readFileSync(output, 'utf8')).toBe(shards['snippets.lst']);
    const metrics = readMetrics(corpus);
    expect(metrics.options).toMatchObject({ num_shards: 3 });
    expect(metrics.shards).toEqual(
      [2, 3, 3].map((snippets, shard) => ({
        name: `snippets.${numbers[shard]}.tar`,
        manifest: `snippets.${numbers[shard]}.jsonl`,
        snippets,
        hours: Number(((snippets * 0.3) / 3600).toFixed(6)),
        bytes: shards[`snippets.${numbers[shard]}.tar`]?.length,
      })),
    );
    expect(JSON.parse(whole['metrics.json'] ?? '')).not.toHaveProperty('shards');
  });

  test('goes on where it was stopped, and is done when it is done', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { snippetsPerShard: 3 });
    const { options } = corpus;
    await cut(options);
    const expected = readAll(options.outputDir);
    expect(Object.keys(expected).toSorted()).toEqual(namesOf(3));
    await rm(options.outputDir, { recursive: true });
    for (const recordings of [1, 3]) await stopAt(corpus, recordings, { checkpointMs: 0 });
    expect(await cut(options)).toMatchObject({ kind: 'cut' });
    expect(readAll(options.outputDir)).toEqual(expected);
    expect(await cut(options)).toMatchObject({ kind: 'already_done', summary: { shards: readMetrics(corpus).shards } });
    expect(readAll(options.outputDir)).toEqual(expected);
  });

  test('leaves out a shard that nothing comes into, and says so', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { numShards: 4 });
    const { options } = corpus;
    await rm(path.join(corpus.folder, 'audio', 'b.wav'));
    const { summary } = await cut(options);
    expect(summary).toMatchObject({ outputSnippets: 6, emptyShards: ['snippets.000002.tar'] });
    const names = namesOf(4).filter((name) => !name.includes('000002'));
    expect(readdirSync(options.outputDir).toSorted()).toEqual(names);
    expect(readAll(options.outputDir)['snippets.lst']).not.toContain('000002');
    expect(readMetrics(corpus)).toMatchObject({
      shards: [{ name: 'snippets.000000.tar' }, { name: 'snippets.000001.tar' }, { name: 'snippets.000003.tar' }],
      empty_shards: ['snippets.000002.tar'],
    });
    expect(await cut(options)).toMatchObject({
      kind: 'already_done',
      summary: { emptyShards: ['snippets.000002.tar'] },
    });
  });
});

describe('cut() with shards where outputs are', () => {
  test('refuses stray shards, and removes them with overwrite alone', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { numShards: 2 });
    const { options } = corpus;
    const stray = path.join(options.outputDir, 'snippets.000007.tar');
    mkdirSync(options.outputDir);
    writeFileSync(stray, 'stray');
    const { numShards: _, ...plain } = options;
    for (const run of [options, plain]) {
      await expect(cut(run)).rejects.toThrow(`Cannot write "${stray}": it exists and is not part of a finished run`);
    }
    await expect(cut({ ...options, dryRun: true })).rejects.toThrow('it exists and is not part of a finished run');
    await rm(stray);
    await cut(options);
    writeFileSync(stray, 'stray');
    await expect(cut(options)).rejects.toThrow(`a finished run that did not make "${stray}"`);
    await cut({ ...options, overwrite: true });
    expect(readdirSync(options.outputDir).toSorted()).toEqual(namesOf(2));
    await rm(path.join(options.outputDir, 'snippets.000001.jsonl'));
    await expect(cut(options)).rejects.toThrow('snippets.000001.jsonl" is gone');
  });

  test('previews one manifest with the planned shards, which the run replaces', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { hoursPerShard: 0.5 / 3600 });
    const { options } = corpus;
    const preview = await cut({ ...options, dryRun: true });
    expect(readdirSync(options.outputDir).toSorted()).toEqual(['failures.jsonl', 'metrics.json', 'snippets.jsonl']);
    const planned = readMetrics(corpus).shards;
    expect(planned).toHaveLength(4);
    expect(planned.map(({ snippets, bytes }) => [snippets, bytes])).toEqual(planned.map(() => [2, null]));
    expect(preview.summary.shards).toEqual(planned);
    await cut(options);
    expect(readdirSync(options.outputDir).toSorted()).toEqual(namesOf(4));
    expect(readMetrics(corpus).shards.map((shard) => ({ ...shard, bytes: null }))).toEqual(planned);
    await expect(cut({ ...options, dryRun: true, overwrite: true })).rejects.toThrow('Cannot preview beside');
  });

  test('names shards and list after the paths that are given', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { numShards: 1 });
    const { options, folder } = corpus;
    const places = { outputAudioTarPath: path.join(folder, 'tars/x.y.tar'), outputManifest: path.join(folder, 'rows') };
    const { outputs } = await cut({ ...options, ...places });
    expect(readdirSync(path.join(folder, 'tars')).toSorted()).toEqual(['x.y.000000.tar', 'x.y.lst']);
    expect(existsSync(path.join(folder, 'rows.000000'))).toBe(true);
    expect(outputs.list).toBe(path.join(folder, 'tars/x.y.lst'));
    expect(readFileSync(outputs.list ?? '', 'utf8')).toBe(
      `${path.join(folder, 'tars/x.y.000000.tar')} ${path.join(folder, 'rows.000000')} 0.000667 8\n`,
    );
  });

  test('writes no list where a path holds white space, and says so before it begins', async (context) => {
    const { options, folder } = await makeTinyCorpus(await makeFolder(context), { numShards: 2 });
    const warnings: string[] = [];
    const outputDir = path.join(folder, 'my out');
    const { outputs } = await cut({ ...options, outputDir }, { onWarning: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringMatching(/^no list of the shards is written: .*white space \(U\+0020\)/)]);
    expect(outputs.list).toBeUndefined();
    expect(readdirSync(outputDir).toSorted()).toEqual(namesOf(2).filter((name) => !name.endsWith('.lst')));
  });

  test('refuses shards that cannot be had', async (context) => {
    const { options, folder } = await makeTinyCorpus(await makeFolder(context));
    const tooMany = cut({ ...options, numShards: 9 });
    await expect(tooMany).rejects.toThrow('Cannot fill 9 shards: 8 snippets are planned');
    await expect(tooMany).rejects.toMatchObject({ code: 'usage', hint: 'Give --num-shards 8 or less.' });
    await expect(cut({ ...options, numShards: 2, hoursPerShard: 1 })).rejects.toThrow(/exclude each other/);
    for (const wrong of [{ numShards: 0 }, { numShards: 1.5 }, { snippetsPerShard: -1 }, { hoursPerShard: 0 }]) {
      await expect(cut({ ...options, ...wrong })).rejects.toThrow(RangeError);
    }
    const own = { outputDir: folder, inputManifest: path.join(folder, 'snippets.000001.jsonl') };
    const refusal = cut({ ...options, ...own, numShards: 2 });
    await expect(refusal).rejects.toBeInstanceOf(UsageError);
    await expect(refusal).rejects.toThrow('is that of a shard of the outputs');
    expect(existsSync(options.outputDir) && readdirSync(options.outputDir).length > 0).toBe(false);
  });
});
