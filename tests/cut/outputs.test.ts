import { existsSync, readdirSync, statSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { OutputError, UsageError } from '#cutroom/errors.js';
import { readTarIndex } from '#cutroom/tar/reader.js';
import {
  expectOutputs,
  HAS_PROC,
  makeFolder,
  makeSegments,
  readOutputs,
  startDriver,
  stopAt,
  wavOfNoise,
  writeCorpus,
} from '../support/cut-runs.js';
import type { Corpus } from '../support/cut-runs.js';
import { mountSmallDisk } from '../support/small-disk.js';

/** Two recordings with two snippets each. */
async function makeTinyCorpus(folder: string, changes: Partial<CutOptions> = {}): Promise<Corpus> {
  const segments = makeSegments(2, 0.5, 0.3);
  return await writeCorpus(
    folder,
    [
      { id: 'a', file: 'a.wav', segments, write: wavOfNoise(1, 1) },
      { id: 'b', file: 'b.wav', segments, write: wavOfNoise(1, 2) },
    ],
    { minDurationSeconds: 0.1, jobs: 1, ...changes },
  );
}

/** When each file of a folder was changed last. */
function modifiedTimes(folder: string): Record<string, number> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(path.join(folder, name)).mtimeMs]));
}

describe('cut() where outputs are', () => {
  test('touches nothing when they are of the same run, and makes them again with overwrite', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    const first = await cut(options);
    expect(first).toMatchObject({ kind: 'cut', isWithinLimit: true, summary: { outputSnippets: 4 } });
    const before = modifiedTimes(options.outputDir);
    const expected = await readOutputs(options.outputDir);
    const again = await cut({ ...options, jobs: 3 });
    expect(again).toMatchObject({ kind: 'already_done', isWithinLimit: true });
    expect({ ...again.summary, warnings: [] }).toMatchObject({ outputSnippets: 4, outputDurationSeconds: 1.2 });
    expect(modifiedTimes(options.outputDir)).toEqual(before);
    expect(await cut({ ...options, salvage: true })).toMatchObject({ kind: 'already_done' });
    expect(await cut({ ...options, overwrite: true })).toMatchObject({ kind: 'cut' });
    expect(modifiedTimes(options.outputDir)).not.toEqual(before);
    await expectOutputs(options.outputDir, expected);
  });

  test('refuses those of other options or another manifest, naming what differs', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context));
    const { options } = corpus;
    await cut(options);
    const before = modifiedTimes(options.outputDir);
    const refusal = cut({ ...options, maxDurationSeconds: 5, repetitionFilter: false, channel: 0 });
    await expect(refusal).rejects.toBeInstanceOf(OutputError);
    await expect(refusal).rejects.toThrow(
      /the outputs there are of another run: max_duration_sec was 2, now 5; repetition_filter was true, now false;.* channel was "average", now 0/,
    );
    await expect(refusal).rejects.toMatchObject({
      path: path.join(options.outputDir, 'metrics.json'),
      hint: 'Choose another --output-dir, or give --overwrite to replace what is there.',
    });
    await appendFile(options.inputManifest, '{"id":"c","audio_filepath":"c.wav","segments":[]}\n');
    await expect(cut(options)).rejects.toThrow('the input manifest has another content');
    expect(modifiedTimes(options.outputDir)).toEqual(before);
    expect(await cut({ ...options, overwrite: true })).toMatchObject({ kind: 'cut', summary: { inputRecordings: 3 } });
  });

  test.for(['snippets.tar', 'snippets.jsonl', 'failures.jsonl'])(
    'says so when %s of a finished run is gone',
    async (name, context) => {
      const { options } = await makeTinyCorpus(await makeFolder(context));
      await cut(options);
      const expected = await readOutputs(options.outputDir);
      const file = path.join(options.outputDir, name);
      await rm(file);
      await expect(cut(options)).rejects.toThrow(`it is of a finished run, but "${file}" is gone`);
      await expect(cut(options)).rejects.toMatchObject({ hint: expect.stringContaining('--overwrite') as string });
      await cut({ ...options, overwrite: true });
      await expectOutputs(options.outputDir, expected);
    },
  );

  test('refuses a tar or a manifest without metrics: they may be anything', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    await cut(options);
    await rm(path.join(options.outputDir, 'metrics.json'));
    await expect(cut(options)).rejects.toThrow('snippets.jsonl": it exists and is not part of a finished run');
    await rm(path.join(options.outputDir, 'snippets.jsonl'));
    await expect(cut(options)).rejects.toThrow('snippets.tar": it exists and is not part of a finished run');
  });

  test.for(['', 'no JSON', 'null', '[]', '"text"', '{"loss": 0.1}', '{"complete": true}'])(
    'refuses %j in place of metrics',
    async (text, context) => {
      const { options } = await makeTinyCorpus(await makeFolder(context));
      await mkdir(options.outputDir);
      await writeFile(path.join(options.outputDir, 'metrics.json'), text);
      const refusal = cut(options);
      await expect(refusal).rejects.toBeInstanceOf(OutputError);
      await expect(refusal).rejects.toThrow('something else than the metrics of a run is there');
      await expect(refusal).rejects.toMatchObject({ hint: expect.stringContaining('--overwrite') as string });
    },
  );
});

describe('cut() with dryRun', () => {
  test('writes what a run would, any number of times, and makes room for the run', async (context) => {
    const { options, folder } = await makeTinyCorpus(await makeFolder(context));
    const audio = path.join(folder, 'audio');
    await rename(audio, `${audio}-away`);
    for (const maxDurationSeconds of [1, 1, 2]) {
      const preview = await cut({ ...options, maxDurationSeconds, dryRun: true });
      expect(preview).toMatchObject({ kind: 'preview', isWithinLimit: true, summary: { outputSnippets: 4 } });
      expect(readdirSync(options.outputDir).toSorted()).toEqual(['failures.jsonl', 'metrics.json', 'snippets.jsonl']);
    }
    const planned = (await readFile(path.join(options.outputDir, 'snippets.jsonl'), 'utf8')).split('\n');
    await rename(`${audio}-away`, audio);
    expect(await cut({ ...options, maxDurationSeconds: 1 })).toMatchObject({ kind: 'cut' });
    const { manifest, metrics } = await readOutputs(options.outputDir);
    expect(manifest.split('\n')).toEqual(planned);
    expect(metrics).toContain('"dry_run": false');
  });

  test('is refused over the outputs of a run', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    await cut(options);
    const before = modifiedTimes(options.outputDir);
    await expect(cut({ ...options, dryRun: true })).rejects.toThrow('the outputs of a run with audio are there');
    expect(modifiedTimes(options.outputDir)).toEqual(before);
  });

  test.skipIf(!HAS_PROC)('loads no codec library, nor does the process that cuts (needs /proc)', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    const preview = await startDriver({ ...options, dryRun: true }).ended;
    expect(preview.result?.kind).toBe('preview');
    expect(preview.libraries).toEqual([]);
    const run = await startDriver(options).ended;
    expect(run.result?.kind).toBe('cut');
    expect(run.libraries).toEqual([]);
  });
});

describe('cut() with salvage', () => {
  test('publishes what is finished, with sums that balance, and ends that run', async (context) => {
    const segments = makeSegments(3, 0.5, 0.3);
    const corpus = await writeCorpus(
      await makeFolder(context),
      [
        { id: 'a', file: 'a.wav', segments, write: wavOfNoise(2, 1) },
        { id: 'b', file: 'missing.wav', segments },
        { id: 'c', file: 'c.wav', segments, write: wavOfNoise(2, 2) },
        { id: 'd', file: 'd.wav', segments, write: wavOfNoise(2, 3) },
      ],
      { minDurationSeconds: 0.1, jobs: 1 },
    );
    const { options } = corpus;
    await stopAt(corpus, 3, { checkpointMs: 0 });
    const salvaged = await cut({ ...options, salvage: true });
    expect(salvaged).toMatchObject({
      kind: 'salvaged',
      summary: { outputSnippets: 6, unfinishedSnippets: 3, failedSnippets: { missing_recording: 3 } },
    });
    const outputs = await readOutputs(options.outputDir);
    const metrics = JSON.parse(outputs.metrics) as Record<string, unknown>;
    expect(metrics).toMatchObject({
      complete: false,
      input_total_segments: 12,
      output_total_segments: 6,
      failed_segments: 3,
      unfinished_snippets: 3,
      unfinished_segments: 3,
    });
    const rows = outputs.manifest.trimEnd().split('\n');
    const names = rows.map((row) => (JSON.parse(row) as { audio_filepath: string }).audio_filepath);
    const { members } = await readTarIndex(path.join(options.outputDir, 'snippets.tar'));
    expect(members.map(({ name }) => name)).toEqual(names);
    expect(names).toEqual(names.toSorted());
    expect(outputs.failures.trimEnd().split('\n')).toHaveLength(3);
    const refusal = cut(options);
    await expect(refusal).rejects.toThrow('the outputs there were salvaged from this run before it was complete');
    await expect(refusal).rejects.toMatchObject({ hint: expect.stringContaining('--overwrite') as string });
    expect(await cut({ ...options, overwrite: true })).toMatchObject({ kind: 'cut', summary: { outputSnippets: 9 } });
  });

  test('has nothing to do where nothing is unfinished, and says so', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    await expect(cut({ ...options, salvage: true })).rejects.toThrow(/There is no unfinished run in ".*" to salvage/);
    expect(existsSync(path.join(options.outputDir, '.cutroom-cut'))).toBe(false);
  });

  test('refuses to publish nothing, and leaves the run to be continued', async (context) => {
    const segments = makeSegments(2, 0.5, 0.3);
    const corpus = await writeCorpus(
      await makeFolder(context),
      [
        { id: 'a', file: 'missing.wav', segments },
        { id: 'b', file: 'b.wav', segments, write: wavOfNoise(1, 2) },
      ],
      { minDurationSeconds: 0.1, jobs: 1 },
    );
    const { options } = corpus;
    await stopAt(corpus, 1);
    const refusal = cut({ ...options, salvage: true });
    await expect(refusal).rejects.toThrow('has not finished any snippet that could be salvaged');
    await expect(refusal).rejects.toMatchObject({ hint: expect.stringContaining('without --salvage') as string });
    expect(await cut(options)).toMatchObject({ kind: 'cut', summary: { outputSnippets: 2 } });
  });

  test('is complete where all was finished before the stop', async (context) => {
    const corpus = await makeTinyCorpus(await makeFolder(context));
    const { options } = corpus;
    await cut({ ...options, outputDir: path.join(corpus.folder, 'whole') });
    await startDriver(options, { dieAtPublish: true }).ended;
    expect(await cut({ ...options, salvage: true })).toMatchObject({ kind: 'cut', summary: { unfinishedSnippets: 0 } });
    await expectOutputs(options.outputDir, await readOutputs(path.join(corpus.folder, 'whole')));
  });
});

describe('cut() and where its outputs lie', () => {
  test('refuses outputs that are one file', async (context) => {
    const folder = await makeFolder(context);
    const { options } = await makeTinyCorpus(folder);
    const one = path.join(folder, 'one');
    const sameOnes: Partial<CutOptions>[] = [
      { outputManifest: one, outputAudioTarPath: one, metricsPath: one },
      { outputManifest: one, metricsPath: path.join(folder, 'audio', '..', 'one') },
      { metricsPath: path.join(options.outputDir, 'failures.jsonl') },
      { outputManifest: options.inputManifest },
      { outputManifest: path.join(options.outputDir, 'snippets.tar.partial') },
      { outputManifest: `${one}.lock`, outputAudioTarPath: one },
    ];
    for (const paths of sameOnes) {
      await expect(cut({ ...options, ...paths }), JSON.stringify(paths)).rejects.toBeInstanceOf(UsageError);
    }
    await symlink(folder, path.join(folder, 'link'));
    const linked = { outputManifest: one, outputAudioTarPath: path.join(folder, 'link', 'one') };
    await expect(cut({ ...options, ...linked })).rejects.toThrow('are one file');
  });

  test('refuses a folder in place of an output, and a file in place of the folder', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    for (const name of ['snippets.tar', 'snippets.jsonl', 'metrics.json', 'failures.jsonl']) {
      const place = path.join(options.outputDir, name);
      await mkdir(place, { recursive: true });
      const refusal = cut({ ...options, overwrite: true });
      await expect(refusal).rejects.toThrow(`Cannot write "${place}": it is a folder`);
      await expect(refusal).rejects.toMatchObject({ code: 'output', path: place });
      await rm(place, { recursive: true });
    }
    await rm(options.outputDir, { recursive: true, force: true });
    await writeFile(options.outputDir, 'a file');
    await expect(cut(options)).rejects.toMatchObject({ code: 'output', path: options.outputDir });
  });

  test('names a folder that cannot be written', async (context) => {
    const { options } = await makeTinyCorpus(await makeFolder(context));
    const disk = mountSmallDisk(context, 1 << 16, { readOnly: true });
    for (const outputDir of [disk, path.join(disk, 'new')]) {
      const refusal = cut({ ...options, outputDir });
      await expect(refusal).rejects.toMatchObject({ code: 'output', path: outputDir });
      await expect(refusal).rejects.toThrow('the file system is read-only');
    }
    const tar = path.join(disk, 'x.tar');
    await expect(cut({ ...options, outputAudioTarPath: tar })).rejects.toMatchObject({ path: disk });
    expect(existsSync(path.join(options.outputDir, '.cutroom-cut'))).toBe(false);
  });

  test.for([
    ['glob characters', 'a*b?[c]{d,e}!(f)'],
    ['spaces and quotes', ` it's "so" `],
    ['a newline', 'one\ntwo'],
    ['letters of other alphabets', 'søk-語-🎧'],
    ['a name like an option', '--help'],
    ['a percent sign and a hash', '100%25#1'],
  ] as const)('takes paths with %s', async ([, name], context) => {
    const folder = path.join(await makeFolder(context), name);
    const { options } = await makeTinyCorpus(folder);
    expect(await cut(options)).toMatchObject({ kind: 'cut', summary: { outputSnippets: 4 } });
    expect(await cut(options)).toMatchObject({ kind: 'already_done' });
  });

  test('takes relative paths, and outputs that lie in other folders', async (context) => {
    const folder = await makeFolder(context);
    const { options } = await makeTinyCorpus(folder);
    await cut({ ...options, outputDir: path.join(folder, 'whole') });
    const relative = (file: string): string => path.relative('.', path.join(folder, file));
    const elsewhere = {
      ...options,
      inputManifest: relative('manifest.jsonl'),
      outputDir: relative('out'),
      outputManifest: relative('rows/manifest'),
      outputAudioTarPath: relative('tars/deep/audio'),
      metricsPath: relative('figures/m'),
    };
    expect(await cut(elsewhere)).toMatchObject({ kind: 'cut', outputs: { tar: path.join(folder, 'tars/deep/audio') } });
    expect(readdirSync(path.join(folder, 'out'))).toEqual(['failures.jsonl']);
    for (const place of ['rows', 'tars/deep', 'figures']) expect(readdirSync(path.join(folder, place))).toHaveLength(1);
    const whole = await readOutputs(path.join(folder, 'whole'));
    await rename(path.join(folder, 'rows/manifest'), path.join(folder, 'out/snippets.jsonl'));
    await rename(path.join(folder, 'tars/deep/audio'), path.join(folder, 'out/snippets.tar'));
    await rename(path.join(folder, 'figures/m'), path.join(folder, 'out/metrics.json'));
    await expectOutputs(path.join(folder, 'out'), whole);
  });
});

describe('cut() with maxFailures', () => {
  test('counts rows and snippets that failed, in numbers or in hundredths', async (context) => {
    const folder = await makeFolder(context);
    const segments = makeSegments(2, 0.5, 0.3);
    const { options } = await writeCorpus(
      folder,
      [
        { id: 'a', file: 'a.wav', segments, write: wavOfNoise(1, 1) },
        { id: 'a', file: 'double.wav', segments },
        { id: 'b', file: 'missing.wav', segments },
        { id: 'c', file: 'c.wav', segments, write: wavOfNoise(1, 1) },
      ],
      { minDurationSeconds: 0.1 },
    );
    const first = await cut(options);
    expect(first).toMatchObject({ kind: 'cut', isWithinLimit: false });
    expect(first.summary).toMatchObject({ skippedRows: { duplicate_id: 1 }, failedSnippets: { missing_recording: 2 } });
    // One row of four, two snippets of six; the same run again says the same.
    for (const [maxFailures, isWithinLimit] of [
      [{ count: 2 }, false],
      [{ count: 3 }, true],
      [{ percent: 33 }, false],
      [{ percent: 33.4 }, true],
      [{ percent: 0 }, false],
      [{ percent: 100 }, true],
    ] as const) {
      expect(await cut({ ...options, maxFailures }), JSON.stringify(maxFailures)).toMatchObject({
        kind: 'already_done',
        isWithinLimit,
      });
    }
  });
});
