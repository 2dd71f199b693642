import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeFolder } from '../../support/cut-runs.js';

const RECORDINGS = 100_000;
const TASKS = 1_000;
/** A recording takes some 500 bytes in all, beside what Node.js and a plan's buffers take; its row has 2,000. */
const MAX_MEGABYTES = 200;

test('planCutTasks() holds no row in memory, and a task its own recordings alone', async (context) => {
  const folder = await makeFolder(context);
  const file = openSync(path.join(folder, 'm.jsonl'), 'w');
  const text = 'words that make a segment as long as segments are '.repeat(18);
  for (let from = 0; from < RECORDINGS; from += 1000) {
    const lines = Array.from({ length: 1000 }, (_, k) => {
      // In another order than that of the names.
      const id = `recording-${String(((from + k) * 7919) % RECORDINGS).padStart(8, '0')}`;
      const segments = [0, 20].map((start) => ({ start, end: start + 19, text }));
      return `${JSON.stringify({ id, audio_filepath: `${id}.flac`, segments })}\n`;
    });
    writeSync(file, lines.join(''));
  }
  closeSync(file);
  const planFolder = path.join(folder, 'plan');
  mkdirSync(planFolder);
  const url = (name: string) => JSON.stringify(fileURLToPath(new URL(`../../../dist/cut/${name}.js`, import.meta.url)));
  const measure = `
    import { planCutTasks } from ${url('plan-tasks')};
    import { openTaskPlan, openWholePlan, readTaskPlan } from ${url('task-plan')};
    const [, manifest, folder, step] = process.argv;
    const options = {
      inputManifest: manifest, audioDir: '/none', outputDir: '/none/out', maxDurationSeconds: 30, repetitionFilter: false,
    };
    let said = {};
    if (step === 'plan') {
      const { extents, hash } = await planCutTasks(options, folder, { division: { count: ${TASKS} } });
      said = { extents: extents.length, hash };
    } else {
      const facts = await readTaskPlan(folder, process.argv[4]);
      const plan = step === 'task' ? await openTaskPlan(folder, facts, 500) : await openWholePlan(folder, facts);
      said = { recordings: plan.recordingCount, snippets: plan.snippetCount };
      await plan.close();
    }
    console.log(JSON.stringify({ ...said, megabytes: process.resourceUsage().maxRSS / 1024 }));`;
  const run = (...args: string[]) => {
    const given = ['--input-type=module', '--eval', measure, path.join(folder, 'm.jsonl'), planFolder, ...args];
    return JSON.parse(execFileSync(process.execPath, given, { encoding: 'utf8' })) as Record<string, number>;
  };
  const { extents, hash, megabytes } = run('plan');
  expect(extents).toBe(TASKS);
  expect(megabytes).toBeLessThan(MAX_MEGABYTES);
  expect(readdirSync(planFolder)).toHaveLength(4);
  const whole = run('whole', String(hash));
  expect(whole).toMatchObject({ recordings: RECORDINGS, snippets: 2 * RECORDINGS });
  expect(whole['megabytes']).toBeLessThan(MAX_MEGABYTES);
  const task = run('task', String(hash));
  expect(task).toMatchObject({ recordings: RECORDINGS / TASKS });
  expect(task['megabytes']).toBeLessThan(Math.min(110, whole['megabytes'] ?? 0));
});
