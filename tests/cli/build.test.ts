import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSine } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { runCli } from './run-cli.js';

let folder: string;
let out: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-build-'));
  out = path.join(folder, 'out');
  writeFileSync(path.join(folder, 'a.wav'), buildWav(makeSine(1600, 16_000, 300)));
  const lines = ['u1\ta.wav\tone', 'u2\ta.wav\ttwo', 'u3\ta.wav\t', 'u4'];
  writeFileSync(path.join(folder, 'train.tsv'), lines.join('\n'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const build = (...more: string[]): string[] => ['build', '--output-dir', out, '--jobs', '1', ...more];
const planning = (...more: string[]): string[] =>
  build('--input', path.join(folder, 'train.tsv'), '--balance-by', 'samples', ...more);

describe('cutroom build', () => {
  it('packs, says what failed, and ends with 1', async () => {
    const { stdout, stderr, exitCode } = await runCli(planning('--num-tars', '2', '--format', 'Flac'));
    expect(stdout).toBe('');
    expect(stderr).toContain('warning: 1 text is empty: ATdataset reads <|EMPTY|> there\nDone.\n');
    expect(stderr).toContain(
      '  rows            4 read, 3 planned\n  rows failed     field_count 1\n  members failed  none\n',
    );
    expect(stderr).toContain(
      '  samples         3, 1 to 2 a shard\n  audio           0.000083 h, 0.000028 to 0.000056 h a shard\n',
    );
    expect(stderr).toContain(
      `${path.join(folder, 'train.tsv')}:4: the line has 1 field; 3, 5 or 6 are expected\n    hint: `,
    );
    expect(stderr).toContain(
      `\nerror: 1 row failed, more than --max-failures 0 allows: the exit code is 1, or 0 with --on-error skip; see "`,
    );
    expect(exitCode).toBe(1);
    expect(readFileSync(path.join(out, 'data.lst'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
    const again = await runCli(build('--json', '--max-failures', '1'));
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain('This dataset is finished already; nothing was done.\n');
    expect(JSON.parse(again.stdout)).toMatchObject({
      result: 'already_done',
      rows_read: 4,
      samples: 3,
      failed_rows: { field_count: 1 },
      within_max_failures: true,
    });
  });

  it('shows a plan, takes --no-lst with and without a value, and --workers', async () => {
    const flags = ['--num-tars', '1', '--plan-only', '--on-error', 'skip'];
    const { stderr, exitCode } = await runCli(planning(...flags, '--no-lst', 'yes'));
    expect(stderr).toContain('Planned; no shard was made.\n');
    expect(stderr).toContain('  audio        not measured\n');
    expect(exitCode).toBe(0);
    const more = ['build', '--output-dir', out, '--no-lst', '--workers', '1', '--quiet', '--max-failures', '1'];
    expect(await runCli(more)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
    expect(existsSync(path.join(out, 'metrics.json'))).toBe(true);
    expect(existsSync(path.join(out, 'data.lst'))).toBe(false);
  });

  it.each([
    [[], '--output-dir', 'There is no plan'],
    [['--input', 'x.tsv'], '--num-tars', 'how many shards'],
    [['--input', 'x.tsv', '--num-tars', '1', '--samples-per-tar', '2'], 'how large', 'Only one of'],
    [['--plan-only', '--split-start', '0'], '', '--plan-only makes no shards'],
    [['--split-start', '3', '--split-end', '3'], 'up to', '--split-start 3 is not below --split-end 3'],
    [['--workers', '1'], '', '--jobs and --workers are the same'],
    [['--quiet', '--verbose'], '', '--quiet and --verbose exclude each other'],
    [['--format', 'WAV', '--compression-level', '0.5'], '--format MP3', 'for MP3 alone'],
    [['--format', 'aac'], '', 'must be FLAC, MP3, WAV, OGG or OPUS'],
    [['--no-lst', 'maybe'], '', 'must be yes or no'],
    [['--num-shards', '3'], 'Did you mean', 'There is no flag --num-shards'],
  ])('refuses %j with a hint', async (flags, hint, message) => {
    const { stderr, exitCode } = await runCli(build(...flags));
    expect(stderr).toContain(message);
    if (hint !== '' && hint !== '--output-dir') expect(stderr).toContain(hint);
    expect(exitCode).not.toBe(0);
    expect(existsSync(out)).toBe(false);
  });

  it('refuses a folder that a list cannot hold, unless there is to be none', async () => {
    out = path.join(folder, 'my out');
    const { stderr, exitCode } = await runCli(planning('--num-tars', '1'));
    expect(stderr).toContain('it holds white space (U+0020)');
    expect(exitCode).toBe(2);
    expect(existsSync(out)).toBe(false);
  });

  it('stops with 130 on a signal', async () => {
    const stop = new AbortController();
    stop.abort(new Error('SIGTERM'));
    const { exitCode } = await runCli(planning('--num-tars', '1'), { signal: stop.signal });
    expect(exitCode).toBe(130);
  });
});
