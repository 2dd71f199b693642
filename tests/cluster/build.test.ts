import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from '#cutroom/build/build.js';
import type { BuildOptions } from '#cutroom/build/options.js';
import { expectBytesOfOneRun } from '../support/plan-runs.js';
import { makeSine } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cluster-build-'));
  mkdirSync(path.join(folder, 'audio'));
  const names = Array.from({ length: 6 }, (_, n) => `audio/${n}.wav`);
  for (const [n, name] of names.entries()) {
    writeFileSync(path.join(folder, name), buildWav(makeSine(1600 * (n + 1), 16_000, 300)));
  }
  writeFileSync(path.join(folder, 'audio', 'bad.wav'), 'no audio');
  const rows = names.map((name, n) => ({
    id: `u${n}`,
    audio_filepath: path.join(folder, name),
    duration: (n + 1) / 10,
  }));
  rows.push({ id: 'bad', audio_filepath: 'audio/bad.wav', duration: 0.3 }, { ...rows[1]!, audio_filepath: 'x' });
  const lines = rows.map((row) => `${JSON.stringify({ ...row, text: `text of ${row.id}` })}\n`);
  writeFileSync(path.join(folder, 't.jsonl'), lines.join(''));
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
