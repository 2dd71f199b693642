// The outputs of "cutroom cut" as the input of "build" and "tar".
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import { makeFolder, makeSegments, wavOfNoise, writeCorpus } from '../support/cut-runs.js';
import { runCli } from './run-cli.js';

function rowsOf(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('snippets of "cutroom cut" whose texts stand in their segments alone', () => {
  it('keep their texts in "build" and in "tar", and "check" finds none missing', async (context) => {
    const folder = await makeFolder(context);
    const spoken = { id: 'a', file: 'a.wav', segments: makeSegments(4, 1, 0.7), write: wavOfNoise(5, 1) };
    const { options } = await writeCorpus(folder, [spoken], { jobs: 1, maxDurationSeconds: 4 });
    await cut({ ...options, maxSegmentGapSeconds: 2, minDurationSeconds: 0.1 });
    const [snippet] = rowsOf(path.join(options.outputDir, 'snippets.jsonl'));
    expect(snippet).not.toHaveProperty('text');
    const text = 'segment 0 segment 1 segment 2 segment 3';
    const built = path.join(folder, 'built');
    const tarred = path.join(folder, 'tarred');
    for (const args of [
      ['build', '--input', options.outputDir, '--output-dir', built, '--num-tars', '1', '--tar-prefix', 'a', '--copy'],
      ['tar', '--manifest-path', options.outputDir, '--target-dir', tarred, '--num-shards', '1', '--workers', '1'],
    ]) {
      const { exitCode, stderr } = await runCli(args);
      expect(exitCode, stderr).toBe(0);
    }
    expect(rowsOf(path.join(built, 'manifests', 'a.000000.jsonl'))).toMatchObject([{ text }]);
    expect(rowsOf(path.join(tarred, 'tarred_audio_manifest.json'))).toMatchObject([{ text }]);
    for (const made of [built, tarred]) {
      const { exitCode, stdout } = await runCli(['check', made]);
      expect(exitCode, stdout).toBe(0);
      expect(stdout).not.toMatch(/text/u);
    }
  });
});
