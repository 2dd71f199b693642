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
    expect(stderr.replace(/time {9}\d+ s/u, 'time         0 s')).toBe(
      [
        'Wrote the manifests; no audio was packed.',
        '  rows         3 read, 2 planned',
        '  rows failed  none',
        '  too long     1 row, 2.000000 h',
        '  shards       1',
        '  samples      2, 2 a shard',
        '  audio        1.500000 h, 1.500000 h a shard',
        '  time         0 s',
        `  dataset      ${place.target}`,
        `  metrics      ${place.target}/metrics.json`,
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
    expect(stderr.replace(/time {10}\d+ s/u, 'time          0 s')).toBe(
      [
        'Planned; nothing was written.',
        '  rows          4 read, 4 planned',
        '  rows failed   none',
        '  shortest row  1.5 s',
        '  longest row   7200 s',
        '  shards        2',
        '  samples       4, 2 a shard',
        '  audio         3.500417 h, 0.500417 to 3.000000 h a shard',
        '  time          0 s',
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
      rows_read: 3,
      duration_read_sec: 12_600,
      rows_planned: 2,
      samples: 2,
      duration_sec: 5400,
      duration_hours: 1.5,
      shards: 2,
      copied: 0,
      dropped: { rows: 1, duration_sec: 7200 },
      datasets: [{ folder: '', shards: 2, smallest_shard: { samples: 1 }, largest_shard: { samples: 1 } }],
      within_max_failures: true,
      outputs: { failures: path.join(place.target, 'failures.jsonl') },
    });
  });

  it('does what can be done, counts rows that failed by reason and ends with 1', async () => {
    const lines = Array.from({ length: 8 }, (_, index) => rowOf(`gone${index}.wav`));
    const bad = place.addManifest('bad.json', [rowOf('a.wav'), ...lines, '{]'], ['a.wav']);
    const flags = tar('--manifest-path', bad, '--num-shards', '1');
    const dry = await runCli([...flags, '--dry-run']);
    expect(dry.exitCode).toBe(1);
    expect(dry.stderr).toContain('Planned; nothing was written.\n  rows          10 read, 1 planned\n');
    expect(dry.stderr).toContain('  rows failed   missing_recording 8, invalid_json 1\n');
    expect(existsSync(place.target)).toBe(false);
    const verbose = await runCli([...flags, '--dry-run', '--verbose']);
    expect(verbose.stderr.match(/there is no file/gu)).toHaveLength(8);

    const { stderr, exitCode } = await runCli(flags);
    expect(exitCode).toBe(1);
    const first = `${bad}:2: there is no file "${path.join(place.folder, 'gone0.wav')}"\n    hint: relative paths`;
    expect(stderr).toContain(`The first failure of each reason:\n  ${first}`);
    expect(stderr).toContain(`\n  ${bad}:10:2: `);
    expect(stderr).toContain('  rows failed  missing_recording 8, invalid_json 1\n');
    const failuresPath = path.join(place.target, 'failures.jsonl');
    expect(stderr).toContain(`  failures     ${failuresPath}\n`);
    expect(readFileSync(failuresPath, 'utf8').trimEnd().split('\n')).toHaveLength(9);

    const again = await runCli([...flags, '--verbose']);
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain('This dataset is finished already; nothing was done.\n');
    expect(again.stderr.match(/there is no file/gu)).toHaveLength(8);
    const quiet = await runCli([...flags, '--quiet']);
    const state =
      'error: 9 rows failed, more than --max-failures 0 allows: the exit code is 1, or 0 with --on-error skip';
    expect(quiet.stderr).toBe(`${state}; see "${failuresPath}"\n`);
    expect(stderr.endsWith(quiet.stderr)).toBe(true);
    const skipped = await runCli([...flags, '--on-error', 'skip', '--overwrite']);
    expect(skipped.exitCode).toBe(0);
  });

  it('lists with --verbose what failed where no row can be used', async () => {
    const bad = place.addManifest('bad.json', ['{]', '{}'], []);
    const { stderr, exitCode } = await runCli(tar('--manifest-path', bad, '--num-shards', '1', '--verbose'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${bad}:2: the row has no "audio_filepath"`);
    expect(stderr).toContain('error: No row of');
  });

  it('packs audio and tells the time it took', async () => {
    const flags = ['--target-dir', place.target, '--num-shards', '1', '--jobs', '1'];
    const { stderr, exitCode } = await runCli(['tar', '--manifest-path', manifest, ...flags]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^Done\.\n {2}rows {12}3 read, 3 planned\n {2}rows failed {5}none\n {2}members failed {2}none\n/u,
    );
    expect(stderr).toMatch(/\n {2}copied {10}3 of 3 members as they are\n {2}time {12}\d+ s, \d+ × real time\n/u);
    const again = await runCli(['tar', '--manifest-path', manifest, ...flags]);
    expect(again.stderr).toContain('This dataset is finished already; nothing was done.\n');
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
