import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTask } from '#cutroom/cluster/run-task.js';
import { UsageError } from '#cutroom/errors.js';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { finish, planWork, RUN_OPTIONS, runAll, treeOf } from '../support/plan-runs.js';
import { makeSine } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { rowOf, TarFolder } from '../tarred/tar-runs.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.wav`);

let place: TarFolder;
let manifest: string;
beforeAll(() => {
  place = new TarFolder();
  for (const [n, name] of NAMES.entries()) place.addFile(name, buildWav(makeSine(800 * (n + 1), 8000, 300)));
  const rows = [...NAMES.map((name, n) => rowOf(name, (n + 1) / 10)), rowOf('gone.wav')];
  manifest = place.addManifest('m.json', rows, []);
});
afterAll(() => place.remove());

function requestOf(out: string, changes: Partial<TarOptions> = {}): TarOptions {
  return { manifestPaths: [manifest], targetDir: path.join(place.folder, out), numShards: 3, jobs: 1, ...changes };
}

const environment = { SOURCE_DATE_EPOCH: '1700000000' };

describe('the kind tar', () => {
  it.each<[string, Partial<TarOptions>]>([
    ['buckets', { bucketsNum: 2, numShards: 2, minDurationSeconds: 0, maxDurationSeconds: 1, forceCodec: 'flac' }],
    ['index', { index: ['wids', 'lhotse'], shuffle: true, shardManifests: false, remainder: 'drop' }],
  ])('makes the bytes of one run: %s', async (out, changes) => {
    const request = requestOf(out, changes);
    const target = path.join(place.folder, out);
    const local = await tarDataset(request, { environment });
    const expected = treeOf(target);
    rmSync(target, { recursive: true });
    const plan = await planWork(path.join(place.folder, `plan-${out}`), 'tar', request, { environment });
    expect(plan.record).toMatchObject({ tasks: 2, units: { name: 'shards' }, failed_rows: 1 });
    // They are not read again.
    renameSync(manifest, `${manifest}.moved`);
    await runAll(plan);
    const finished = await finish(plan);
    renameSync(`${manifest}.moved`, manifest);
    expect(finished).toMatchObject({ kind: 'finished', isWithinLimit: false });
    expect(treeOf(target)).toEqual(expected);
    expect((finished.summary as typeof local).summary).toEqual(local.summary);
    expect((await finish(plan)).kind).toBe('already_done');
    expect((await tarDataset(request, { environment })).kind).toBe('already_done');
  });

  it('plans no task of a dataset that is finished', async () => {
    await tarDataset(requestOf('whole'));
    const plan = await planWork(path.join(place.folder, 'plan-whole'), 'tar', requestOf('whole'));
    expect(plan.record.tasks).toBe(0);
    expect((await finish(plan)).kind).toBe('already_done');
  });

  it('salvages a list of the shards that are there', async () => {
    const plan = await planWork(path.join(place.folder, 'plan-part'), 'tar', requestOf('part'));
    await runTask(plan, 1, RUN_OPTIONS);
    const list = path.join(place.folder, 'part/data.salvaged.lst');
    expect(await finish(plan, { salvage: true })).toMatchObject({ kind: 'salvaged', outputs: [list] });
    const { first, end } = plan.plan.extents[1]!;
    const lines = treeOf(path.join(place.folder, 'part'))['data.salvaged.lst']?.trimEnd().split('\n') ?? [];
    expect(lines.map((line) => path.basename(line.split(' ')[0] ?? ''))).toEqual(
      Array.from({ length: end - first }, (_, shard) => `audio_${first + shard}.tar`),
    );
  });

  it('refuses what packs no audio', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-plan-'));
    for (const flag of ['onlyManifests', 'dryRun', 'writeMetadata'] as const)
      await expect(planWork(folder, 'tar', requestOf('none', { [flag]: true }))).rejects.toThrow(UsageError);
    rmSync(folder, { recursive: true });
  });
});
