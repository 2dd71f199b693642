import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from '#cutroom/build/build.js';
import type { BuildOptions } from '#cutroom/build/options.js';
import { openPlanFolder } from '#cutroom/cluster/plan-folder.js';
import { runTask } from '#cutroom/cluster/run-task.js';
import { InputError, UsageError } from '#cutroom/errors.js';
import { expectBytesOfOneRun, finish, planWork, RUN_OPTIONS, runAll, treeOf } from '../../support/plan-runs.js';
import { writeBuildInput } from '../../support/task-inputs.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cluster-build-'));
  writeBuildInput(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

function requestOf(out: string, changes: Partial<BuildOptions> = {}): BuildOptions {
  return { input: path.join(folder, 't.jsonl'), outputDir: path.join(folder, out), numTars: 4, jobs: 1, ...changes };
}

/** What one run makes in the same place. */
async function buildLocally(out: string, changes: Partial<BuildOptions> = {}): Promise<Record<string, string>> {
  await build(requestOf(out, changes));
  const tree = treeOf(path.join(folder, out));
  rmSync(path.join(folder, out), { recursive: true });
  return tree;
}

describe('the kind build', () => {
  it('makes the bytes of one run where audio is copied', async () => {
    const request = requestOf('copies', { copy: true, format: 'wav' });
    const place = { out: request.outputDir, planFolder: path.join(folder, 'plan-copies') };
    await expectBytesOfOneRun({ kind: 'build', request, ...place, local: () => build(request), input: request.input });
  });

  it('reads audio and writes shards where this machine has them, and names them as the plan does', async () => {
    const expected = await buildLocally('far/out');
    const map = [{ local: folder, remote: `${folder}-elsewhere` }];
    const plan = await planWork(path.join(folder, 'plan-far'), 'build', requestOf('far/out'), { map });
    // The store is there under the other name alone.
    renameSync(folder, `${folder}-store`);
    symlinkSync(`${folder}-store`, `${folder}-elsewhere`);
    try {
      const moved = await openPlanFolder(path.join(`${folder}-elsewhere`, 'plan-far'));
      await runAll(moved);
      const { outputs } = await finish(moved);
      expect(outputs[0]).toBe(path.join(`${folder}-elsewhere`, 'far/out/plan.jsonl'));
    } finally {
      rmSync(`${folder}-elsewhere`);
      renameSync(`${folder}-store`, folder);
    }
    expect(plan.record.map).toEqual(map);
    expect(treeOf(path.join(folder, 'far/out'))).toEqual(expected);
  });

  it('salvages a list of the shards that are there, and removes it when all are', async () => {
    const plan = await planWork(path.join(folder, 'plan-part'), 'build', requestOf('part'));
    await runTask(plan, 1, RUN_OPTIONS);
    await expect(finish(plan)).rejects.toThrow('task 0 is not done');
    const salvaged = await finish(plan, { salvage: true });
    expect(salvaged).toMatchObject({ kind: 'salvaged', outputs: [path.join(folder, 'part/data.salvaged.lst')] });
    const files = treeOf(path.join(folder, 'part'));
    const { first, end } = plan.plan.extents[1]!;
    expect(files['data.salvaged.lst']?.trimEnd().split('\n')).toHaveLength(end - first);
    expect(Object.keys(files)).not.toContain('metrics.json');
    await runTask(plan, 0, RUN_OPTIONS);
    expect((await finish(plan)).kind).toBe('finished');
    expect(Object.keys(treeOf(path.join(folder, 'part')))).not.toContain('data.salvaged.lst');
  });

  it('refuses to finish without a shard that a task made', async () => {
    const plan = await planWork(path.join(folder, 'plan-gone'), 'build', requestOf('gone'));
    await runAll(plan);
    rmSync(path.join(folder, 'gone/audios/t.000002.tar'));
    await expect(finish(plan)).rejects.toThrow(/t\.000002\.tar", and it is gone or changed/u);
    // As the hint says.
    expect((await build(requestOf('gone'))).kind).toBe('built');
    expect((await finish(plan)).kind).toBe('already_done');
  });

  it('does no task of a dataset that is finished', async () => {
    await build(requestOf('whole'));
    const before = treeOf(path.join(folder, 'whole'));
    const plan = await planWork(path.join(folder, 'plan-whole'), 'build', requestOf('whole'));
    expect(plan.record.tasks).toBe(0);
    expect((await finish(plan)).kind).toBe('already_done');
    expect(treeOf(path.join(folder, 'whole'))).toEqual(before);
  });

  it('refuses a plan that is damaged, gone or another one', async () => {
    const plan = await planWork(path.join(folder, 'plan-bad'), 'build', requestOf('bad'));
    const file = path.join(folder, 'bad/plan.jsonl');
    const text = treeOf(path.join(folder, 'bad'))['plan.jsonl'] ?? '';
    writeFileSync(file, text.replaceAll('text of u3', 'TEXT of u3'));
    const runs = await Promise.allSettled([0, 1].map((task) => runTask(plan, task, RUN_OPTIONS)));
    const messages = runs.flatMap((run) => (run.status === 'rejected' ? [run.reason as Error] : []));
    expect(messages.map(({ message }) => message)).toEqual([`Cannot read the plan "${file}": it is damaged`]);
    rmSync(file);
    await expect(runTask(plan, 0, RUN_OPTIONS).then(() => runTask(plan, 1, RUN_OPTIONS))).rejects.toThrow(InputError);
    rmSync(path.join(folder, 'bad'), { recursive: true });
    await build(requestOf('bad', { numTars: 2, planOnly: true }));
    await expect(finish(plan, { salvage: true })).rejects.toThrow('another one by now');
  });

  it('refuses what cannot be divided', async () => {
    const place = path.join(folder, 'plan-no');
    for (const request of [requestOf('no', { splitStart: 1 }), requestOf('no', { input: '-' })])
      await expect(planWork(place, 'build', request)).rejects.toThrow(UsageError);
    const division = { hours: -1 };
    await expect(planWork(place, 'build', requestOf('no'), { division })).rejects.toThrow(RangeError);
  });
});
