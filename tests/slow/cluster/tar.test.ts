import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTask } from '#cutroom/cluster/run-task.js';
import { UsageError } from '#cutroom/errors.js';
import type { TarOptions } from '#cutroom/tarred/options.js';
import { tarDataset } from '#cutroom/tarred/tar-dataset.js';
import { expectBytesOfOneRun, finish, planWork, RUN_OPTIONS, runAll, treeOf } from '../../support/plan-runs.js';
import { makeTarInput } from '../../support/task-inputs.js';
import { rowOf, type TarFolder } from '../../tarred/tar-runs.js';

let place: TarFolder;
let manifest: string;
beforeAll(() => {
  ({ place, manifest } = makeTarInput());
});
afterAll(() => place.remove());

function requestOf(out: string, changes: Partial<TarOptions> = {}): TarOptions {
  return { manifestPaths: [manifest], targetDir: path.join(place.folder, out), numShards: 3, jobs: 1, ...changes };
}

const environment = { SOURCE_DATE_EPOCH: '1700000000' };

describe('the kind tar', () => {
  it('makes the bytes of one run: a dataset for each bucket', async () => {
    const request = requestOf('buckets', {
      bucketsNum: 2,
      numShards: 2,
      minDurationSeconds: 0,
      maxDurationSeconds: 1,
      forceCodec: 'flac',
    });
    const { tasks, end } = await expectBytesOfOneRun({
      kind: 'tar',
      request,
      out: path.join(place.folder, 'buckets'),
      planFolder: path.join(place.folder, 'plan-buckets'),
      local: () => tarDataset(request, { environment }),
      input: manifest,
      environment,
    });
    expect(tasks).toHaveLength(2);
    expect(end.isWithinLimit).toBe(false);
  });

  it('makes the bytes of one run where rows are added to a dataset', async () => {
    const base = await tarDataset(requestOf('grown'));
    const before = treeOf(base.targetDir);
    const more = place.addManifest('more.json', [rowOf('a.wav', 0.1), rowOf('b.wav', 0.2)], []);
    const request: TarOptions = {
      concatManifestPaths: [path.join(base.targetDir, 'tarred_audio_manifest.json'), more],
      metadataPath: path.join(base.targetDir, 'metadata.yaml'),
      targetDir: base.targetDir,
      index: ['wids'],
      jobs: 1,
    };
    await tarDataset(request);
    const expected = treeOf(base.targetDir);
    rmSync(base.targetDir, { recursive: true });
    await tarDataset(requestOf('grown'));
    expect(treeOf(base.targetDir)).toEqual(before);
    const plan = await planWork(path.join(place.folder, 'plan-grown'), 'tar', request);
    renameSync(more, `${more}.away`);
    await runAll(plan);
    expect((await finish(plan)).kind).toBe('finished');
    expect(treeOf(base.targetDir)).toEqual(expected);
    expect((await finish(plan)).kind).toBe('already_done');
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
