import { existsSync, readdirSync, statSync } from 'node:fs';
import { copyFile, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import {
  expectOutputs,
  finishDriver,
  HAS_PROC,
  isAlive,
  isSoon,
  listParts,
  listChildren,
  makeFolder,
  makeGoodCorpus,
  makeSegments,
  readOutputs,
  runUndisturbed,
  startDriver,
  stopAt,
  wavOfNoise,
  writeCorpus,
} from '../../support/cut-runs.js';

describe('cut()', () => {
  test.skipIf(!HAS_PROC)('stops at a Ctrl-C, which goes to its decoders too (needs /proc)', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 60);
    const expected = await runUndisturbed(corpus);
    const driver = startDriver(corpus.options, { detached: true });
    expect(await isSoon(() => listChildren(driver.pid).length > 0, 10_000)).toBe(true);
    await sleep(120);
    const children = listChildren(driver.pid);
    process.kill(-driver.pid, 'SIGINT');
    expect((await driver.ended).error).toMatchObject({ name: 'CanceledError' });
    expect(children.some(isAlive)).toBe(false);
    await cut(corpus.options);
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test('is refused while another run writes one of its outputs elsewhere', async (context) => {
    const folder = await makeFolder(context);
    const corpus = await makeGoodCorpus(folder, 20);
    const shared = { ...corpus.options, outputAudioTarPath: path.join(folder, 'tars', 'one.tar') };
    const driver = startDriver(shared);
    expect(await isSoon(() => countParts(shared.outputDir) > 0, 10_000)).toBe(true);
    const other = path.join(folder, 'other');
    await expect(cut({ ...shared, outputDir: other })).rejects.toThrow(`one.tar.lock": process ${driver.pid} on`);
    expect(readdirSync(other)).toEqual([]);
    expect((await driver.ended).error).toBeUndefined();
    expect(readdirSync(path.join(folder, 'tars'))).toEqual(['one.tar']);
  });

  test('takes the lock of a killed run over', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    const expected = await runUndisturbed(corpus);
    await startDriver(corpus.options, { dieAtRecordings: 1 }).ended;
    const lock = path.join(corpus.options.outputDir, '.cutroom-cut', 'lock');
    // A clock that was set back since: the lock is from the future.
    await utimes(lock, new Date(2090, 0), new Date(2090, 0));
    const startMs = performance.now();
    await cut(corpus.options);
    expect(performance.now() - startMs).toBeLessThan(10_000);
    await expectOutputs(corpus.options.outputDir, expected);
  });
});

describe('cut() over the work of another run', () => {
  test('drops what was cut of a recording that was replaced before it was done', async (context) => {
    const folder = await makeFolder(context);
    const recording = path.join(folder, 'audio', 'a.wav');
    const corpus = await writeCorpus(folder, [
      { id: 'a', file: 'a.wav', segments: makeSegments(200, 1, 0.7), write: wavOfNoise(200, 1) },
    ]);
    const driver = startDriver(corpus.options);
    expect(await isSoon(() => indexBytes(corpus.options.outputDir) > 1_000, 10_000)).toBe(true);
    driver.kill('SIGKILL');
    await driver.ended;
    await copyFile(recording, `${recording}.old`);
    await wavOfNoise(200, 2)(recording);
    const expected = await runUndisturbed({
      ...corpus,
      options: { ...corpus.options, outputDir: path.join(folder, 'new') },
    });
    await cut(corpus.options);
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test.for([
    ['a tar that was removed', 'snippets.tar.partial', 'it is gone'],
    ['a tar that was shortened', 'snippets.tar.partial', 'it has 512 bytes'],
    ['a manifest that was removed', 'snippets.jsonl.partial', 'it is gone'],
    ['a manifest that was shortened', 'snippets.jsonl.partial', 'it has 100 bytes'],
  ] as const)('refuses %s, and takes --overwrite', async ([, name, state], context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    await startDriver(options, { dieAtPublish: true, checkpointMs: 0 }).ended;
    const partial = path.join(options.outputDir, name);
    if (state === 'it is gone') await rm(partial);
    else await truncate(partial, name.includes('tar') ? 512 : 100);
    await expect(cut(options)).rejects.toThrow(`Cannot go on with "${partial}": ${state}, the journal says`);
    await expect(cut(options)).rejects.toMatchObject({ path: partial, hint: 'Start again with --overwrite.' });
    await cut({ ...options, overwrite: true });
    await expectOutputs(options.outputDir, expected);
  });

  test('refuses a journal that is damaged in its middle, and takes --overwrite', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    const { options } = corpus;
    const expected = await runUndisturbed(corpus);
    await stopAt(corpus, 3);
    const journal = path.join(options.outputDir, '.cutroom-cut', 'journal');
    const bytes = await readFile(journal);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await writeFile(journal, bytes);
    await expect(cut(options)).rejects.toThrow('line 1 is damaged');
    await expect(cut(options)).rejects.toMatchObject({ code: 'output', hint: 'Start again with --overwrite.' });
    await cut({ ...options, overwrite: true });
    await expectOutputs(options.outputDir, expected);
  });

  test.for(['deleted', 'emptied'])(
    'starts anew where the journal was %s, and never uses the parts that were left',
    async (what, context) => {
      const corpus = await makeGoodCorpus(await makeFolder(context));
      const { options } = corpus;
      await stopAt(corpus, 4);
      const journal = path.join(options.outputDir, '.cutroom-cut', 'journal');
      await (what === 'deleted' ? rm(journal) : truncate(journal));
      const changed = { ...options, outputFormat: 'wav' } as const;
      const other = { ...corpus, options: { ...changed, outputDir: path.join(corpus.folder, 'other') } };
      const expected = await runUndisturbed(other);
      await cut(changed);
      await expectOutputs(options.outputDir, expected);
    },
  );

  test('goes on where an interrupted --overwrite stopped', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    const { options } = corpus;
    await cut({ ...options, outputFormat: 'wav' });
    const expected = await runUndisturbed({
      ...corpus,
      options: { ...options, outputDir: path.join(corpus.folder, 'other') },
    });
    await startDriver({ ...options, overwrite: true }, { dieAtPublish: true }).ended;
    const before = await readOutputs(options.outputDir);
    expect(before.metrics).toContain('"output_format": "wav"');
    await rm(path.join(corpus.folder, 'audio'), { recursive: true });
    await cut({ ...options, overwrite: true });
    await expectOutputs(options.outputDir, expected);
  });
});

test('a run whose work folder is deleted ends with its path, and the next one is whole', async (context) => {
  const corpus = await makeGoodCorpus(await makeFolder(context), 60);
  const { options } = corpus;
  const expected = await runUndisturbed(corpus);
  const driver = startDriver(options);
  const work = path.join(options.outputDir, '.cutroom-cut');
  expect(await isSoon(() => countParts(options.outputDir) > 0, 10_000)).toBe(true);
  await rm(work, { recursive: true, force: true, maxRetries: 5 });
  const { error } = await driver.ended;
  expect(error).toMatchObject({ name: 'OutputError', hint: expect.any(String) as string });
  expect(error?.message).toContain(work);
  await cut(options);
  await expectOutputs(options.outputDir, expected);
});

test('a finished run whose folder of parts was not cleared is cleared by the next call', async (context) => {
  const corpus = await makeGoodCorpus(await makeFolder(context));
  const { options } = corpus;
  await stopAt(corpus, 4);
  const work = path.join(options.outputDir, '.cutroom-cut');
  const parts = readdirSync(work).find((name) => name.startsWith('parts'));
  if (parts === undefined) throw new Error('There are no parts');
  const kept = path.join(corpus.folder, 'kept');
  await finishDriver({ ...options, outputDir: kept });
  await rm(path.join(work, 'journal'));
  for (const name of readdirSync(kept)) await copyFile(path.join(kept, name), path.join(options.outputDir, name));
  for (const name of ['snippets.tar.partial', 'snippets.jsonl.partial']) await rm(path.join(options.outputDir, name));
  const { mtimeMs } = await stat(path.join(options.outputDir, 'snippets.tar'));
  expect((await cut(options)).kind).toBe('already_done');
  expect((await stat(path.join(options.outputDir, 'snippets.tar'))).mtimeMs).toBe(mtimeMs);
  expect(existsSync(work)).toBe(false);
});

/** How many part files a run has begun. */
function countParts(outputDir: string): number {
  return listParts(outputDir).filter((file) => file.endsWith('.part')).length;
}

function indexBytes(outputDir: string): number {
  const indexes = listParts(outputDir).filter((file) => file.endsWith('.index'));
  return indexes.reduce((sum, file) => sum + statSync(file).size, 0);
}
