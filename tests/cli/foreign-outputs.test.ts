// No command replaces what another one made.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import { makeGoodCorpus } from '../support/cut-runs.js';
import { readTree } from '../support/pack-runs.js';
import { buildWav } from '../support/wav-files.js';
import { runCli } from './run-cli.js';

let folder: string;
let commands: Record<'cut' | 'build' | 'tar', (out: string) => string[]>;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-foreign-'));
  writeFileSync(path.join(folder, 'a.wav'), buildWav(new Float64Array(800), { sampleRate: 8000 }));
  writeFileSync(path.join(folder, 'a.tsv'), 'a\ta.wav\tone\n');
  writeFileSync(path.join(folder, 'a.json'), '{"audio_filepath":"a.wav","duration":0.1,"text":"one"}\n');
  mkdirSync(path.join(folder, 'corpus'));
  const { options } = await makeGoodCorpus(path.join(folder, 'corpus'), 1);
  await cut({ ...options, outputDir: path.join(folder, 'cut'), dryRun: true });
  const at = (name: string): string => path.join(folder, name);
  commands = {
    cut: (out) => [
      'cut',
      '--input-manifest',
      options.inputManifest,
      '--audio-path-resolution',
      'as_is',
      '--max-duration-sec',
      '30',
      '--output-dir',
      out,
    ],
    build: (out) => ['build', '--input', at('a.tsv'), '--output-dir', out, '--num-tars', '1', '--jobs', '1'],
    tar: (out) => [
      'tar',
      '--manifest-path',
      at('a.json'),
      '--target-dir',
      out,
      '--num-shards',
      '1',
      '--only-manifests',
    ],
  };
  for (const name of ['build', 'tar'] as const) {
    const { exitCode, stderr } = await runCli(commands[name](at(name)));
    expect(exitCode, stderr).toBe(0);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const pairs = (['cut', 'build', 'tar'] as const).flatMap((command) =>
  (['cut', 'build', 'tar'] as const).filter((owner) => owner !== command).map((owner) => [command, owner] as const),
);

describe('outputs of another command', () => {
  it.each(pairs)('"%s" leaves those of "%s" alone, also with --overwrite', async (command, owner) => {
    const out = path.join(folder, owner);
    const before = readTree(out);
    for (const flags of [[], ['--overwrite']]) {
      const { exitCode, stderr } = await runCli([...commands[command](out), ...flags]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`error: Cannot write to "${out}": the outputs of "cutroom ${owner}" are there\n`);
      expect(stderr.split('\n')).toHaveLength(3);
    }
    expect(readTree(out)).toEqual(before);
  });
});
