// Exports that are killed, and those of files that cannot be decoded.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scan } from '#cutroom/sample/scan.js';
import { runCli } from '../../cli/run-cli.js';
import { damageAt } from '../../support/cut-runs.js';
import { extensionOf, writeEncoded } from '../../support/encode.js';
import { expectTree, readTree } from '../../support/pack-runs.js';
import { makeNoise } from '../../support/signals.js';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const RATE = 44_100;

let folder = '';
let cache = '';
const at = (name: string): string => path.join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-export-slow-'));
  cache = at('cache');
  mkdirSync(at('corpus'));
  const signal = { samples: makeNoise(RATE * 8, 2), sampleRate: RATE, channels: 2 };
  for (const kind of ['flac', 'mp3-cbr', 'vorbis'] as const) {
    writeEncoded(at(`corpus/${kind}.${extensionOf(kind)}`), signal, kind);
  }
  await scan({ sources: [at('corpus')], out: cache });
});
afterAll(() => rmSync(folder, { recursive: true }));

const flags = (out: string, jobs: number): string[] => [
  ...['sample', '--scan', cache, '--sample-rate', '16000', '--epochs', 'forever', '--count', '150'],
  ...['--num-tars', '3', '--export', out, '--jobs', String(jobs), '--quiet'],
];

/** Runs the program; undefined where it was killed first. */
async function runProgram(out: string, signal: NodeJS.Signals, killMs: number): Promise<number | undefined> {
  const child = spawn(process.execPath, [MAIN, ...flags(out, 2)], { stdio: 'ignore' });
  const ended = new Promise<number | undefined>((resolve) => {
    child.on('exit', (code) => resolve(code ?? undefined));
  });
  const late = sleep(killMs).then(() => 'late' as const);
  if ((await Promise.race([ended, late])) === 'late') child.kill(signal);
  return await ended;
}

describe('cutroom sample --export', () => {
  it('makes the same bytes whatever the jobs, and after being killed anywhere', async () => {
    // The list holds the paths of the shards, so all runs have the same folder.
    const out = at('out');
    const { exitCode, stderr } = await runCli(flags(out, 1));
    expect([exitCode, stderr]).toEqual([0, '']);
    const undisturbed = readTree(out);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      rmSync(out, { recursive: true });
      let kills = 0;
      for (let killMs = 500; ; killMs += 500) {
        const code = await runProgram(out, signal, killMs);
        if (code === 0) break;
        // Before it listens to signals, the process dies of any.
        expect(signal === 'SIGKILL' ? [undefined] : [undefined, 130]).toContain(code);
        kills += 1;
      }
      expect(kills).toBeGreaterThan(0);
      expectTree(out, undisturbed, signal);
    }
  });

  it('tells of draws that cannot be decoded, and writes the others', async () => {
    mkdirSync(at('damaged'));
    writeFileSync(at('damaged/good.flac'), readFileSync(at('corpus/flac.flac')));
    writeFileSync(at('damaged/bad.flac'), readFileSync(at('corpus/flac.flac')));
    const scanned = ['scan', at('damaged'), '--out', at('damaged-cache'), '--quiet'];
    expect((await runCli(scanned)).exitCode).toBe(0);
    // Its header and its end, which a scan looks at, are as they were.
    const bytes = damageAt(readFileSync(at('damaged/bad.flac')), 0.5);
    writeFileSync(at('damaged/bad.flac'), bytes);
    expect((await runCli([...scanned, '--overwrite'])).exitCode).toBe(0);
    const asked = ['sample', '--scan', at('damaged-cache'), '--export', at('partly'), '--no-shuffle', '--jobs', '1'];
    const { stderr, exitCode } = await runCli(asked);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^ {2}excerpts +1[3-5] of 16 draws$/mu);
    expect(stderr).toMatch(/The first failure of each reason:\n {2}recordings: .*bad\.flac/u);
    const metrics = JSON.parse(readFileSync(at('partly/metrics.json'), 'utf8')) as Record<string, unknown>;
    const failures = readFileSync(at('partly/failures.jsonl'), 'utf8').trimEnd().split('\n');
    expect(metrics).toMatchObject({ draws: 16, samples: 16 - failures.length });
    const allowed = await runCli([...asked, '--on-error', 'skip']);
    expect([allowed.exitCode, allowed.stderr.split('\n')[0]]).toEqual([
      0,
      'This export is finished already; nothing was done.',
    ]);
    const checked = await runCli(['check', at('partly')]);
    expect(checked.stdout).not.toContain('error ');
  });
});
