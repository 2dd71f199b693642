// The bench of plans of very many tasks, made small: what it counts says how costs grow.
import { spawnSync } from 'node:child_process';
import { rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execPath } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../docs/markdown.js';

/** Far fewer than tasks. */
const OPEN_FILES = 100;

type Calls = Record<string, number>;
interface Results {
  steps: { name: string; calls: Calls }[];
  watching: { calls: Calls; counts: Record<string, number> };
  planned: { files: number };
  done: { files: number };
  finals: { files: number };
  shards: { files: number };
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-scale-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function runBench(tasks: number): Results {
  const bench = [path.join(ROOT, 'bench/scale.js'), '--recordings', '800', '--tasks', String(tasks)];
  const command = [`ulimit -n ${OPEN_FILES}; exec "$@"`, 'sh', execPath, ...bench, '--out', folder, '--json'];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', ...command], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Results;
}

function callsOf({ steps }: Results, name: string): Calls {
  const step = steps.find((one) => one.name === name);
  expect(step, name).toBeDefined();
  return step?.calls ?? {};
}

describe('plans of many tasks', () => {
  it('cost a look nothing for tasks that are done, and an end a few files a task, of which few are open', () => {
    const few = runBench(40);
    const many = runBench(240);
    expect(callsOf(many, 'status, all done')).toEqual(callsOf(few, 'status, all done'));
    const { counts, calls } = many.watching;
    const told = (counts['running'] ?? 0) + (counts['stale'] ?? 0) + (counts['failed'] ?? 0);
    expect(counts).toMatchObject({ done: 120, stale: 1, failed: 1 });
    expect(calls['open']).toBeLessThanOrEqual(told + 2);
    const more = (name: string): number =>
      ((callsOf(many, name)['open'] ?? 0) - (callsOf(few, name)['open'] ?? 0)) / 200;
    expect(more('finish')).toBeLessThanOrEqual(4.1);
    expect(more('finish --as-shards')).toBeLessThanOrEqual(6.1);
    expect(more('plan')).toBeLessThanOrEqual(0.1);
    expect(many.planned.files).toBe(few.planned.files);
    expect(many.done.files - few.done.files).toBe(200 * 4);
    expect(many.finals.files).toBe(4);
    expect(many.shards.files - few.shards.files).toBe(200 * 2);
  });
});
