// `cutroom sample`: the figures of the page's example, single draws, bars, and command lines that are wrong.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scan } from '#cutroom/sample/scan.js';
import { writeRamp } from '../sample/sampled-wavs.js';
import { runCli, type CliOutcome } from './run-cli.js';

const RATE = 4000;
let folder = '';
let cache = '';
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-sample-'));
  cache = path.join(folder, 'cache');
  for (const [name, seconds] of [
    ['page/a', 4],
    ['page/b', 40],
    ['speech/c', 0.5],
    ['speech/d', 5],
  ] as const) {
    writeRamp(path.join(folder, `${name}.wav`), seconds, RATE);
  }
  await scan({ sources: [path.join(folder, 'page'), path.join(folder, 'speech')], out: cache, jobs: 1 });
});
afterAll(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => path.join(folder, name);

async function sample(...flags: string[]): Promise<CliOutcome> {
  return await runCli(['sample', '--scan', cache, ...flags]);
}

function groups(): string[] {
  return ['--group', `speech=${at('speech')}:0.7`, '--group', `page=${at('page')}:0.3`, '--alpha', '0.5'];
}

describe('cutroom sample', () => {
  it("prints the page's example in figures", async () => {
    for (const [alpha, slots, repeats] of [
      ['0', 2, '0.0455'],
      ['0.5', 8, '0.182'],
      ['1', 44, '1'],
    ] as const) {
      const { stdout, stderr, exitCode } = await sample(at('page'), '--alpha', alpha);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`^ {2}slots +${slots}$`, 'mu'));
      expect(stdout).toMatch(new RegExp(`^ {2}draws of a second +${repeats.replace('.', '\\.')}$`, 'mu'));
      expect(stdout).toContain(`An epoch is ${slots} draws; there are ${slots} draws in all.\n`);
    }
  });

  it('prints a column for each group, and the same as JSON', async () => {
    const { stdout } = await sample(...groups());
    expect(stdout).toMatch(/^ +speech +page +all$/mu);
    expect(stdout).toMatch(/^ {2}weight +70\.00% +30\.00% +100\.00%$/mu);
    expect(stdout).toMatch(/^ {2}shorter than a window +1 +0 +1$/mu);
    expect(stdout).toContain('draws go on forever');
    const json = JSON.parse((await sample(...groups(), '--json')).stdout) as Record<string, unknown>;
    expect(json).toMatchObject({
      total_draws: null,
      alpha: 0.5,
      groups: [
        { name: 'speech', weight: '0.7', slots: 3, short_files: 1 },
        { name: 'page', weight: '0.3', slots: 8 },
      ],
      all: { files: 4, audio_sec: 49.5 },
    });
  });

  it('tells of a draw what the list tells of it', async () => {
    const flags = [...groups(), '--seed', '3'];
    const lines = (await sample(...flags, '--list', '4', '--from', '9')).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      const row = JSON.parse(line) as { draw: number; epoch: number; index: number; filepath: string; padding: number };
      for (const place of [`${row.epoch}:${row.index}`, String(row.draw)]) {
        const { stdout } = await sample(...flags, '--explain', place, '--json');
        expect(JSON.parse(stdout)).toMatchObject({ ...row, shuffle_seed: 3, excerpt_seed: 3, period: 10 });
      }
      const { stdout } = await sample(...flags, '--explain', `${row.epoch}:${row.index}`);
      expect(stdout).toContain(`Draw ${row.draw}: epoch ${row.epoch}, index ${row.index} of `);
      expect(stdout).toContain(row.filepath);
      expect(stdout).toMatch(row.padding > 0 ? /padding +0\.5 s, constant/u : /padding +none/u);
    }
  });

  it('ends a list where the draws do', async () => {
    const { stdout } = await sample(at('page'), '--alpha', '0', '--list', '100', '--epochs', '2');
    expect(stdout.trimEnd().split('\n')).toHaveLength(4);
  });

  it('shows bars within the width of the terminal, and plots the same', async () => {
    const { stdout } = await sample(...groups(), '--histogram');
    const bars = stdout.slice(stdout.indexOf('files, audio and draws'));
    expect(Math.max(...bars.split('\n').map(({ length }) => length))).toBe(80);
    expect(bars).toMatch(/^ {2}< 1 s +files +25\.0% +#+$/mu);
    expect(bars.match(/^ {2}\d+–\d+%/gmu)).toHaveLength(20);
    const plot = at('plot.svg');
    const { stderr, exitCode } = await sample(...groups(), '--plot', plot);
    expect([exitCode, stderr]).toEqual([0, `Plotted as ${plot}\n`]);
    const svg = readFileSync(plot, 'utf8');
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^]*<\/svg>\n$/u);
    expect(svg).toContain('>&lt; 1 s</text>');
    expect(svg.match(/<text [^>]*>25\.0%<\/text>/gu)?.length).toBeGreaterThan(1);
    const again = await sample(...groups(), '--plot', plot);
    expect([again.exitCode, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toContain('is there already\nhint: Give another name, or --overwrite.');
  });

  it.each([
    [['--alpha', '1.5'], 'error: --alpha must be a number from 0 to 1, but is "1.5"'],
    [['--hop', '0'], 'error: --hop must be a number greater than 0, but is "0"'],
    [['--duration', '-1'], 'error: --duration must be a number greater than 0, but is "-1"'],
    [['--epochs', '0'], 'error: --epochs must be a whole number of 1 or more, or "forever", but is "0"'],
    [['--group', 'speech'], 'error: --group must be NAME=PATH or NAME=PATH:WEIGHT, but is "speech"'],
    [['--weight', 'a=b'], 'error: --weight must be NAME=NUMBER, but is "a=b"'],
    [['--weight', 'a=1'], 'error: A weight is given for "a", and there are no groups'],
    [['--group', 'a=x:1', '--weight', 'a=2'], 'error: Group "a" has two weights, 1 and 2'],
    [['--explain', 'x'], 'error: --explain must be EPOCH:INDEX, both from 0, or the number of a draw, but is "x"'],
    [['--explain', '0:999999'], 'error: There is no draw 999999 in an epoch: it has 50, counted from 0'],
    [['--explain', '1:0'], 'error: There is no draw 0 of epoch 1: there are 50 draws, and an epoch has 50'],
    [['--list', '1', '--from', '50'], 'error: There is no draw 50: there are 50 draws, counted from 0'],
    [['--list', '1', '--explain', '0'], 'error: --explain and --list are given: each is a run of its own'],
    [['--from', '1'], 'error: --from is given without --list'],
    [['--count', '1'], 'error: --count is given without --export'],
    [['--overwrite'], 'error: --overwrite is given, and nothing is written'],
    [['--seed', '1', '--shuffle-seed', '1'], 'error: --seed and --shuffle-seed are the same'],
    [['--lufs-cutoff', '-40'], 'error: There is no loudness cache in "'],
  ])('refuses %j', async (flags, message) => {
    const { stdout, stderr, exitCode } = await sample(...flags);
    expect(stderr.startsWith(message), stderr).toBe(true);
    expect(stdout).toBe('');
    expect(exitCode).not.toBe(0);
  });
});
