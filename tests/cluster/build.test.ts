import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from '#cutroom/build/build.js';
import type { BuildOptions } from '#cutroom/build/options.js';
import { expectBytesOfOneRun } from '../support/plan-runs.js';
import { writeBuildInput } from '../support/task-inputs.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cluster-build-'));
  writeBuildInput(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

function requestOf(out: string, changes: Partial<BuildOptions> = {}): BuildOptions {
  return { input: path.join(folder, 't.jsonl'), outputDir: path.join(folder, out), numTars: 3, jobs: 1, ...changes };
}

describe('the kind build', () => {
  it('makes the bytes of one run, without looking at its input again', async () => {
    const request = requestOf('out');
    const { tasks, end } = await expectBytesOfOneRun({
      kind: 'build',
      request,
      out: request.outputDir,
      planFolder: path.join(folder, 'plan'),
      local: () => build(request),
      input: request.input,
    });
    expect(tasks.map(({ kind }) => kind)).toEqual(['done', 'done']);
    expect(end.isWithinLimit).toBe(false);
  });
});
