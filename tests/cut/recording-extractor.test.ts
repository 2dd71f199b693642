import { readdirSync } from 'node:fs';
import { readFile, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { extractRecording } from '#cutroom/cut/extract.js';
import type { ExtractJob } from '#cutroom/cut/extract.js';
import { resolveCutOptions } from '#cutroom/cut/options.js';
import { indexPath } from '#cutroom/cut/part.js';
import { planCut } from '#cutroom/cut/cut.js';
import { RecordingExtractor } from '#cutroom/cut/recording-extractor.js';
import { OutputError } from '#cutroom/errors.js';
import type { JobOutcome, ProcessPool } from '#cutroom/run/process-pool.js';
import { interleaveChannels, makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { makeFolder, makeSegments, wavOfNoise, writeCorpus } from '../support/cut-runs.js';

type Answer = (job: ExtractJob, attempt: number) => Promise<JobOutcome<unknown>>;

/** Does a job in this process. */
const doIt: Answer = async (job) => ({ kind: 'done', value: await extractRecording(job, () => Promise.resolve()) });

/** Plans one recording of three snippets and has it cut by what stands in for the pool. */
async function setUp(context: TestContext, write = wavOfNoise(3, 1)) {
  const folder = await makeFolder(context);
  const { options } = await writeCorpus(folder, [{ id: 'a', file: 'a.wav', segments: makeSegments(3, 1, 0.7), write }]);
  const plan = await planCut(options);
  context.onTestFinished(() => plan.close());
  const recording = await plan.recording(0);
  const parts = await makeFolder(context);
  const jobs: ExtractJob[] = [];
  const extract = async (answer: Answer) => {
    const run = (job: ExtractJob) => answer(job, jobs.push(job) - 1);
    const extractor = new RecordingExtractor({ run } as unknown as ProcessPool, parts, resolveCutOptions(options));
    await extractor.scan();
    return await extractor.extract(recording, new AbortController().signal, () => undefined);
  };
  return { extract, jobs, parts, audioPath: recording.audioPath };
}

/** Does a job and dies before it says so, when its index has lost its last lines. */
function dieWith(lines: number): Answer {
  return async (job) => {
    await doIt(job, 0);
    const text = await readFile(indexPath(job.part), 'utf8');
    await truncate(indexPath(job.part), text.split('\n').slice(0, lines).join('\n').length + 1);
    return { kind: 'died', how: 'SIGKILL' };
  };
}

describe('RecordingExtractor.extract()', () => {
  test('has a recording cut once', async (context) => {
    const { extract, jobs, parts } = await setUp(context);
    const { outcome, stored } = await extract(doIt);
    expect(outcome).toMatchObject({ recording: 0, attempts: 1, warnings: [] });
    expect(outcome.snippets.map(([ordinal, samples]) => [ordinal, samples])).toEqual([
      [0, 11_200],
      [1, 11_200],
      [2, 11_200],
    ]);
    expect([...stored.keys()]).toEqual([0, 1, 2]);
    expect(jobs).toHaveLength(1);
    expect(readdirSync(parts).toSorted()).toEqual(['0.0.index', '0.0.part']);
  });

  test('asks a second process for what the first did not make, and says the same', async (context) => {
    const { extract, jobs } = await setUp(context);
    // The source and one snippet are noted.
    const { outcome } = await extract((job, attempt) => (attempt === 0 ? dieWith(2) : doIt)(job, attempt));
    expect(jobs.map(({ snippets }) => snippets.map(({ isDone }) => isDone))).toEqual([
      [false, false, false],
      [true, false, false],
    ]);
    expect(outcome.snippets).toHaveLength(3);
    expect(outcome.failure).toBeUndefined();
  });

  test('warns of the same, whether a recording was cut in one go or in two', async (context) => {
    const left = makeNoise(3 * 16_000);
    for (const second of [0.2, 1.2, 2.2]) left[second * 16_000] = NaN;
    // Cancels less and less.
    const right = left.map((sample, n) => -sample * (1 - (0.15 * n) / left.length));
    const wav = buildWav(interleaveChannels(left, right), { encoding: 'f32', channels: 2 });
    const write = (filePath: string) => writeFile(filePath, wav);
    const { outcome } = await (await setUp(context, write)).extract(doIt);
    expect(outcome.warnings).toHaveLength(2);
    for (const lines of [1, 2, 3, 4]) {
      const again = await setUp(context, write);
      const { outcome: ofTwo } = await again.extract((job, attempt) =>
        (attempt === 0 ? dieWith(lines) : doIt)(job, attempt),
      );
      expect(again.jobs).toHaveLength(2);
      expect(ofTwo.warnings).toEqual(outcome.warnings);
    }
  });

  test('takes the word of a process that died behind its last snippet', async (context) => {
    const { extract, jobs } = await setUp(context);
    const { outcome } = await extract(dieWith(100));
    expect(jobs).toHaveLength(1);
    expect(outcome).toMatchObject({ attempts: 1, warnings: [] });
  });

  test('fails what is missing when two processes died, and after one that hung', async (context) => {
    const { extract } = await setUp(context);
    const twice = await extract((job, attempt) => (attempt === 0 ? dieWith(2)(job, 0) : dieAtOnce()));
    expect(twice.outcome.snippets).toHaveLength(1);
    expect(twice.outcome.failure).toMatchObject({
      reason: 'decoder_crashed',
      message: expect.stringContaining('its decoder process died 2 times (SIGSEGV: core dumped)') as string,
    });
    const hung = await (await setUp(context)).extract(() => Promise.resolve({ kind: 'hung', seconds: 7 }));
    expect(hung.outcome.failure).toMatchObject({
      reason: 'decoder_hung',
      message: expect.stringContaining('said nothing for 7 s') as string,
    });
  });

  test('makes way for a process of a killed run that still writes under the same number', async (context) => {
    const { extract, jobs, parts } = await setUp(context);
    const { outcome } = await extract(async (job, attempt) => {
      if (attempt === 0) await writeFile(job.part, 'of another process');
      return await doIt(job, attempt);
    });
    expect(jobs.map(({ part }) => path.basename(part))).toEqual(['0.0.part', '0.1.part']);
    expect(outcome.snippets).toHaveLength(3);
    expect(readdirSync(parts).toSorted()).toEqual(['0.0.part', '0.1.index', '0.1.part']);
  });

  test('uses what an earlier run left, unless the recording is another one now', async (context) => {
    const { extract, jobs, audioPath } = await setUp(context);
    await extract(doIt);
    await extract(doIt);
    expect(jobs).toHaveLength(1);
    await utimes(audioPath, new Date(), new Date(2001, 1));
    const { outcome } = await extract(doIt);
    expect(jobs.at(-1)?.snippets.some(({ isDone }) => isDone)).toBe(false);
    expect(outcome).toMatchObject({ attempts: 2, source: { modifiedMs: new Date(2001, 1).getTime() } });
  });

  test('blames no recording when its snippets cannot be written, or vanish', async (context) => {
    const { extract, parts } = await setUp(context);
    const full = extract(() =>
      Promise.resolve({ kind: 'done', value: { outputFault: { code: 'ENOSPC', message: 'no space' } } }),
    );
    await expect(full).rejects.toBeInstanceOf(OutputError);
    await expect(full).rejects.toThrow(`Cannot write "${path.join(parts, '0.0.part')}": no space left on the disk`);
    const gone = extract(async (job) => {
      await doIt(job, 0);
      await truncate(indexPath(job.part), 0);
      return { kind: 'done', value: {} };
    });
    await expect(gone).rejects.toBeInstanceOf(OutputError);
    await expect(gone).rejects.toThrow('were lost from');
  });
});

function dieAtOnce(): Promise<JobOutcome<unknown>> {
  return Promise.resolve({ kind: 'died', how: 'SIGSEGV: core dumped' });
}
