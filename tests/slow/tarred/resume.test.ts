import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTarIndex } from '#cutroom/tar/reader.js';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { expectTree, readTree } from '../../support/pack-runs.js';
import { makeNoise } from '../../support/signals.js';
import { buildWav } from '../../support/wav-files.js';
import { readRows, rowOf, TarFolder } from '../../tarred/tar-runs.js';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

let place: TarFolder;
let manifest: string;
beforeEach(() => {
  place = new TarFolder();
  const names = Array.from({ length: 12 }, (_, index) => `f${index}.wav`);
  for (const [index, name] of names.entries()) {
    place.addFile(name, buildWav(makeNoise(16_000 * 4, 1, index + 1), { sampleRate: 16_000 }));
  }
  const rows = names.flatMap((name) => [
    rowOf(name, 1.5, { offset: 0.25 }),
    rowOf(name, 2, { offset: 1.9 }),
    rowOf(name, 4),
  ]);
  manifest = place.addManifest('m.json', rows, []);
});
afterEach(() => place.remove());

const OPTIONS = { numShards: 5, shuffle: true, forceCodec: 'flac' } satisfies TarOptions;
const FLAGS = ['--num-shards', '5', '--shuffle', '--force-codec', 'flac', '--quiet', '--jobs', '2'];

/** Runs the program; undefined where it was killed first. */
async function runProgram(targetDir: string, signal: NodeJS.Signals, killMs: number): Promise<number | undefined> {
  const child = spawn(
    process.execPath,
    [MAIN, 'tar', '--manifest-path', manifest, '--target-dir', targetDir, ...FLAGS],
    {
      stdio: 'ignore',
    },
  );
  const ended = new Promise<number | undefined>((resolve) => {
    child.on('exit', (code) => resolve(code ?? undefined));
  });
  const late = sleep(killMs).then(() => 'late' as const);
  if ((await Promise.race([ended, late])) === 'late') child.kill(signal);
  return await ended;
}

async function pack(name: string, options: TarOptions): Promise<string> {
  const targetDir = path.join(place.folder, name);
  const { kind } = await tarDataset({ manifestPaths: [manifest], targetDir, ...OPTIONS, ...options });
  expect(kind).toBe('packed');
  return targetDir;
}

describe('tarDataset()', () => {
  it('makes the same bytes whatever the jobs, and after being killed anywhere', async () => {
    const undisturbed = readTree(await pack('one', { jobs: 1 }));
    expectTree(await pack('three', { jobs: 3 }), undisturbed, 'three jobs');
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const target = path.join(place.folder, signal);
      let kills = 0;
      for (let killMs = 300; ; killMs += 250) {
        const code = await runProgram(target, signal, killMs);
        if (code === 0) break;
        // Before it listens to signals, the process dies of any.
        expect(signal === 'SIGKILL' ? [undefined] : [undefined, 130]).toContain(code);
        kills += 1;
      }
      expect(kills).toBeGreaterThan(0);
      expectTree(target, undisturbed, signal);
    }
  });

  it('finishes without members that failed, and makes them with overwrite once they are put right', async () => {
    const target = path.join(place.folder, 'faulty');
    const undisturbed = readTree(await pack('good', { jobs: 2 }));
    const good = buildWav(makeNoise(16_000 * 4, 1, 4), { sampleRate: 16_000 });
    place.addFile('f3.wav', 'no audio at all');
    const options: TarOptions = { manifestPaths: [manifest], targetDir: target, ...OPTIONS, jobs: 2 };
    const failed = await tarDataset(options);
    expect(failed).toMatchObject({ kind: 'packed', isWithinLimit: false, summary: { written: { rows: 33 } } });
    expect(failed.summary?.firstFailures).toMatchObject([{ kind: 'member', line: expect.any(Number) }]);
    expect(failed.summary?.warnings.at(-1)).toMatch(/^without the members that failed, shards hold \d to \d rows/u);
    const files = readTree(target);
    const linesOf = (name: string): string[] => (files.get(name)?.toString() ?? '').trimEnd().split('\n');
    expect(linesOf('failures.jsonl')).toHaveLength(3);
    expect(linesOf('tarred_audio_manifest.json')).toHaveLength(33);
    const metrics = JSON.parse(linesOf('metrics.json').join('')) as Record<string, unknown>;
    expect(metrics).toMatchObject({ rows_written: 33, failed_rows: {} });
    expect(Object.values(metrics['failed_members'] as object)).toEqual([3]);
    for (const shard of [0, 1, 2, 3, 4]) {
      const { members } = await readTarIndex(path.join(target, `audio_${shard}.tar`));
      const rows = readRows(path.join(target, `sharded_manifests/manifest_${shard}.json`));
      expect(rows.map((row) => row['audio_filepath'])).toEqual(members.map(({ name }) => name));
    }
    expect(await tarDataset(options)).toMatchObject({ kind: 'already_done', isWithinLimit: false });
    expect(await tarDataset({ ...options, onError: 'skip' })).toMatchObject({ isWithinLimit: true });
    expectTree(target, files, 'run again');
    place.addFile('f3.wav', good);
    expect(await tarDataset({ ...options, overwrite: true })).toMatchObject({ kind: 'packed', isWithinLimit: true });
    expectTree(target, undisturbed, 'put right');
  });
});
