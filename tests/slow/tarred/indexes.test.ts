import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { INDEX_KINDS } from '#cutroom/shard/write-indexes.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { expectTree, readTree } from '../../support/pack-runs.js';
import { buildWav } from '../../support/wav-files.js';
import { rowOf, TarFolder } from '../../tarred/tar-runs.js';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const ROWS = 1500;

let place: TarFolder;
let manifest: string;
beforeEach(() => {
  place = new TarFolder();
  const wav = buildWav(new Float64Array(8), { sampleRate: 8000 });
  const names = Array.from({ length: ROWS }, (_, index) => `u${index}.wav`);
  for (const name of names) place.addFile(name, wav);
  manifest = place.addManifest(
    'm.json',
    names.map((name) => rowOf(name, 0.001)),
    [],
  );
});
afterEach(() => place.remove());

/** Runs the program and kills it once a file is there, or was made and renamed; undefined where it was killed. */
async function runUntil(targetDir: string, kinds: string, isThere: () => boolean): Promise<number | undefined> {
  const flags = ['--target-dir', targetDir, '--num-shards', '4', '--index', kinds, '--quiet', '--jobs', '1'];
  const child = spawn(process.execPath, [MAIN, 'tar', '--manifest-path', manifest, ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  while (child.exitCode === null && !isThere()) await sleep(1);
  child.kill('SIGKILL');
  const [code] = (await ended) as [number | null];
  return code ?? undefined;
}

describe('indexes of tarDataset()', () => {
  it('are the same bytes after being killed while they are written', async () => {
    const options = { manifestPaths: [manifest], numShards: 4, jobs: 1 };
    const undisturbed = path.join(place.folder, 'undisturbed');
    const { summary } = await tarDataset({ ...options, targetDir: undisturbed, index: INDEX_KINDS });
    expect(summary?.indexes).toEqual(INDEX_KINDS.map((index) => ({ index, warnings: [] })));
    const expected = readTree(undisturbed);
    expect([...expected.keys()]).toEqual(
      expect.arrayContaining(['.nv-meta/index.sqlite', 'audio_3.tar.idx', 'energon.yaml', 'wids.json']),
    );
    const signs = ['.nv-meta/index.sqlite.partial', 'shar/cuts.000001.jsonl'];
    for (const [number, sign] of signs.entries()) {
      const target = path.join(place.folder, `killed${number}`);
      const isThere = (): boolean => existsSync(path.join(target, sign));
      expect(await runUntil(target, 'wids,energon,lhotse', isThere), sign).toBe(undefined);
      expect(readdirSync(target)).not.toContain('metrics.json');
      expect(await runUntil(target, 'wids,energon,lhotse', () => false)).toBe(0);
      expectTree(target, expected, sign);
    }
    const added = path.join(place.folder, 'added');
    await tarDataset({ ...options, targetDir: added, index: ['lhotse'] });
    const isThere = (): boolean => existsSync(path.join(added, '.nv-meta/index.sqlite.partial'));
    expect(await runUntil(added, 'wids,energon', isThere)).toBe(undefined);
    expect(await tarDataset({ ...options, targetDir: added, index: INDEX_KINDS })).toMatchObject({ kind: 'indexed' });
    expectTree(added, expected, 'added');
    await tarDataset({ ...options, targetDir: added, overwrite: true });
    expect(readdirSync(added).filter((name) => /idx|wids|energon|nv-meta|shar$/u.test(name))).toEqual([]);
  });
});
