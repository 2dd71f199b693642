import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
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
  listChildren,
  listParts,
  makeFolder,
  makeMixedCorpus,
  makeSegments,
  readOutputs,
  runUndisturbed,
  startDriver,
  wavOfNoise,
  writeCorpus,
} from '../../support/cut-runs.js';
import type { Corpus, DriverOptions } from '../../support/cut-runs.js';

/** Checkpoints as often as can be: what a run of hours does in two seconds. */
const DRIVER: DriverOptions = { checkpointMs: 5 };

/** How long a run takes, from the start of its process on. */
async function timeRun({ options }: Corpus): Promise<number> {
  const startMs = performance.now();
  await finishDriver(options, DRIVER);
  await rm(options.outputDir, { recursive: true });
  return performance.now() - startMs;
}

/** Starts a run and kills it alone after a while, so that its decoders outlive it for a moment; answers whether it was killed. */
async function killAfter({ options }: Corpus, afterMs: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<boolean> {
  const driver = startDriver(options, DRIVER);
  const timer = setTimeout(() => driver.kill(signal), afterMs);
  const end = await driver.ended;
  clearTimeout(timer);
  return end.result === undefined;
}

describe('a run that is killed and started again', () => {
  test.for([
    ['flac', 20],
    ['ogg', 6],
    ['wav', 3],
  ] as const)(
    'leaves the bytes of one that was not, as %s, at %i moments',
    async ([outputFormat, moments], context) => {
      const corpus = await makeMixedCorpus(await makeFolder(context), 12, { outputFormat });
      const expected = await runUndisturbed(corpus);
      const runMs = await timeRun(corpus);
      let kills = 0;
      // How long a run takes changes with what else the machine does: until enough of them were killed.
      for (let moment = 0; moment < moments || kills <= moments / 2; moment += 1) {
        const afterMs = (((moment % moments) + Math.random()) / moments) * runMs;
        if (await killAfter(corpus, afterMs)) kills += 1;
        await finishDriver(corpus.options, DRIVER);
        await expectOutputs(corpus.options.outputDir, expected, `killed after ${afterMs} of ${runMs} ms`);
        await rm(corpus.options.outputDir, { recursive: true });
      }
    },
  );

  test('leaves the same bytes after any number of kills', async (context) => {
    const corpus = await makeMixedCorpus(await makeFolder(context), 12);
    const expected = await runUndisturbed(corpus);
    const runMs = await timeRun(corpus);
    for (let chain = 0; chain < 3; chain += 1) {
      const moments: number[] = [];
      for (let link = 0; link < 4; link += 1) {
        // Long enough to begin, too short to end.
        moments.push(runMs * (0.25 + 0.35 * Math.random()));
        await killAfter(corpus, moments.at(-1) ?? 0);
      }
      await finishDriver(corpus.options, DRIVER);
      await expectOutputs(corpus.options.outputDir, expected, `killed after ${moments.join(', ')} ms`);
      await rm(corpus.options.outputDir, { recursive: true });
    }
  });

  test('leaves the same bytes after SIGTERM at any moment', async (context) => {
    const corpus = await makeMixedCorpus(await makeFolder(context), 12);
    const expected = await runUndisturbed(corpus);
    const runMs = await timeRun(corpus);
    for (let moment = 0; moment < 5; moment += 1) {
      const afterMs = ((moment + Math.random()) / 5) * runMs;
      await killAfter(corpus, afterMs, moment % 2 === 0 ? 'SIGTERM' : 'SIGINT');
      await finishDriver(corpus.options, DRIVER);
      await expectOutputs(corpus.options.outputDir, expected, `stopped after ${afterMs} of ${runMs} ms`);
      await rm(corpus.options.outputDir, { recursive: true });
    }
  });
});

describe.skipIf(!HAS_PROC)('a run of which decoders are killed (needs /proc)', () => {
  test('leaves the same bytes without being started again', async (context) => {
    const corpus = await makeMixedCorpus(await makeFolder(context), 12);
    const expected = await runUndisturbed(corpus);
    const runMs = await timeRun(corpus);
    let kills = 0;
    for (let round = 0; round < 8 || kills < 3; round += 1) {
      const driver = startDriver(corpus.options, DRIVER);
      const afterMs = runMs * (0.1 + 0.8 * Math.random());
      await sleep(afterMs);
      kills += killOne(driver.pid);
      const end = await driver.ended;
      expect(end.error).toBeUndefined();
      await expectOutputs(corpus.options.outputDir, expected, `decoder killed after ${afterMs} of ${runMs} ms`);
      await rm(corpus.options.outputDir, { recursive: true });
    }
  });

  test('fails a recording alone that brings its decoder down each time', async (context) => {
    const folder = await makeFolder(context);
    const corpus = await writeCorpus(
      folder,
      [
        { id: 'a', file: 'a.wav', segments: makeSegments(200, 1, 0.7), write: wavOfNoise(200, 1) },
        { id: 'b', file: 'b.wav', segments: makeSegments(3, 1, 0.7), write: wavOfNoise(3, 2) },
      ],
      { jobs: 1 },
    );
    const { options } = corpus;
    const job = cut(options);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const hasBegun = () =>
        listParts(options.outputDir).some((file) => file.endsWith(`${path.sep}0.${attempt}.index`));
      expect(await isSoon(hasBegun, 10_000)).toBe(true);
      expect(killOne(process.pid)).toBe(1);
    }
    const { summary, isWithinLimit } = await job;
    const { decoder_crashed: lost = 0 } = summary.failedSnippets;
    expect(lost).toBeGreaterThan(0);
    expect(summary.outputSnippets).toBe(203 - lost);
    expect(isWithinLimit).toBe(false);
    const { failures } = await readOutputs(options.outputDir);
    expect(failures).toContain('its decoder process died 2 times (SIGKILL)');
    expect(failures).not.toContain('"id":"b"');
  });
});

function killOne(parent: number): number {
  const [child] = listChildren(parent);
  if (child === undefined || !isAlive(child)) return 0;
  spawnSync('kill', ['-KILL', `${child}`]);
  return 1;
}
