import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { cutKind } from '#cutroom/cluster/cut-kind.js';
import type { KindPlan } from '#cutroom/cluster/task-kind.js';
import type { CutResult } from '#cutroom/cut/cut.js';
import type { TaskOutcome, TaskProgress } from '#cutroom/run/task.js';
import { expectOutputs, makeFolder, makeGoodCorpus, runUndisturbed } from '../../support/cut-runs.js';

test('cutKind plans, runs and finishes a cut by what its plan says alone', async (context) => {
  const corpus = await makeGoodCorpus(await makeFolder(context), 3);
  const expected = await runUndisturbed(corpus);
  const folder = path.join(corpus.folder, 'plan', 'work');
  await mkdir(folder, { recursive: true });
  const { signal } = new AbortController();
  const rows: number[] = [];
  const planned = await cutKind.plan(corpus.options, folder, {
    division: { count: 2 },
    signal,
    environment: {},
    onProgress: (count) => rows.push(count),
  });
  expect(rows.at(-1)).toBe(5);
  // As another machine reads it.
  const request = JSON.parse(JSON.stringify(corpus.options)) as unknown;
  const plan: KindPlan = { folder, extents: planned.extents, hash: planned.hash, request };
  const done = new Map<number, TaskOutcome>();
  const progress: TaskProgress[] = [];
  for (const extent of planned.extents) {
    const onProgress = (now: TaskProgress) => void progress.push(now);
    done.set(extent.task, await cutKind.run(plan, extent, { jobs: 1, signal, mappings: [], onProgress }));
    expect(progress.at(-1)).toMatchObject({
      units: extent.end - extent.first,
      audioSeconds: (extent.micros ?? 0) / 1e6,
    });
  }
  const shares: number[] = [];
  const finished = await cutKind.finish(plan, {
    signal,
    mappings: [],
    salvage: false,
    asShards: false,
    done,
    onProgress: (share) => shares.push(share),
  });
  expect(finished).toMatchObject({ kind: 'finished', isWithinLimit: true });
  expect((finished.summary as CutResult).summary.inputRecordings).toBe(5);
  expect(finished.outputs.map((file) => path.basename(file))).toEqual([
    'snippets.tar',
    'snippets.jsonl',
    'failures.jsonl',
    'metrics.json',
  ]);
  expect(shares.at(-1)).toBe(1);
  await expectOutputs(corpus.options.outputDir, expected);
});
