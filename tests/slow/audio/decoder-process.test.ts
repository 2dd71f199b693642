// A recording whose decoder crashes or hangs each time fails alone.
import path from 'node:path';
import { kill, pid } from 'node:process';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import {
  HAS_PROC,
  isSoon,
  listChildren,
  listParts,
  makeFolder,
  makeSegments,
  readOutputs,
  wavOfNoise,
  writeCorpus,
} from '../../support/cut-runs.js';
import type { Corpus } from '../../support/cut-runs.js';

/** A long recording, which is at work long enough to be met, and a short one. */
async function makeCorpus(folder: string, changes: Partial<CutOptions>): Promise<Corpus> {
  const long = { id: 'a', file: 'a.wav', segments: makeSegments(240, 1, 0.7), write: wavOfNoise(240, 1) };
  const short = { id: 'b', file: 'b.wav', segments: makeSegments(3, 1, 0.7), write: wavOfNoise(3, 2) };
  return await writeCorpus(folder, [long, short], { jobs: 1, ...changes });
}

/** Waits until an attempt at the first recording has begun, and signals its decoder, the only child. */
async function signalAttempt({ options }: Corpus, attempt: number, signal: NodeJS.Signals): Promise<void> {
  const index = `${path.sep}0.${attempt}.index`;
  expect(await isSoon(() => listParts(options.outputDir).some((file) => file.endsWith(index)), 30_000)).toBe(true);
  const children = listChildren(pid);
  expect(children).toHaveLength(1);
  for (const child of children) kill(child, signal);
}

async function expectOnlyFirstFails({ options }: Corpus, reason: string, message: RegExp): Promise<void> {
  const { manifest, failures, metrics } = await readOutputs(options.outputDir);
  const ids = manifest
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);
  expect(ids.filter((id) => id === 'b')).toHaveLength(3);
  const lost = failures
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lost.length).toBeGreaterThan(0);
  for (const failure of lost) {
    expect(failure).toMatchObject({ kind: 'snippet', id: 'a', reason });
    expect(failure['message']).toMatch(message);
  }
  expect(ids.length + lost.length).toBe(243);
  expect(JSON.parse(metrics)).toMatchObject({ failed_snippets: { [reason]: lost.length }, complete: true });
}

describe.skipIf(!HAS_PROC)('cut() with a decoder process (needs /proc)', () => {
  for (const signal of ['SIGSEGV', 'SIGKILL'] as const) {
    test(`that dies of ${signal} each time`, async (context) => {
      const corpus = await makeCorpus(await makeFolder(context), {});
      const job = cut(corpus.options);
      for (const attempt of [0, 1]) await signalAttempt(corpus, attempt, signal);
      expect((await job).isWithinLimit).toBe(false);
      await expectOnlyFirstFails(corpus, 'decoder_crashed', new RegExp(`decoder process died 2 times \\(${signal}`));
    });
  }

  test('that hangs', async (context) => {
    const corpus = await makeCorpus(await makeFolder(context), { recordingTimeoutSeconds: 2 });
    const job = cut(corpus.options);
    await signalAttempt(corpus, 0, 'SIGSTOP');
    expect((await job).isWithinLimit).toBe(false);
    await expectOnlyFirstFails(corpus, 'decoder_hung', /its decoder said nothing for 2 s/);
    expect(listChildren(pid)).toEqual([]);
  });
});
