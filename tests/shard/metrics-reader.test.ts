import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CutMetrics } from '#cutroom/cut/metrics.js';
import { readMetrics } from '#cutroom/shard/metrics-reader.js';
import { makeFolder } from '../support/cut-runs.js';
import { FACTS, makeRow, say, withPlan } from '../cut/plan-manifest.js';

/** The metrics of a plan as text. */
async function spell(rows: readonly unknown[]): Promise<string> {
  return await withPlan(rows, async ({ plan }) => {
    let text = '';
    const facts = { ...FACTS, complete: true, dryRun: true, audioArchitecture: null };
    await new CutMetrics(plan).write((chunk) => Promise.resolve(void (text += chunk)), facts);
    return text;
  });
}

test.for([0, 1, 2, 9_000])('readMetrics() gives all but the entries of %i recordings', async (count, context) => {
  const id = (k: number) => `${k} ],\n  "dropped_segments": \n  "per_original": [`;
  const text = await spell(Array.from({ length: count }, (_, k) => makeRow(id(k), [say(0, 5)])));
  const file = path.join(await makeFolder(context), 'metrics.json');
  await writeFile(file, text);
  const whole = JSON.parse(text) as Record<string, unknown>;
  expect(whole['per_original']).toHaveLength(count);
  expect(await readMetrics(file)).toEqual({ ...whole, per_original: [] });
});

test('readMetrics() finds the marks wherever pieces of the file end', async (context) => {
  const file = path.join(await makeFolder(context), 'metrics.json');
  const before = '{\n  "a": "';
  const marks = '",\n  "per_original": [\n    {"id": 1}\n  ],\n  "dropped_segments": {}\n}\n';
  for (let shift = 0; shift <= marks.length; shift += 1) {
    const padding = 'x'.repeat((1 << 20) - before.length - shift);
    await writeFile(file, before + padding + marks);
    expect(await readMetrics(file), `${shift}`).toEqual({ a: padding, per_original: [], dropped_segments: {} });
  }
});

test('readMetrics() reads other JSON whole, and refuses what is none', async (context) => {
  const file = path.join(await makeFolder(context), 'metrics.json');
  await writeFile(file, '[1, {"per_original": [2]}]');
  expect(await readMetrics(file)).toEqual([1, { per_original: [2] }]);
  await writeFile(file, '{\n  "per_original": [\n    {}');
  await expect(readMetrics(file)).rejects.toBeInstanceOf(SyntaxError);
  await expect(readMetrics(`${file}.gone`)).rejects.toMatchObject({ code: 'ENOENT' });
});
