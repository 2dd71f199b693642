import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import { OutputError } from '#cutroom/errors.js';
import {
  expectOutputs,
  HAS_PROC,
  isSoon,
  listParts,
  listChildren,
  makeFolder,
  makeGoodCorpus,
  makeMixedCorpus,
  makeSegments,
  runUndisturbed,
  startDriver,
  stopAt,
  wavOfNoise,
  writeCorpus,
} from '../../support/cut-runs.js';

describe('cut()', () => {
  test('gives the same bytes whatever the number of jobs and wherever it was stopped', async (context) => {
    const corpus = await makeMixedCorpus(await makeFolder(context), 8);
    const { options } = corpus;
    const expected = await runUndisturbed({ ...corpus, options: { ...options, jobs: 1 } });
    expect(expected.metrics).toContain('opposite phase');
    expect(expected.metrics).toContain('samples are not numbers');
    for (const reason of ['missing_recording', 'corrupt_recording', 'truncated_recording']) {
      expect(expected.failures).toContain(reason);
    }
    expect(expected.failures).not.toContain('"id":"c"');
    for (const [jobs, recordings] of [
      [4, 2],
      [1, 7],
    ] as const) {
      await stopAt({ ...corpus, options: { ...options, jobs } }, recordings, { checkpointMs: 0 });
      await cut(options);
      await expectOutputs(options.outputDir, expected, `stopped at ${recordings} of ${jobs} jobs`);
      await rm(options.outputDir, { recursive: true });
    }
  });

  test('decodes nothing twice: what was cut before a stop needs no recording any more', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    const expected = await runUndisturbed(corpus);
    const end = await startDriver(corpus.options, { dieAtPublish: true }).ended;
    expect(end.signal).toBe('SIGKILL');
    expect(existsSync(path.join(corpus.options.outputDir, 'metrics.json'))).toBe(false);
    await rm(path.join(corpus.folder, 'audio'), { recursive: true });
    expect((await cut(corpus.options)).kind).toBe('cut');
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test('does not decode a recording again that failed before a stop', async (context) => {
    const folder = await makeFolder(context);
    const corpus = await writeCorpus(folder, [
      { id: 'a', file: 'missing.wav', segments: makeSegments(2, 1, 0.7) },
      { id: 'b', file: 'b.wav', segments: makeSegments(2, 1, 0.7), write: wavOfNoise(3, 1) },
    ]);
    const expected = await runUndisturbed(corpus);
    await startDriver(corpus.options, { dieAtPublish: true }).ended;
    const children = new Set<number>();
    const watch = HAS_PROC
      ? setInterval(() => listChildren(process.pid).forEach((pid) => children.add(pid)), 1)
      : undefined;
    await cut(corpus.options);
    clearInterval(watch);
    expect([...children]).toEqual([]);
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test.for(['SIGTERM'] as const)('stops at %s within 5 s and keeps every finished snippet', async (signal, context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 60);
    const expected = await runUndisturbed(corpus);
    const driver = startDriver(corpus.options, { checkpointMs: 0 });
    expect(await isSoon(() => countParts(corpus.options.outputDir) > 1, 10_000)).toBe(true);
    await sleep(20);
    const startMs = performance.now();
    driver.kill(signal);
    const { error } = await driver.ended;
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(error).toMatchObject({
      name: 'CanceledError',
      code: 'canceled',
      hint: expect.stringContaining('again') as string,
    });
    expect(existsSync(path.join(corpus.options.outputDir, 'snippets.tar'))).toBe(false);
    expect(existsSync(path.join(corpus.options.outputDir, '.cutroom-cut', 'lock'))).toBe(false);
    await cut(corpus.options);
    await expectOutputs(corpus.options.outputDir, expected);
  });

  test('is refused while another run works in the folder, naming its process', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 20);
    const expected = await runUndisturbed(corpus);
    const driver = startDriver(corpus.options);
    expect(await isSoon(() => countParts(corpus.options.outputDir) > 0, 10_000)).toBe(true);
    const failure = cut({ ...corpus.options, overwrite: true, maxDurationSeconds: 9 });
    await expect(failure).rejects.toBeInstanceOf(OutputError);
    await expect(failure).rejects.toThrow(`process ${driver.pid} on`);
    expect((await driver.ended).error).toBeUndefined();
    await expectOutputs(corpus.options.outputDir, expected);
  });
});

describe('cut() over the work of another run', () => {
  test('names the options that differ, and takes --overwrite', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    const { options } = corpus;
    await stopAt(corpus, 2);
    const changed = { ...options, outputFormat: 'wav', maxDurationSeconds: 3 } as const;
    await expect(cut(changed)).rejects.toThrow(
      /An unfinished run in .* is another one: max_duration_sec was 2, now 3; output_format was "flac", now "wav"/,
    );
    await expect(cut(changed)).rejects.toMatchObject({ hint: expect.stringContaining('--overwrite') as string });
    await expect(cut({ ...options, metricsPath: path.join(corpus.folder, 'm.json') })).rejects.toThrow(
      /the metrics was to go to/,
    );
    await expect(cut({ ...options, dryRun: true })).rejects.toThrow('An unfinished run is in');
    await expect(cut({ ...changed, salvage: true })).rejects.toThrow('another one');
    // Refusals leave the work as it is.
    const undisturbed = { ...corpus, options: { ...changed, outputDir: path.join(corpus.folder, 'other') } };
    const expected = await runUndisturbed(undisturbed);
    expect((await cut({ ...changed, overwrite: true })).kind).toBe('cut');
    await expectOutputs(options.outputDir, expected);
  });

  test('names a manifest that has changed', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    await stopAt(corpus, 2);
    await appendFile(corpus.options.inputManifest, '\n{"id":"new","audio_filepath":"new.wav","segments":[]}\n');
    await expect(cut(corpus.options)).rejects.toThrow('the input manifest has another content');
  });

  test('names another version of the program', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context));
    await stopAt(corpus, 2);
    const journal = path.join(corpus.options.outputDir, '.cutroom-cut', 'journal');
    const { formatJournalLine } = await import('#cutroom/run/journal-reader.js');
    const lines = (await readFile(journal, 'utf8')).split('\n');
    const head = JSON.parse(lines[0]?.slice(9) ?? '') as { identity: { cutroom_version: string } };
    head.identity.cutroom_version = '0.0.1';
    await writeFile(journal, [formatJournalLine(head).toString().trimEnd(), ...lines.slice(1)].join('\n'));
    await expect(cut(corpus.options)).rejects.toThrow(/cutroom_version was "0\.0\.1", now/);
  });

  test('refuses a recording that was replaced since it was cut, and takes --overwrite', async (context) => {
    const corpus = await makeGoodCorpus(await makeFolder(context), 4, { jobs: 1 });
    const { options } = corpus;
    await stopAt(corpus, 3);
    const replaced = path.join(corpus.folder, 'audio', '0.wav');
    await wavOfNoise(5, 99)(replaced);
    await expect(cut(options)).rejects.toThrow(`"${replaced}" has changed since it was cut`);
    await expect(cut(options)).rejects.toMatchObject({ hint: 'Start again with --overwrite.' });
    const expected = await runUndisturbed({
      ...corpus,
      options: { ...options, outputDir: path.join(corpus.folder, 'other') },
    });
    await cut({ ...options, overwrite: true });
    await expectOutputs(options.outputDir, expected);
  });
});

/** How many part files a run has begun. */
function countParts(outputDir: string): number {
  return listParts(outputDir).filter((file) => file.endsWith('.part')).length;
}
