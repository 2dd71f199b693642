import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTask } from '#cutroom/cluster/run-task.js';
import type { ScanRequest } from '#cutroom/cluster/scan-kind.js';
import { InputError, UsageError } from '#cutroom/errors.js';
import { scan } from '#cutroom/sample/scan.js';
import { expectBytesOfOneRun, finish, planWork, RUN_OPTIONS, runAll, treeOf } from '../../support/plan-runs.js';
import { makeSine } from '../../support/signals.js';
import { buildWav } from '../../support/wav-files.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cluster-scan-'));
  mkdirSync(path.join(folder, 'audio'));
  for (let n = 0; n < 5; n += 1) {
    writeFileSync(path.join(folder, 'audio', `${n}.wav`), buildWav(makeSine(8000 * (n + 1), 8000, 300)));
  }
  writeFileSync(path.join(folder, 'audio', 'bad.wav'), 'no audio');
});
afterAll(() => rmSync(folder, { recursive: true }));

function requestOf(out: string, changes: Partial<ScanRequest> = {}): ScanRequest {
  return { sources: [path.join(folder, 'audio')], out: path.join(folder, out), jobs: 1, ...changes };
}

describe('the kind scan', () => {
  it('makes the bytes of one run', async () => {
    const request = requestOf('plain');
    const { end } = await expectBytesOfOneRun({
      kind: 'scan',
      request,
      out: request.out,
      planFolder: path.join(folder, 'plan-plain'),
      local: () => scan(request),
    });
    expect(end.isWithinLimit).toBe(false);
  });

  it('reads what an earlier scan does not know alone, and replaces one where that is asked for', async () => {
    const request = requestOf('again');
    await scan(request);
    const expected = treeOf(request.out);
    writeFileSync(path.join(folder, 'audio', 'new.wav'), buildWav(makeSine(800, 8000, 300)));
    try {
      const plan = await planWork(path.join(folder, 'plan-again'), 'scan', request, { division: { count: 1 } });
      await runAll(plan);
      expect(await finish(plan)).toMatchObject({ summary: { readFiles: 2, keptFiles: 5, hasEarlier: true } });
      expect((await scan(request)).kind).toBe('unchanged');
    } finally {
      rmSync(path.join(folder, 'audio', 'new.wav'));
    }
    const other = requestOf('again', { extensions: ['wav'] });
    await expect(planWork(path.join(folder, 'plan-other'), 'scan', other)).rejects.toThrow('other extensions');
    const anew = await planWork(path.join(folder, 'plan-anew'), 'scan', { ...request, overwrite: true });
    await runAll(anew);
    expect(await finish(anew)).toMatchObject({ kind: 'finished' });
    expect(treeOf(request.out)).toEqual(expected);
    expect((await finish(anew)).kind).toBe('already_done');
  });

  it('salvages what a scan goes on from', async () => {
    const request = requestOf('part');
    const plan = await planWork(path.join(folder, 'plan-part'), 'scan', request);
    await runTask(plan, 0, RUN_OPTIONS);
    const { first, end: units } = plan.plan.extents[0]!;
    expect(first).toBe(0);
    const [{ outputs }, before] = [await finish(plan, { salvage: true }), treeOf(request.out)];
    expect(outputs).toEqual([path.join(request.out, '.cutroom-scan/journal')]);
    expect(Object.keys(before)).toEqual(['.cutroom-scan/journal']);
    await finish(plan, { salvage: true });
    expect(treeOf(request.out)).toEqual(before);
    expect(await scan(request)).toMatchObject({ kind: 'scanned', keptFiles: units, readFiles: 6 - units });
    await runTask(plan, 1, RUN_OPTIONS);
    expect((await finish(plan)).kind).toBe('already_done');
  });

  it('refuses a list or a journal that is damaged, and tasks of so many hours', async () => {
    const place = path.join(folder, 'plan-bad');
    const hours = planWork(place, 'scan', requestOf('bad'), { division: { hours: 1 } });
    await expect(hours).rejects.toThrow(UsageError);
    const plan = await planWork(place, 'scan', requestOf('bad'));
    await runTask(plan, 0, RUN_OPTIONS);
    const list = treeOf(plan.plan.folder)['files'] ?? '';
    writeFileSync(path.join(plan.plan.folder, 'files'), list.replace('bad.wav', 'BAD.wav'), 'latin1');
    await expect(runTask(plan, 1, RUN_OPTIONS)).rejects.toThrow(InputError);
    writeFileSync(path.join(plan.plan.folder, 'files'), list, 'latin1');
    await runTask(plan, 1, RUN_OPTIONS);
    writeFileSync(path.join(plan.plan.folder, 'tasks/00001/journal'), '');
    await expect(finish(plan)).rejects.toThrow(/00001\/journal": it is damaged/u);
  });
});
