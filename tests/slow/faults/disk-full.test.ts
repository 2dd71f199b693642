import { spawnSync } from 'node:child_process';
import { readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import type { CutContext } from '#cutroom/cut/cut.js';
import { OutputError } from '#cutroom/errors.js';
import {
  expectOutputs,
  makeFolder,
  makeSegments,
  runUndisturbed,
  wavOfNoise,
  writeCorpus,
} from '../../support/cut-runs.js';
import type { Corpus } from '../../support/cut-runs.js';
import { mountSmallDisk } from '../../support/small-disk.js';

const PAGE_BYTES = 4_096;

/** Some 60 kB of snippets in four recordings. */
async function makeSmallCorpus(folder: string): Promise<Corpus> {
  const ids = ['a', 'a-1', 'b', 'c'];
  return await writeCorpus(
    folder,
    ids.map((id, k) => ({
      id,
      file: `${id}.wav`,
      segments: makeSegments(5, 0.2, 0.1),
      write: wavOfNoise(1, k + 1),
    })),
    { minDurationSeconds: 0.05, maxDurationSeconds: 0.15, outputFormat: 'wav' },
  );
}

/** Tries to cut; answers which file could not be written, as a path in the output folder, or nothing where all could. */
async function tryToCut({ options }: Corpus, onPublish = (): void => undefined): Promise<string | undefined> {
  const onProgress: CutContext['onProgress'] = ({ stage }) => {
    if (stage === 'publish') onPublish();
  };
  try {
    await cut(options, { checkpointMs: 0, onProgress });
    return undefined;
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    expect(error.message).toMatch(/^Cannot .*: no space left on the disk$/);
    expect(error.message).toContain(`"${error.path}"`);
    expect(error.hint).toMatch(/^Free .* there and run the same command again\.$/);
    const file = path.relative(options.outputDir, error.path ?? '');
    expect(file).not.toMatch(/^\.\./);
    // Names of parts hold a number of the run, and the lock's that of its taking.
    return file.replace(/parts-[^/]*\/.*$/, 'parts');
  }
}

describe('a run on a full disk', () => {
  test('names the file it could not write, and goes on once there is room', { timeout: 300_000 }, async (context) => {
    const corpus = await makeSmallCorpus(await makeFolder(context));
    const expected = await runUndisturbed(corpus);
    const disk = mountSmallDisk(context, 1 << 20);
    const onDisk = { ...corpus, options: { ...corpus.options, outputDir: path.join(disk, 'out') } };
    const failed = new Set<string>();
    for (let pages = 2; ; pages += 1) {
      resize(disk, pages * PAGE_BYTES);
      const file = await tryToCut(onDisk);
      if (file === undefined) break;
      failed.add(file);
      expect(readdirSync(onDisk.options.outputDir)).not.toContain('metrics.json');
      resize(disk, 1 << 20);
      await cut(onDisk.options);
      await expectOutputs(onDisk.options.outputDir, expected, `full at ${pages} pages`);
      await rm(onDisk.options.outputDir, { recursive: true });
    }
    await expectOutputs(onDisk.options.outputDir, expected);
    for (const file of ['.cutroom-cut/parts', 'snippets.tar.partial']) {
      expect([...failed], file).toContain(file);
    }
  });

  test('goes on from failure to failure, as room is made bit by bit', { timeout: 300_000 }, async (context) => {
    const corpus = await makeSmallCorpus(await makeFolder(context));
    const expected = await runUndisturbed(corpus);
    const disk = mountSmallDisk(context, 1 << 20);
    const onDisk = { ...corpus, options: { ...corpus.options, outputDir: path.join(disk, 'out') } };
    const ballast = path.join(disk, 'ballast');
    let failures = 0;
    for (let pages = 252; ; pages -= 4) {
      await rm(ballast, { force: true });
      const { bavail } = await statfs(disk);
      if (pages > 0) await writeFile(ballast, Buffer.alloc(Math.min(pages, bavail) * PAGE_BYTES));
      if ((await tryToCut(onDisk)) === undefined) break;
      failures += 1;
    }
    expect(failures).toBeGreaterThan(5);
    await expectOutputs(onDisk.options.outputDir, expected);
  });

  test('names the file where the disk gets full while the outputs are published, and goes on from there', async (context) => {
    const corpus = await makeSmallCorpus(await makeFolder(context));
    const expected = await runUndisturbed(corpus);
    const disk = mountSmallDisk(context, 1 << 20);
    const onDisk = { ...corpus, options: { ...corpus.options, outputDir: path.join(disk, 'out') } };
    const ballast = path.join(disk, 'ballast');
    const failed: (string | undefined)[] = [];
    for (let freePages = 0; failed.at(-1) !== undefined || freePages === 0; freePages += 1) {
      const fill = (): void => {
        const { bavail } = statfsSync(disk);
        writeFileSync(ballast, Buffer.alloc((bavail - freePages) * PAGE_BYTES));
      };
      failed.push(await tryToCut(onDisk, fill));
      await rm(ballast);
      await rm(path.join(corpus.folder, 'audio'), { recursive: true, force: true });
      await cut(onDisk.options);
      await expectOutputs(onDisk.options.outputDir, expected, `full but for ${freePages} pages`);
      await rm(onDisk.options.outputDir, { recursive: true });
      await makeSmallCorpus(corpus.folder);
    }
    expect(failed).toContain('metrics.json.partial');
  });

  test('cannot even begin where there is no room for a lock', async (context) => {
    const corpus = await makeSmallCorpus(await makeFolder(context));
    const disk = mountSmallDisk(context, 4 * PAGE_BYTES);
    await writeFile(path.join(disk, 'ballast'), Buffer.alloc(3 * PAGE_BYTES));
    await writeFile(path.join(disk, 'more'), Buffer.alloc(PAGE_BYTES));
    const failure = cut({ ...corpus.options, outputDir: path.join(disk, 'out') });
    await expect(failure).rejects.toBeInstanceOf(OutputError);
    await expect(failure).rejects.toThrow('no space left on the disk');
    await expect(failure).rejects.toMatchObject({ hint: expect.stringMatching(/^Free /) as string });
    expect(readdirSync(path.join(disk, 'out'))).toEqual([]);
  });
});

function resize(disk: string, sizeBytes: number): void {
  const done = spawnSync('mount', ['-o', `remount,size=${sizeBytes}`, disk]);
  expect(done.status, done.stderr.toString()).toBe(0);
}
