import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { runCli } from './run-cli.js';

let folder: string;
let corpus: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-scan-'));
  corpus = path.join(folder, 'corpus');
  mkdirSync(corpus);
  writeFileSync(path.join(corpus, 'a.wav'), buildWav(makeNoise(16_000), { sampleRate: 16_000 }));
  writeFileSync(path.join(corpus, 'bad.wav'), 'junk');
});
afterAll(() => rmSync(folder, { recursive: true }));

const scan = (out: string, ...more: string[]): string[] => [
  ...['scan', corpus, '--out', path.join(folder, out), '--jobs', '1'],
  ...more,
];

describe('cutroom scan', () => {
  it('says what it found, and ends with 1 where a file cannot be read', async () => {
    const { stdout, stderr, exitCode } = await runCli(
      scan('one', '--lufs', '--lufs-window', '0.5', '--sample-rate', 'native'),
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toMatch(/^Done\.\n {2}files {5}1, 0\.000278 h, 32,044 bytes\n/u);
    expect(stderr).toContain('  failed    not_audio 1\n');
    expect(stderr).toContain('  loudness  2 windows, no file is silent\n');
    expect(stderr).toContain(
      `The first failure of each reason:\n  failed: Cannot read "${path.join(corpus, 'bad.wav')}": `,
    );
    const manifest = JSON.parse(readFileSync(path.join(folder, 'one', 'manifest.json'), 'utf8')) as unknown;
    expect(manifest).toMatchObject({ lufs_window_sec: 0.5, sample_rate: null, mono: true });
  });

  it('ends with 0 with --on-error skip, and gives figures as JSON', async () => {
    const { stdout, stderr, exitCode } = await runCli(scan('two', '--on-error', 'skip', '--json', '--quiet'));
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ result: 'scanned', files: 1, duration_sec: 1, read_files: 2, kept_files: 0, failed: { not_audio: 1 } },
      ...{ lufs_windows: null, outputs: { scan: path.join(folder, 'two', 'scan.jsonl'), lufs: null } },
    });
  });

  it.each([
    [['--sample-rate', '16000'], '--sample-rate is given without --lufs'],
    [['--no-mono'], '--mono is given without --lufs'],
    [['--lufs', '--lufs-window', '0.2'], 'Loudness cannot be measured in windows of 0.2 s'],
    [['--sample-rate', 'x'], '--sample-rate must be a whole number of Hz, or native, but is "x"'],
    [['--quiet', '--verbose'], '--quiet and --verbose exclude each other'],
  ])('refuses %j', async (flags, message) => {
    const { stderr, exitCode } = await runCli(scan('three', ...flags));
    expect(stderr).toContain(`error: ${message}`);
    expect(Math.abs(exitCode)).toBeGreaterThan(0);
  });

  it('names sources that lead to nothing, and ends with 1', async () => {
    const { stderr, exitCode } = await runCli(['scan', path.join(folder, 'none*'), '--out', path.join(folder, 'four')]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`none*" matches no file\nhint: `);
  });
});
