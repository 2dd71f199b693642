import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rowOf, ShardFolder, tarBytes } from '../support/shard-files.js';
import { runCli } from './run-cli.js';

let folder: string;
let shards: ShardFolder;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-gen-lst-'));
  shards = new ShardFolder(folder).add('t.0', ['a.flac', 'b.flac']).add('t.1', ['c.flac']);
});
afterEach(() => rmSync(folder, { recursive: true }));

const genLst = (...more: string[]): string[] => [
  ...['gen-lst', '--audio-pattern', shards.pattern, '--txt-dir', shards.manifests, '--output', shards.list],
  ...['--jobs', '1', ...more],
];

describe('cutroom gen-lst', () => {
  it('writes the list and says what is on it', async () => {
    const { stdout, stderr, exitCode } = await runCli(genLst());
    expect(exitCode).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      /^Done\.\n {2}shards {4}2 listed, 0 left out\n {2}samples {3}3\n {2}audio {5}0\.001250 h\n/u,
    );
    expect(stderr).toMatch(/problems {2}none\n/u);
    expect(readFileSync(shards.list, 'utf8')).toBe(
      `${shards.tar('t.0')} ${shards.manifest('t.0')} 0.000833 2\n${shards.tar('t.1')} ${shards.manifest('t.1')} 0.000417 1\n`,
    );
  });

  it('answers to gen_lst, too, and says nothing with --quiet', async () => {
    const { stdout, stderr, exitCode } = await runCli(['gen_lst', ...genLst('--quiet').slice(1)]);
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: '', stderr: '', exitCode: 0 });
    expect(existsSync(shards.list)).toBe(true);
  });

  it('warns of problems and writes the list all the same', async () => {
    shards.add('t.1', ['c.flac', 'd.flac'], [rowOf('c.flac'), 'oops']);
    const { stderr, exitCode } = await runCli(genLst());
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`warning: ${shards.manifest('t.1')}:2:1: `);
    expect(stderr).toContain(`warning: ${shards.tar('t.1')} at byte 1,024: the member "d.flac" has no row\n`);
    expect(stderr).toMatch(/problems {2}bad_row 1, member_without_row 1\n/u);
    expect(existsSync(shards.list)).toBe(true);
  });

  it('writes nothing with --strict, and ends with 1', async () => {
    shards.add('t.1', ['c.flac', 'd.flac'], [rowOf('c.flac')]);
    const { stderr, exitCode } = await runCli(genLst('--strict'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the member "d.flac" has no row\n');
    expect(stderr).toContain('No list was written.\n');
    expect(stderr.endsWith(`error: "${shards.list}" was not written: 1 problem, and --strict allows none\n`)).toBe(
      true,
    );
    expect(existsSync(shards.list)).toBe(false);
    const quiet = await runCli(genLst('--strict', '--quiet'));
    expect(quiet.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('keeps an earlier list when --strict refuses', async () => {
    await runCli(genLst());
    const before = readFileSync(shards.list, 'utf8');
    writeFileSync(shards.tar('t.1'), tarBytes(['c.flac']).subarray(0, 700));
    expect((await runCli(genLst('--strict'))).exitCode).toBe(1);
    expect(readFileSync(shards.list, 'utf8')).toBe(before);
  });

  it('shows five problems of a kind, and all with --verbose', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `u${index}.flac`);
    shards.add('t.2', names, []);
    const brief = await runCli(genLst());
    expect(brief.stderr.match(/has no row/gu)).toHaveLength(5);
    expect(brief.stderr).toContain('warning: 4 more of member_without_row; --verbose shows all\n');
    const verbose = await runCli(genLst('--verbose'));
    expect(verbose.stderr.match(/has no row/gu)).toHaveLength(9);
  });

  it('prints the summary as JSON on stdout', async () => {
    shards.add('t.1', ['c.flac'], []);
    const { stdout, stderr } = await runCli(genLst('--json', '--quiet'));
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      result: 'written',
      shards: 2,
      shards_left_out: 0,
      samples: 2,
      duration_sec: 3,
      duration_hours: 0.000833,
      outputs: { list: shards.list },
      problem_counts: { member_without_row: 1 },
      problems: [{ kind: 'member_without_row', file: shards.tar('t.1'), offset_bytes: 0, id: 'c' }],
    });
    const refused = await runCli(genLst('--json', '--quiet', '--strict'));
    expect(JSON.parse(refused.stdout)).toMatchObject({ result: 'refused', outputs: { list: null } });
  });

  it('takes prefixes and --no-sort', async () => {
    writeFileSync(path.join(shards.audios, 'audio.9.tar'), tarBytes(['x.flac']));
    shards.add('text.9', ['x.flac']);
    rmSync(shards.tar('text.9'));
    const more = ['--audio-prefix', 'audio', '--txt-prefix', 'text', '--no-sort'];
    const argv = genLst(...more).with(2, `${shards.audios}/{audio,t}.*.tar`);
    const { exitCode, stderr } = await runCli(argv);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('its name does not begin with the prefix "audio"');
    expect(readFileSync(shards.list, 'utf8')).toBe(
      `${shards.audios}/audio.9.tar ${shards.manifest('text.9')} 0.000417 1\n`,
    );
  });

  it('stops with 130 on a signal, without a list', async () => {
    const stop = new AbortController();
    stop.abort(new Error('SIGTERM'));
    const { exitCode, stderr } = await runCli(genLst(), { signal: stop.signal });
    expect(exitCode).toBe(130);
    expect(stderr).toContain('error: The list was not written: the run was stopped');
    expect(existsSync(shards.list)).toBe(false);
  });
});

describe('cutroom gen-lst with a wrong flag', () => {
  it.each([
    [['--audio-pattern', ''], /--audio-pattern must not be empty/u, 2],
    [['--audio-pattern', '/nowhere/*.tar'], /No tar matches the pattern "\/nowhere\/\*\.tar"\nhint: /u, 1],
    [['--txt-dir', '/nowhere'], /folder of the manifests "\/nowhere": there is no such folder/u, 1],
    [['--output', '/'], /it is a folder/u, 2],
    [['--audio-prefix', 'a'], /--audio-prefix and --txt-prefix go together\nhint: /u, 2],
    [['--jobs', '0'], /--jobs must be a whole number/u, 2],
    [['--quiet', '--verbose'], /--quiet and --verbose exclude each other/u, 2],
    [['--audio-patern', 'x'], /^hint: Did you mean --audio-pattern\?$/mu, 2],
    [['--no-srot'], /^hint: Did you mean --no-sort\?$/mu, 2],
    [['--input-manifest', 'x'], /^hint: cutroom gen-lst --help lists all flags\.$/mu, 2],
  ])('%j: names it', async (change, message, code) => {
    const argv = genLst();
    const at = argv.indexOf(change[0] ?? '');
    const changed = at < 0 ? [...argv, ...change] : argv.with(at + 1, change[1] ?? '');
    const { stdout, stderr, exitCode } = await runCli(changed);
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
    // The parser's own codes are negative; main turns them into 2.
    expect(exitCode < 0 ? 2 : exitCode).toBe(code);
    expect(existsSync(shards.list)).toBe(false);
  });

  it('suggests flags of the command that was typed alone', async () => {
    const { stderr } = await runCli(['cut', '--txt-dir', 'x']);
    expect(stderr).not.toContain('--txt-dir?');
    expect((await runCli(['cut', '--frobnicating', 'x'])).stderr).toContain(
      'hint: cutroom cut --help lists all flags.',
    );
    expect((await runCli(['gen_lst', '--frobnicating', 'x'])).stderr).toContain('hint: cutroom gen-lst --help');
  });
});
