import { readdirSync } from 'node:fs';
import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import { buildWav } from '../../support/wav-files.js';
import {
  expectOutputs,
  listParts,
  makeFolder,
  makeSegments,
  runUndisturbed,
  stopAt,
  writeCorpus,
} from '../../support/cut-runs.js';
import type { Corpus, Outputs } from '../../support/cut-runs.js';
import type { TestContext } from 'vitest';

const SAMPLE_RATE = 8_000;

interface Stopped {
  corpus: Corpus;
  expected: Outputs;
  /** What the stopped run left: the output folder with the work folder in it. */
  left: string;
}

/** Two recordings of two snippets of some hundred bytes, all cut, nothing of it in the tar yet. */
async function stopBeforeTheTar(context: TestContext): Promise<Stopped> {
  const folder = await makeFolder(context);
  const silence = new Float64Array(0.2 * SAMPLE_RATE);
  const write = (filePath: string) => writeFile(filePath, buildWav(silence, { sampleRate: SAMPLE_RATE }));
  const segments = makeSegments(2, 0.1, 0.05);
  const corpus = await writeCorpus(
    folder,
    [
      { id: 'a', file: 'a.wav', segments, write },
      { id: 'b', file: 'b.wav', segments, write },
    ],
    { targetSampleRate: SAMPLE_RATE, minDurationSeconds: 0.01, maxDurationSeconds: 0.06, jobs: 1 },
  );
  const expected = await runUndisturbed(corpus);
  await stopAt(corpus, 2);
  const left = path.join(folder, 'left');
  await cp(corpus.options.outputDir, left, { recursive: true });
  return { corpus, expected, left };
}

/** Where the last line of a file begins, and where it ends. */
async function lastLineOf(file: string): Promise<{ start: number; end: number }> {
  const bytes = await readFile(file);
  return { start: bytes.lastIndexOf('\n', bytes.length - 2) + 1, end: bytes.length };
}

/** Puts back what the stopped run left, changes it, and expects that going on gives the bytes of an undisturbed run. */
async function expectResumed(
  { corpus, expected, left }: Stopped,
  label: string,
  change: (outputDir: string) => Promise<void>,
): Promise<void> {
  const { outputDir } = corpus.options;
  await rm(outputDir, { recursive: true, force: true });
  await cp(left, outputDir, { recursive: true });
  await change(outputDir);
  await cut(corpus.options);
  await expectOutputs(outputDir, expected, label);
}

function journalOf(outputDir: string): string {
  return path.join(outputDir, '.cutroom-cut', 'journal');
}

/** The file of the second recording's only attempt. */
function partOf(outputDir: string, ending: 'part' | 'index'): string {
  const found = listParts(outputDir).find((file) => file.endsWith(`${path.sep}1.0.${ending}`));
  if (found === undefined) throw new Error(`There is no 1.0.${ending}`);
  return found;
}

/** Makes the journal forget the second recording, so that its parts are looked at. */
async function forgetLast(outputDir: string): Promise<void> {
  const journal = journalOf(outputDir);
  await truncate(journal, (await lastLineOf(journal)).start);
}

async function flip(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  await writeFile(file, bytes);
}

describe('cut() goes on with', () => {
  test('a journal torn at any byte of its last record, or with bytes of it changed', async (context) => {
    const stopped = await stopBeforeTheTar(context);
    const { start, end } = await lastLineOf(journalOf(stopped.left));
    expect(end - start).toBeGreaterThan(100);
    for (let at = start; at < end; at += 1) {
      await expectResumed(stopped, `torn at ${at - start} of ${end - start}`, (out) => truncate(journalOf(out), at));
      if (at % 4 > 0) continue;
      await expectResumed(stopped, `changed at ${at - start} of ${end - start}`, (out) => flip(journalOf(out), at));
    }
  });

  test('a journal of which nothing or only a part of its first record was written', async (context) => {
    const stopped = await stopBeforeTheTar(context);
    for (const size of [0, 1, 100]) {
      await expectResumed(stopped, `torn at ${size}`, (out) => truncate(journalOf(out), size));
    }
  });

  test.for([
    ['any byte of its last record', 'end', 1],
    ['places in the record of its last snippet', 'snippet', 8],
  ] as const)('an index torn at %s', async ([, kind, step], context) => {
    const stopped = await stopBeforeTheTar(context);
    const index = partOf(stopped.left, 'index');
    const whole = await readFile(index);
    const last = await lastLineOf(index);
    expect(whole.subarray(last.start).toString()).toContain('"kind":"end"');
    const start = kind === 'end' ? last.start : whole.lastIndexOf('\n', last.start - 2) + 1;
    const end = kind === 'end' ? last.end : last.start;
    for (let at = start; at < end; at += step) {
      await expectResumed(stopped, `torn at ${at - start} of ${end - start}`, async (out) => {
        await forgetLast(out);
        await truncate(partOf(out, 'index'), at);
      });
    }
  });

  test('a part torn at any byte of its last snippet', async (context) => {
    const stopped = await stopBeforeTheTar(context);
    const { length } = await readFile(partOf(stopped.left, 'part'));
    expect(length).toBeGreaterThan(100);
    for (let at = Math.floor(length / 2); at < length; at += 1) {
      await expectResumed(stopped, `torn at ${at} of ${length}`, async (out) => {
        await forgetLast(out);
        await truncate(partOf(out, 'part'), at);
      });
    }
  });

  test('a part or an index with changed bytes, whether the journal has the recording or not', async (context) => {
    const stopped = await stopBeforeTheTar(context);
    for (const ending of ['part', 'index'] as const) {
      const { length } = await readFile(partOf(stopped.left, ending));
      for (let at = 0; at < length; at += Math.ceil(length / 12)) {
        for (const isForgotten of [true, false]) {
          await expectResumed(stopped, `${ending} changed at ${at}, forgotten: ${isForgotten}`, async (out) => {
            if (isForgotten) await forgetLast(out);
            await flip(partOf(out, ending), at);
          });
        }
      }
    }
  });

  test('any set of files of parts gone', async (context) => {
    const stopped = await stopBeforeTheTar(context);
    const count = listParts(stopped.left).length;
    expect(count).toBe(4);
    for (let set = 1; set < 2 ** count; set += 1) {
      await expectResumed(stopped, `without set ${set}`, async (out) => {
        for (const [k, file] of listParts(out).toSorted().entries()) if (((set >> k) & 1) === 1) await rm(file);
      });
    }
    await expectResumed(stopped, 'without the folder', async (out) => {
      for (const name of readdirSync(path.join(out, '.cutroom-cut'))) {
        if (name.startsWith('parts')) await rm(path.join(out, '.cutroom-cut', name), { recursive: true });
      }
    });
  });
});
