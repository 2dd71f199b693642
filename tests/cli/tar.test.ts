import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rowOf, TarFolder } from '../tarred/tar-runs.js';
import { runCli } from './run-cli.js';

let place: TarFolder;
let manifest: string;
beforeEach(() => {
  place = new TarFolder();
  manifest = place.addManifest('m.json', [rowOf('a.wav', 1800), rowOf('b.wav', 3600), rowOf('c.wav', 7200)]);
});
afterEach(() => place.remove());

const tar = (...more: string[]): string[] => ['tar', '--target-dir', place.target, '--only-manifests', ...more];

describe('cutroom tar', () => {
  it('writes a dataset and says what is in it', async () => {
    const { stdout, stderr, exitCode } = await runCli(
      tar('--manifest-path', manifest, '--num-shards', '1', '--max-duration', '7200'),
    );
    expect(exitCode).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      [
        'Wrote the manifests; no audio was packed.',
        '  in        3 rows, 3.500 h',
        '  out       2 rows, 1.500 h',
        '  too long  1 row, 2.000 h',
        '  shards    1 of 2 rows',
        `  dataset   ${place.target}`,
        '',
      ].join('\n'),
    );
    expect(existsSync(path.join(place.target, 'metadata.yaml'))).toBe(true);
  });

  it('takes flags as Python spells them, and more manifests without a flag', async () => {
    const other = place.addManifest('n.json', [rowOf('d_e.wav')]);
    const flags = [
      '--manifest_path',
      manifest,
      other,
      '--num_shards=2',
      '--shuffle',
      '--shuffle_seed',
      '1',
      '--dry_run',
    ];
    const { stderr, exitCode } = await runCli(tar(...flags, '--workers', '-1'));
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      [
        'Planned; nothing was written.',
        '  shortest row  1.5 s',
        '  longest row   7200 s',
        '  rows          4 of 4',
        '  audio         3.500 h of 3.500 h',
        '  shards        2 of 2 rows',
        '',
      ].join('\n'),
    );
    expect(existsSync(place.target)).toBe(false);
  });

  it('prints the summary as JSON on stdout, and nothing else with --quiet', async () => {
    const flags = ['--manifest-path', manifest, '--num-shards', '2', '--remainder', 'drop', '--json', '--quiet'];
    const { stdout, stderr } = await runCli(tar(...flags));
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      result: 'manifests',
      target_dir: place.target,
      read: { rows: 3, duration_sec: 12_600 },
      written: { rows: 2 },
      dropped: { rows: 1, duration_sec: 7200 },
      datasets: [{ folder: '', num_shards: 2, smallest_shard_rows: 1, largest_shard_rows: 1 }],
      failures_path: path.join(place.target, 'failures.jsonl'),
    });
  });

  it('lists rows that cannot be used, writes nothing and ends with 1', async () => {
    const lines = Array.from({ length: 8 }, (_, index) => rowOf(`gone${index}.wav`));
    const bad = place.addManifest('bad.json', [rowOf('a.wav'), ...lines, '{]'], ['a.wav']);
    const { stderr, exitCode } = await runCli(tar('--manifest-path', bad, '--num-shards', '1'));
    expect(exitCode).toBe(1);
    expect(stderr.match(/there is no file/gu)).toHaveLength(5);
    expect(stderr).toContain(`${bad}:2: there is no file "gone0.wav" ("${path.join(place.folder, 'gone0.wav')}")`);
    expect(stderr).toContain('3 more of missing_audio\n');
    expect(stderr).toContain(`${bad}:10:2: `);
    expect(stderr).toContain('Nothing was written.\n  in  10 rows');
    expect(stderr).toContain(
      'error: 9 rows cannot be used: nothing was written\nhint: --on-error skip leaves them out',
    );
    expect(existsSync(place.target)).toBe(false);
    const verbose = await runCli(tar('--manifest-path', bad, '--num-shards', '1', '--verbose'));
    expect(verbose.stderr.match(/there is no file/gu)).toHaveLength(8);
    const quiet = await runCli(tar('--manifest-path', bad, '--num-shards', '1', '--quiet'));
    expect(quiet.stderr.trimEnd().split('\n')).toHaveLength(2);
    const skipped = await runCli(tar('--manifest-path', bad, '--num-shards', '1', '--on-error', 'skip'));
    expect(skipped.exitCode).toBe(0);
    expect(skipped.stderr).toContain('refused   missing_audio 8, invalid_json 1\n');
    const failures = readFileSync(path.join(place.target, 'failures.jsonl'), 'utf8');
    expect(failures.trimEnd().split('\n')).toHaveLength(9);
  });

  it('packs audio and tells the time it took', async () => {
    const flags = ['--target-dir', place.target, '--num-shards', '1', '--jobs', '1'];
    const { stderr, exitCode } = await runCli(['tar', '--manifest-path', manifest, ...flags]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^Done\.\n {2}in {7}3 rows, 3\.500 h\n {2}out/u);
    expect(stderr).toMatch(/\n {2}members {2}3 copied, 0 encoded, 4 kB\n {2}time {5}\d+ s, [\d,]+ rows\/s\n/u);
    const again = await runCli(['tar', '--manifest-path', manifest, ...flags]);
    expect(again.stderr).toContain('This run is finished already; nothing was done.\n');
  });

  it.each([
    [[], 'No manifest is given'],
    [['--manifest-path', 'm.json'], '--num-shards is needed'],
    [['--manifest-path', 'm.json', '--num-shards', '0'], 'must be a whole number of 1 or more'],
    [
      ['--manifest-path', 'm.json', '--num-shards', '1', '--jobs', '1', '--workers', '1'],
      '--jobs and --workers are the same',
    ],
    [['--manifest-path', 'm.json', '--num-shard', '1'], '--num-shards'],
  ])('refuses %j', async (flags, message) => {
    const { stderr, exitCode } = await runCli(['tar', ...flags]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });

  it('has help with examples', async () => {
    const { stdout } = await runCli(['tar', '--help']);
    expect(stdout).toContain('cutroom tar --manifest-path train.json --target-dir tarred --num-shards 64');
    expect(stdout).toContain('--keep-files-together');
  });
});
