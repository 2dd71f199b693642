import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckFolder } from '../check/check-folder.js';
import { ShardFolder } from '../support/shard-files.js';
import { runCli } from './run-cli.js';

let folder: CheckFolder;
beforeEach(() => {
  folder = new CheckFolder();
  folder.wav('a.wav');
});
afterEach(() => folder.remove());

const good = { audio_filepath: 'a.wav', text: 'hello there', duration: 1 };
const canary = { ...good, source_lang: 'en', target_lang: 'en', task: 'asr' };

describe('cutroom check', () => {
  it('says that nothing is wrong, and ends with 0', async () => {
    const target = folder.rows('train.json', [good]);
    const { stdout, stderr, exitCode } = await runCli(['check', target]);
    expect(stdout).toMatch(
      new RegExp(
        `^${target}: NeMo manifest, 1 row, 0\\.000 h\\n {2}no problem found\\n\\n1 path checked in [\\d.]+ s: no problem\\n$`,
        'u',
      ),
    );
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  it('tells problems by kind, errors first, with the first places and one hint, and ends with 1', async () => {
    const rows = Array.from({ length: 7 }, (_, k) => ({ ...good, audio_filepath: `none${k}.wav`, text: '' }));
    const target = folder.rows('train.json', rows);
    const { stdout, exitCode } = await runCli(['check', target]);
    expect(exitCode).toBe(1);
    expect(stdout.split('\n').slice(1, -3)).toEqual([
      '  error audio_missing: 7',
      ...[0, 1, 2, 3, 4].map((k) => `    line ${k + 1}: there is no file "${folder.path(`none${k}.wav`)}"`),
      '    and 2 more; --verbose shows more',
      '    hint: relative paths are taken from the folder of the manifest; --base DIR names another',
      '  warning empty_text: 7',
      ...[1, 2, 3, 4, 5].map((line) => `    line ${line}: the text is empty`),
      '    and 2 more; --verbose shows more',
      '    hint: it is kept and trains on nothing said, unless filtered',
    ]);
    expect(stdout).toMatch(/1 path checked in [\d.]+ s: 7 errors, 7 warnings\n$/u);
    const verbose = await runCli(['check', target, '--verbose']);
    expect(verbose.stdout.match(/there is no file/gu)).toHaveLength(7);
    expect(verbose.stdout).not.toContain('more');
  });

  it('ends with 1 where there are warnings alone', async () => {
    const { stdout, exitCode } = await runCli(['check', folder.rows('train.json', [{ ...good, text: null }])]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/: 0 errors, 1 warning\n$/u);
  });

  it('prints the same as JSON', async () => {
    const target = folder.rows('train.json', [good, 'oops']);
    const { stdout, exitCode } = await runCli(['check', target, folder.path('none'), '--json']);
    expect(exitCode).toBe(1);
    const { paths, ...totals } = JSON.parse(stdout) as { paths: unknown[]; wall_sec: number };
    expect(totals).toEqual({ result: 'problems', problems: 2, wall_sec: expect.any(Number) as number });
    expect(paths).toEqual([
      {
        path: target,
        kind: 'nemo',
        rows: 2,
        duration_hours: 0.000278,
        problems: 1,
        notes: [],
        findings: [
          {
            kind: 'invalid_json',
            severity: 'error',
            count: 1,
            first: [
              {
                message: 'a value is expected, but "o" stands there',
                file: target,
                line: 2,
                column: 1,
                hint: 'each line must be a JSON object',
              },
            ],
          },
        ],
      },
      expect.objectContaining({ path: folder.path('none'), kind: null, problems: 1 }),
    ]);
  });

  it('takes the kind that it is told', async () => {
    const target = folder.rows('train.json', [good]);
    const { stdout } = await runCli(['check', target, '--as', 'canary_v1']);
    expect(stdout).toContain('error missing_prompt_key: 4\n');
    const { stderr, exitCode } = await runCli(['check', target, '--as', 'canary']);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('canary_v1');
  });

  it('writes a corrected copy, says what it changed, and ends with 0 where nothing is left', async () => {
    const target = folder.rows('train.json', [{ ...canary, pnc: 'Yes' }]);
    const copy = folder.path('fixed.json');
    const { stdout, exitCode } = await runCli(['check', target, '--fix', copy]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      `  corrected copy: ${copy}, 1 change\n    yes_misread: 1\n      line 1: pnc "Yes" -> "yes"\n    nothing is wrong with the copy\n`,
    );
    expect(stdout).toMatch(/: 1 error, 0 warnings, and none in the copy\n$/u);
    expect(readFileSync(copy, 'utf8')).toBe(`${JSON.stringify({ ...canary, pnc: 'yes' })}\n`);
    const again = await runCli(['check', target, '--fix', copy]);
    expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--overwrite') as string });
    expect((await runCli(['check', target, '--fix', copy, '--overwrite', '--json'])).exitCode).toBe(0);
  });

  it('ends with 1 where something is left in the copy', async () => {
    const target = folder.rows('train.json', [{ ...canary, pnc: 'maybe' }]);
    const { stdout, exitCode } = await runCli(['check', target, '--fix', folder.path('fixed.json')]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('    left in the copy: value_not_allowed 1\n');
  });

  it('says nothing with --quiet but by its exit code', async () => {
    const target = folder.rows('train.json', ['oops', JSON.stringify(good)]);
    expect(await runCli(['check', target, '--quiet'])).toEqual({ stdout: '', stderr: '', exitCode: 1 });
  });

  it('refuses flags that contradict each other', async () => {
    const target = folder.rows('train.json', [good]);
    for (const flags of [['--quiet', '--verbose'], ['--workers', '2'], ['--overwrite'], ['--fix', target]]) {
      const { stderr, exitCode } = await runCli(['check', target, ...flags]);
      expect(exitCode, flags.join(' ')).toBe(2);
      expect(stderr).toMatch(/^error: /u);
    }
    expect((await runCli(['check'])).exitCode).not.toBe(0);
  });

  it('shows where it is on a terminal, and takes the line away', async () => {
    const target = folder.rows(
      'train.json',
      Array.from({ length: 30_000 }, () => good),
    );
    const { stderr } = await runCli(['check', target], { isTerminal: true });
    expect(stderr).toContain(`reading ${target}: `);
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
  });

  it('tells what ranks read of a list of shards, and what nobody reads', async () => {
    const shards = new ShardFolder(folder.folder);
    for (const name of ['t.0', 't.1', 't.2']) shards.add(name, [`${name.replace('.', '_')}.flac`]);
    const list = ['t.0', 't.1', 't.2'].map((name) => `${shards.tar(name)} ${shards.manifest(name)} 0.000417 1\n`);
    const target = folder.write('data.lst', list.join(''));
    const { stdout, exitCode } = await runCli(['check', target, '--world-size', '2', '--jobs', '1']);
    expect(stdout).toContain('list of ATdataset shards, 3 shards');
    expect(stdout).toContain('  2 ranks of 1 worker\n');
    expect(exitCode).toBe(1);
  });
});
