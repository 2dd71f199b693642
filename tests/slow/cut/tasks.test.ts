import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { CanceledError } from '#cutroom/errors.js';
import {
  expectOutputs,
  makeFolder,
  makeGoodCorpus,
  makeMixedCorpus,
  makeSegments,
  runUndisturbed,
  wavOfNoise,
  writeCorpus,
} from '../../support/cut-runs.js';
import type { Corpus, Outputs } from '../../support/cut-runs.js';
import { DividedCut } from '../../support/cut-tasks.js';

/** Every file of a folder by its name. */
function readAll(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(path.join(folder, name), 'latin1')]),
  );
}

/** What one run on one machine leaves, and then nothing of it. */
async function runLocally({ options }: Corpus, changes: Partial<CutOptions> = {}): Promise<Record<string, string>> {
  await cut({ ...options, ...changes });
  const files = readAll(options.outputDir);
  await rm(options.outputDir, { recursive: true });
  return files;
}

describe('tasks of a cut', () => {
  test('make the bytes of one run, whatever the number of tasks', async (context) => {
    const corpus = await makeMixedCorpus(await makeFolder(context), 6);
    const expected = await runUndisturbed(corpus);
    for (const reason of ['missing_recording', 'corrupt_recording', 'truncated_recording']) {
      expect(expected.failures).toContain(reason);
    }
    expect(expected.metrics).toContain('opposite phase');
    for (const count of [2, 7]) {
      const divided = await DividedCut.plan(corpus, { count });
      expect(divided.planned.extents).toHaveLength(count);
      await divided.runAll();
      const { kind, isWithinLimit, files } = await divided.finish();
      expect({ kind, isWithinLimit }).toEqual({ kind: 'finished', isWithinLimit: false });
      expect(files.map((file) => path.basename(file)).toSorted()).toEqual(
        readdirSync(corpus.options.outputDir).toSorted(),
      );
      await expectOutputs(corpus.options.outputDir, expected, `of ${count} tasks`);
      expect(Object.keys(readAll(divided.folderOf(0)))).toEqual(['outcomes.jsonl', 'snippets.jsonl', 'snippets.tar']);
      await rm(corpus.options.outputDir, { recursive: true });
    }
  });

  test.for([
    ['wav', { numShards: 3 }],
    ['ogg', { snippetsPerShard: 4 }],
  ] as const)('make the shards of one run in %s', async ([outputFormat, sharding], context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3, { outputFormat, ...sharding });
    const expected = await runLocally(corpus);
    expect(Object.keys(expected).length).toBeGreaterThan(7);
    const divided = await DividedCut.plan(corpus, { count: 2 });
    await divided.runAll();
    await divided.finish();
    expect(readAll(corpus.options.outputDir)).toEqual(expected);
    expect((await divided.finish()).kind).toBe('already_done');
    await expect(divided.finish({ asShards: true })).rejects.toThrow('the plan was made for other shards');
  });

  test('know of clashing names and of transcripts that loop without reading the manifest again', async (context) => {
    const loop = 'one two three four five six seven eight nine ten '.repeat(8);
    const segments = [...makeSegments(2, 1, 0.7), { start: 2, end: 2.7, text: loop }];
    const corpus = await writeCorpus(
      await makeFolder(context),
      ['a.b', 'a/b', 'c'].map((id, k) => ({ id, file: `${k}.wav`, segments, write: wavOfNoise(3, k) })),
      { onClash: 'suffix' },
    );
    const expected = await runUndisturbed(corpus);
    expect(expected.manifest).toMatch(/-x[0-9a-f]{8}\.flac/u);
    expect(expected.metrics).toContain('"repetition": 3');
    const divided = await DividedCut.plan(corpus, { count: 2 });
    await rename(corpus.options.inputManifest, `${corpus.options.inputManifest}.away`);
    await divided.runAll();
    await divided.finish();
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test('find recordings where the mappings say, and name them as the plan does', async (context) => {
    const corpus = await writeCorpus(await makeFolder(context), [
      { id: 'a', file: 'missing.wav', segments: makeSegments(2, 1, 0.7) },
      { id: 'b', file: 'b.wav', segments: makeSegments(2, 1, 0.7), write: wavOfNoise(2, 1) },
    ]);
    const expected = await runUndisturbed(corpus);
    const divided = await DividedCut.plan(corpus, { count: 1 });
    const local = path.join(corpus.folder, 'audio');
    const remote = path.join(corpus.folder, 'elsewhere');
    await rename(local, remote);
    await divided.runAll({ mappings: [{ local, remote }] });
    const finals = path.join(corpus.folder, 'finals');
    const { files } = await divided.finish({ mappings: [{ local: corpus.options.outputDir, remote: finals }] });
    expect(files.every((file) => path.dirname(file) === finals)).toBe(true);
    await expectOutputs(finals, expected);
  });
});

describe('runCutTask()', () => {
  test('goes on where a killed try stopped, and decodes nothing twice', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 4);
    const expected = await runUndisturbed(corpus);
    const divided = await DividedCut.plan(corpus, { count: 1 });
    expect(await divided.runAndDie(0, 2)).toBe('SIGKILL');
    expect(await divided.runAndDie(0, 5)).toBe('SIGKILL');
    expect(existsSync(path.join(divided.folderOf(0), 'outcomes.jsonl'))).toBe(false);
    await rm(path.join(corpus.folder, 'audio'), { recursive: true });
    const outcome = await divided.run(0);
    expect(outcome).toMatchObject({ units: 5, failures: {} });
    expect(await divided.run(0)).toEqual(outcome);
    await divided.finish();
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test('keeps what is finished when it is stopped, and does anew what has changed since', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3);
    const divided = await DividedCut.plan(corpus, { count: 1 });
    const stop = new AbortController();
    const stopped = divided.run(0, {
      signal: stop.signal,
      checkpointMs: 0,
      onProgress: ({ units }) => units >= 2 && stop.abort(new Error('enough')),
    });
    await expect(stopped).rejects.toThrow(CanceledError);
    await wavOfNoise(3, 77)(path.join(corpus.folder, 'audio', '0.wav'));
    await divided.run(0);
    await divided.finish();
    const made = readAll(corpus.options.outputDir);
    await rm(corpus.options.outputDir, { recursive: true });
    expect(made).toEqual(await runLocally(corpus));
  });
});

describe('finishCutTasks()', () => {
  let corpus: Corpus;
  let expected: Outputs;
  let divided: DividedCut;

  // The ids interleave, so that members of one task stand between those of another.
  beforeAll(async () => {
    const cleanUp: (() => unknown)[] = [];
    const folder = await makeFolder({ onTestFinished: (fn) => void cleanUp.push(fn as () => unknown) });
    corpus = await makeGoodCorpus(folder, 12);
    expected = await runUndisturbed(corpus);
    divided = await DividedCut.plan(corpus, { count: 4 });
    await divided.runAll();
    return async () => {
      for (const clean of cleanUp) await clean();
    };
  });

  async function startAnew(): Promise<void> {
    await rm(corpus.options.outputDir, { recursive: true, force: true });
  }

  test('goes on where it was killed', async () => {
    await startAnew();
    expect(await divided.finishAndDie(0.6)).toBe('SIGKILL');
    expect(existsSync(path.join(corpus.options.outputDir, 'metrics.json'))).toBe(false);
    expect((await divided.finish()).kind).toBe('finished');
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test('says that it is done already, also where it may replace', async () => {
    await startAnew();
    await divided.finish();
    expect((await divided.finish({}, { overwrite: true })).kind).toBe('already_done');
    expect((await cut(corpus.options)).kind).toBe('already_done');
  });

  test('salvages the tasks that are done, and replaces that once all are', async () => {
    await startAnew();
    const some = new Map([...divided.done].filter(([task]) => task !== 1));
    await expect(divided.finish({ done: some })).rejects.toThrow('1 of 4 tasks are not done');
    const { kind, summary, isWithinLimit } = await divided.finish({ done: some, salvage: true });
    expect({ kind, isWithinLimit }).toEqual({ kind: 'salvaged', isWithinLimit: true });
    expect(summary.unfinishedSnippets).toBeGreaterThan(0);
    const metrics = JSON.parse(await readFile(path.join(corpus.options.outputDir, 'metrics.json'), 'utf8')) as object;
    expect(metrics).toMatchObject({ complete: false, unfinished_snippets: summary.unfinishedSnippets });
    expect((await divided.finish()).kind).toBe('finished');
    await expectOutputs(corpus.options.outputDir, expected);
    expect((await divided.finish({ done: some, salvage: true })).kind).toBe('already_done');
  });

  test('makes a shard of each task as it is', async () => {
    await startAnew();
    const { outputs, summary } = await divided.finish({ asShards: true });
    expect(summary.shards).toHaveLength(4);
    const files = readAll(corpus.options.outputDir);
    for (const { task } of divided.planned.extents) {
      const { 'snippets.tar': tar, 'snippets.jsonl': rows } = readAll(divided.folderOf(task));
      expect(files[`snippets.00000${task}.tar`] === tar).toBe(true);
      expect(files[`snippets.00000${task}.jsonl`]).toBe(rows);
    }
    const rows = Object.entries(files).flatMap(([name, text]) =>
      /^snippets\..*jsonl$/u.test(name) ? text.trimEnd().split('\n') : [],
    );
    expect(rows.toSorted()).toEqual(Buffer.from(expected.manifest).toString('latin1').trimEnd().split('\n').toSorted());
    expect(
      readFileSync(outputs.list ?? '', 'utf8')
        .trimEnd()
        .split('\n'),
    ).toHaveLength(4);
    expect(JSON.parse(files['metrics.json'] ?? '')).toMatchObject({ complete: true, options: { tasks_as_shards: 4 } });
    expect((await divided.finish({ asShards: true })).kind).toBe('already_done');
    await expect(divided.finish()).rejects.toThrow('tasks_as_shards was 4, now unset');
  });

  test('salvages shards', async () => {
    await startAnew();
    const some = new Map([...divided.done].filter(([task]) => task !== 0));
    const { kind, summary } = await divided.finish({ done: some, salvage: true, asShards: true });
    expect(kind).toBe('salvaged');
    expect(summary.shards.map(({ name }) => name)).toEqual([1, 2, 3].map((task) => `snippets.00000${task}.tar`));
    expect((await divided.finish({ asShards: true })).summary.shards).toHaveLength(4);
  });

  test('replaces nothing of another run', async () => {
    await startAnew();
    await cut({ ...corpus.options, channel: 0 });
    await expect(DividedCut.plan(corpus, { count: 1 }, 'other')).rejects.toThrow('channel was 0, now "average"');
    await expect(divided.finish()).rejects.toThrow('channel was 0, now "average"');
    expect((await divided.finish({}, { overwrite: true })).kind).toBe('finished');
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test('stops, and goes on', async () => {
    await startAnew();
    const stop = new AbortController();
    const stopped = divided.finish({ signal: stop.signal, onProgress: (share) => share > 0.5 && stop.abort() });
    await expect(stopped).rejects.toThrow('The run was stopped');
    await divided.finish();
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test.for([
    ['snippets.tar', 'is truncated'],
    ['outcomes.jsonl', 'inside of what it is to hold'],
  ] as const)('tells of a task of which %s was cut off', async ([name, message]) => {
    await startAnew();
    const file = path.join(divided.folderOf(0), name);
    const bytes = await readFile(file);
    try {
      await truncate(file, Math.floor(bytes.length / 2));
      const refusal = divided.finish();
      await expect(refusal).rejects.toThrow(message);
      if (name === 'snippets.tar') {
        await startAnew();
        await expect(divided.finish({ asShards: true })).rejects.toThrow(`bytes instead of ${bytes.length}`);
        await startAnew();
      }
      await expect(refusal).rejects.toMatchObject({ hint: expect.stringContaining('run the task again') as string });
    } finally {
      await writeFile(file, bytes);
    }
    await divided.finish();
    await expectOutputs(corpus.options.outputDir, expected);
  });
});
