import { mkdirSync, readdirSync } from 'node:fs';
import { copyFile, cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import { OutputError } from '#cutroom/errors.js';
import {
  expectOutputs,
  makeFolder,
  makeGoodCorpus,
  readOutputs,
  runUndisturbed,
  startDriver,
} from '../../support/cut-runs.js';
import type { Corpus } from '../../support/cut-runs.js';

/** Runs up to the publishing and makes it fail at one step: a folder stands where a file is to be written. */
async function failAt({ options }: Corpus, name: string): Promise<string> {
  const obstacle = path.join(options.outputDir, name);
  const failure = cut(options, {
    onProgress: ({ stage }) => {
      if (stage === 'publish') mkdirSync(obstacle);
    },
  });
  await expect(failure).rejects.toBeInstanceOf(OutputError);
  await expect(failure).rejects.toMatchObject({ path: obstacle });
  return obstacle;
}

/** The steps, by what stands in the way of each, and the outputs that are in place before it. */
const STEPS = [
  ['the metrics of an earlier run are removed', 'metrics.json', []],
  ['the tar is moved', 'snippets.tar', []],
  ['the manifest is moved', 'snippets.jsonl', ['snippets.tar']],
  ['the failures are written', 'failures.jsonl.partial', ['snippets.jsonl', 'snippets.tar']],
  ['the failures are moved', 'failures.jsonl', ['snippets.jsonl', 'snippets.tar']],
  ['the metrics are written', 'metrics.json.partial', ['failures.jsonl', 'snippets.jsonl', 'snippets.tar']],
] as const;

describe('a run that ends while it publishes', () => {
  test.for(STEPS)('goes on where %s, without a recording', async ([, name, finals], context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3);
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    const obstacle = await failAt(corpus, name);
    const inPlace = readdirSync(options.outputDir).filter((file) => /^[a-z]+\.[a-z]+$/.test(file) && file !== name);
    expect(inPlace.toSorted()).toEqual(finals);
    await rm(obstacle, { recursive: true });
    await rm(path.join(corpus.folder, 'audio'), { recursive: true });
    expect(await cut(options)).toMatchObject({ kind: 'cut', isWithinLimit: true });
    await expectOutputs(options.outputDir, expected);
  });

  test.for(STEPS)('replaces an earlier run with overwrite, stopped where %s', async ([, name], context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3);
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    const earlier = { ...options, outputFormat: 'wav', overwrite: true } as const;
    await failAt({ ...corpus, options: earlier }, name);
    await rm(path.join(options.outputDir, name), { recursive: true });
    await expect(cut(options)).rejects.toThrow('output_format was "wav", now "flac"');
    expect(await cut({ ...options, overwrite: true })).toMatchObject({ kind: 'cut' });
    await expectOutputs(options.outputDir, expected);
  });

  test('goes on where all is in place but the work folder was not cleared', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3);
    const { options } = corpus;
    const obstacle = await failAt(corpus, 'metrics.json.partial');
    await rm(obstacle, { recursive: true });
    const work = path.join(options.outputDir, '.cutroom-cut');
    const kept = path.join(corpus.folder, 'kept');
    await cp(work, kept, { recursive: true });
    await cut(options);
    const expected = await readOutputs(options.outputDir);
    await cp(kept, work, { recursive: true });
    expect(await cut(options)).toMatchObject({ kind: 'cut' });
    await expectOutputs(options.outputDir, expected);
  });

  test('says so when what was published is not what was written, and takes --overwrite', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3);
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    for (const name of ['snippets.tar', 'snippets.jsonl']) {
      const obstacle = await failAt(corpus, 'failures.jsonl.partial');
      await rm(obstacle, { recursive: true });
      await writeFile(path.join(options.outputDir, name), 'something else');
      const refusal = cut(options);
      await expect(refusal).rejects.toThrow(`Cannot publish "${path.join(options.outputDir, name)}": neither it nor`);
      await expect(refusal).rejects.toMatchObject({ hint: 'Start again with --overwrite.' });
      await cut({ ...options, overwrite: true });
      await expectOutputs(options.outputDir, expected);
      await rm(options.outputDir, { recursive: true });
    }
  });

  test('publishes a salvage as such, also when it is continued without the word', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3, { jobs: 1 });
    const { options } = corpus;
    const end = await startDriver(options, { dieAtRecordings: 2, checkpointMs: 0 }).ended;
    expect(end.signal).toBe('SIGKILL');
    const copy = path.join(corpus.folder, 'copy');
    await cp(options.outputDir, copy, { recursive: true });
    await cut({ ...options, salvage: true });
    const expected = await readOutputs(options.outputDir);
    expect(expected.metrics).toContain('"complete": false');
    for (const [, name] of STEPS) {
      await rm(options.outputDir, { recursive: true });
      await mkdir(options.outputDir);
      await cp(copy, options.outputDir, { recursive: true });
      const obstacle = await failAt({ ...corpus, options: { ...options, salvage: true } }, name);
      await rm(obstacle, { recursive: true });
      expect(await cut(options)).toMatchObject({ kind: 'salvaged' });
      await expectOutputs(options.outputDir, expected, name);
    }
  });

  test('publishes what was cut although recordings have changed since', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 3);
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    const obstacle = await failAt(corpus, 'failures.jsonl.partial');
    await rm(obstacle, { recursive: true });
    const audio = path.join(corpus.folder, 'audio');
    await copyFile(path.join(audio, '1.wav'), path.join(audio, 'new.wav'));
    await rename(path.join(audio, 'new.wav'), path.join(audio, '0.wav'));
    await cut(options);
    await expectOutputs(options.outputDir, expected);
  });
});
