import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { OutputError } from '#cutroom/errors.js';
import {
  finishDriver,
  makeFolder,
  makeGoodCorpus,
  makeMixedCorpus,
  makeSegments,
  startDriver,
  stopAt,
  wavOfNoise,
  writeCorpus,
  type Corpus,
  type DriverOptions,
} from '../support/cut-runs.js';
import { mountSmallDisk } from '../support/small-disk.js';

/** Checkpoints as often as can be. */
const DRIVER: DriverOptions = { checkpointMs: 5 };

/** Four small recordings with two snippets each. */
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

/** The content of everything in a folder. */
function readAll(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'latin1')]));
}

/** Expects that a run left these very bytes and nothing else. */
function expectAll({ outputDir }: CutOptions, expected: Record<string, string>, label: string): void {
  const found = readAll(outputDir);
  expect(Object.keys(found).toSorted(), label).toEqual(Object.keys(expected).toSorted());
  for (const [name, content] of Object.entries(expected)) {
    expect(found[name] === content, `${name} is the same, ${label}`).toBe(true);
  }
}

/** Runs a corpus undisturbed, keeps what comes out, and leaves no output folder. */
async function runUndisturbed({ options }: Corpus): Promise<Record<string, string>> {
  await cut(options);
  const outputs = readAll(options.outputDir);
  await rm(options.outputDir, { recursive: true });
  return outputs;
}

function readMetrics({ options }: Corpus): { shards: unknown[] } {
  return JSON.parse(readFileSync(path.join(options.outputDir, 'metrics.json'), 'utf8')) as { shards: unknown[] };
}

function listTars({ outputDir }: CutOptions): string[] {
  return readdirSync(outputDir).filter((name) => name.endsWith('.tar'));
}

describe('a run with shards that is killed and started again', () => {
  test.for([
    [{ snippetsPerShard: 1 }, 5],
    [{ numShards: 5 }, 5],
    [{ hoursPerShard: 5 / 3600 }, 3],
  ] as const)('leaves the bytes of one that was not, %j, at %i moments', async ([changes, moments], context) => {
    const corpus = await makeMixedCorpus(await makeFolder(context), 8, changes);
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    const startMs = performance.now();
    await finishDriver(options, DRIVER);
    const runMs = performance.now() - startMs;
    await rm(options.outputDir, { recursive: true });
    let kills = 0;
    // How long a run takes changes with what else the machine does: until enough of them were killed.
    for (let moment = 0; moment < moments || kills <= moments / 2; moment += 1) {
      const killedMs: number[] = [];
      // Some runs are killed twice.
      for (let kill = 0; kill <= moment % 2; kill += 1) {
        const driver = startDriver(options, DRIVER);
        killedMs.push((((moment % moments) + Math.random()) / moments) * runMs);
        const timer = setTimeout(() => driver.kill('SIGKILL'), killedMs.at(-1));
        if ((await driver.ended).result === undefined) kills += 1;
        clearTimeout(timer);
      }
      await finishDriver(options, DRIVER);
      expectAll(options, expected, `killed after ${killedMs.join(' and ')} of ${runMs} ms`);
      await rm(options.outputDir, { recursive: true });
    }
  });

  test('goes on at every checkpoint, and publishes what is whole with salvage', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3, { snippetsPerShard: 2, jobs: 1 });
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    for (let recordings = 1; recordings <= 5; recordings += 1) {
      await startDriver(options, { dieAtRecordings: recordings, checkpointMs: 0 }).ended;
    }
    await startDriver(options, { dieAtPublish: true }).ended;
    expect(listTars(options)).toEqual([]);
    await finishDriver(options);
    expectAll(options, expected, 'killed at each recording');
    await rm(options.outputDir, { recursive: true });
    await startDriver(options, { dieAtRecordings: 4, checkpointMs: 0 }).ended;
    const { summary } = await cut({ ...options, salvage: true });
    expect(summary.unfinishedSnippets).toBeGreaterThan(0);
    const whole = listTars(options).slice(0, -1);
    expect(whole.length).toBeGreaterThan(0);
    for (const name of whole) expect(readAll(options.outputDir)[name] === expected[name], name).toBe(true);
    expect(existsSync(path.join(options.outputDir, '.cutroom-cut'))).toBe(false);
  });

  test('publishes what was finished of some shards with salvage', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { snippetsPerShard: 1 });
    await stopAt(corpus, 2, { checkpointMs: 0 });
    const result = await cut({ ...corpus.options, salvage: true });
    expect(result.kind).toBe('salvaged');
    const made = result.summary.outputSnippets;
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(8);
    expect(readMetrics(corpus)).toMatchObject({ complete: false, unfinished_snippets: 8 - made });
    expect(readMetrics(corpus).shards).toHaveLength(made);
    expect(readMetrics(corpus)).not.toHaveProperty('empty_shards');
    expect(readdirSync(corpus.options.outputDir).filter((name) => name.endsWith('.tar'))).toHaveLength(made);
  });
});

const NAMES_OF_TWO = [
  ...['failures.jsonl', 'metrics.json', 'snippets.000000.jsonl', 'snippets.000000.tar'],
  ...['snippets.000001.jsonl', 'snippets.000001.tar', 'snippets.lst'],
];

/** The steps of publishing, by what stands in the way of each, and the shards that are whole before it. */
const STEPS = [
  ['the metrics of an earlier run are removed', 'metrics.json', 0],
  ['its list is removed', 'snippets.lst', 0],
  ['a tar is moved', 'snippets.000001.tar', 1],
  ['a manifest is moved', 'snippets.000001.jsonl', 1],
  ['the list is written', 'snippets.lst.partial', 3],
  ['the metrics are written', 'metrics.json.partial', 3],
] as const;

describe('a run with shards that ends while it publishes', () => {
  test.for(STEPS)('goes on where %s, without a recording', async ([, name, shards], context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { numShards: 3 });
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    const obstacle = path.join(options.outputDir, name);
    const failure = cut(options, {
      onProgress: ({ stage }) => {
        if (stage === 'publish') mkdirSync(obstacle);
      },
    });
    await expect(failure).rejects.toBeInstanceOf(OutputError);
    await expect(failure).rejects.toMatchObject({ path: obstacle });
    const whole = readdirSync(options.outputDir).filter((file) => /^snippets\.\d+\.jsonl$/.test(file) && file !== name);
    expect(whole).toHaveLength(shards);
    await rm(obstacle, { recursive: true });
    await rm(path.join(corpus.folder, 'audio'), { recursive: true });
    expect(await cut(options)).toMatchObject({ kind: 'cut', isWithinLimit: true });
    expectAll(options, expected, name);
  });

  test('refuses those of other shards or of none, and leaves none of them behind with overwrite', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context));
    const { options } = corpus;
    await cut({ ...options, numShards: 4 });
    await expect(cut({ ...options, numShards: 2 })).rejects.toThrow('num_shards was 4, now 2');
    await expect(cut({ ...options, snippetsPerShard: 2 })).rejects.toThrow(
      'snippets_per_shard was unset, now 2; num_shards was 4, now unset',
    );
    await expect(cut(options)).rejects.toThrow('num_shards was 4, now unset');
    await cut({ ...options, numShards: 2, overwrite: true });
    expect(readdirSync(options.outputDir).toSorted()).toEqual(NAMES_OF_TWO);
    await cut({ ...options, overwrite: true });
    expect(readdirSync(options.outputDir).toSorted()).toEqual([
      ...['failures.jsonl', 'metrics.json', 'snippets.jsonl', 'snippets.tar'],
    ]);
    await expect(cut({ ...options, numShards: 2 })).rejects.toBeInstanceOf(OutputError);
    await cut({ ...options, numShards: 2, overwrite: true });
    expect(readdirSync(options.outputDir).toSorted()).toEqual(NAMES_OF_TWO);
  });

  test('leaves a list alone that a run without shards finds', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    await cut(options);
    const list = path.join(options.outputDir, 'snippets.lst');
    writeFileSync(list, 'mine');
    await cut({ ...options, overwrite: true });
    expect(readFileSync(list, 'utf8')).toBe('mine');
  });

  test('starts again with overwrite where shards were lost, or are of another unfinished run', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context), { snippetsPerShard: 1 });
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    await startDriver(options, { dieAtRecordings: 4, checkpointMs: 0 }).ended;
    await rm(path.join(options.outputDir, 'snippets.000000.tar.partial'));
    await expect(cut(options)).rejects.toThrow(/Cannot go on with .*snippets\.000000\.tar\.partial": it is gone/);
    await cut({ ...options, overwrite: true });
    expectAll(options, expected, 'a shard was lost');
    await rm(options.outputDir, { recursive: true });
    await startDriver(options, { dieAtRecordings: 4, checkpointMs: 0 }).ended;
    const other = { ...options, snippetsPerShard: 5 };
    await expect(cut(other)).rejects.toThrow('snippets_per_shard was 1, now 5');
    await cut({ ...other, overwrite: true });
    expect(listTars(options)).toHaveLength(2);
    expect(readdirSync(options.outputDir).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });
});

describe('a run with shards on a full disk', () => {
  test('names the file it could not write, and goes on as room is made bit by bit', async (context) => {
    const segments = makeSegments(5, 0.2, 0.1);
    const corpus = await writeCorpus(
      await makeFolder(context),
      ['a', 'a-1', 'b', 'c'].map((id, k) => ({ id, file: `${id}.wav`, segments, write: wavOfNoise(1, k + 1) })),
      { minDurationSeconds: 0.05, maxDurationSeconds: 0.15, outputFormat: 'wav', snippetsPerShard: 3 },
    );
    const disk = mountSmallDisk(context, 1 << 20);
    const onDisk = { ...corpus, options: { ...corpus.options, outputDir: path.join(disk, 'out') } };
    const expected = await runUndisturbed(onDisk);
    const ballast = path.join(disk, 'ballast');
    const failed = new Set<string>();
    for (let pages = 252; ; pages -= 5) {
      await rm(ballast, { force: true });
      const { bavail } = await statfs(disk);
      if (pages > 0) await writeFile(ballast, Buffer.alloc(Math.min(pages, bavail) * 4_096));
      try {
        await cut(onDisk.options, { checkpointMs: 0 });
        break;
      } catch (error) {
        if (!(error instanceof OutputError)) throw error;
        expect(error.message).toMatch(/^Cannot .*: no space left on the disk$/);
        failed.add(path.basename(error.path ?? ''));
      }
    }
    expect(
      [...failed].some((name) => /^snippets\.\d+\.tar\.partial$/.test(name)),
      [...failed].join(),
    ).toBe(true);
    expectAll(onDisk.options, expected, 'on a full disk');
  });
});
