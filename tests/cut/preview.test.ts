import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
const FILES = ['snippets.tar', 'snippets.jsonl', 'metrics.json', 'failures.jsonl'];

let outputDir: string;
beforeEach(() => {
  outputDir = mkdtempSync(path.join(tmpdir(), 'cutroom-preview-'));
});
afterEach(() => rmSync(outputDir, { recursive: true, force: true }));

function options(maxDurationSeconds: number): Parameters<typeof cut>[0] {
  const inputManifest = path.join(samples, 'conversation.jsonl');
  return { inputManifest, audioDir: samples, outputDir, maxDurationSeconds, jobs: 1 };
}

describe('a preview', () => {
  it('replaces another preview, and is replaced by a run', async () => {
    for (const seconds of [20, 30]) {
      const { kind } = await cut({ ...options(seconds), dryRun: true });
      expect(kind).toBe('preview');
    }
    expect((await cut(options(30))).kind).toBe('cut');
  });

  it('leaves the outputs of a run with audio as they are, even with overwrite', async () => {
    await cut(options(30));
    const read = (): string[] => FILES.map((name) => readFileSync(path.join(outputDir, name), 'latin1'));
    const before = read();
    await expect(cut({ ...options(20), dryRun: true })).rejects.toThrow('the outputs of a run with audio are there');
    const overwriting = cut({ ...options(20), dryRun: true, overwrite: true });
    await expect(overwriting).rejects.toThrow(/^Cannot preview beside .*snippets\.tar/u);
    expect(read()).toEqual(before);
    expect((await cut(options(30))).kind).toBe('already_done');
  });
});
