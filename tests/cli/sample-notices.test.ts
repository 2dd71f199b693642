// What `cutroom sample` and `cutroom scan` say of single things, of files that are given twice, and of all that a filter removes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scan } from '#cutroom/sample/scan.js';
import { hashUniform } from '../support/signals.js';
import { writeRamp } from '../sample/sampled-wavs.js';
import { runCli } from './run-cli.js';

const RATE = 8000;
let folder = '';
const at = (name: string): string => path.join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-notices-'));
  writeRamp(at('loud/a.wav'), 1, RATE, (n) => hashUniform(n, 1) - 0.5);
  for (let k = 0; k < 7; k += 1) writeRamp(at(`quiet/${k}.wav`), 1, RATE, () => 0);
  await scan({
    sources: [at('loud'), at('quiet')],
    out: at('cache'),
    jobs: 1,
    loudness: { sampleRate: RATE },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

const sample = (...flags: string[]) => runCli(['sample', '--scan', at('cache'), ...flags]);
const filtered = ['--sample-rate', String(RATE), '--lufs-cutoff', '-40'];

describe('cutroom sample', () => {
  it('says one draw and one window of one', async () => {
    const { stdout } = await sample(at('loud'));
    expect(stdout).toContain('An epoch is 1 draw; there is 1 draw in all.\n');
    expect((await sample(at('loud'), '--explain', '0')).stdout).toMatch(/which holds 1 window\n.*\n/u);
    expect((await sample(at('loud'), '--explain', '5')).stderr).toContain('There is no draw 5: there is 1 draw,');
  });

  it('names five files that the filter removes, and all of them on stderr with --verbose', async () => {
    const short = await sample(...filtered);
    expect(short.stderr).toBe('');
    expect(short.stdout).toContain(`quiet/4.wav\n  and 2 more; --verbose names all\n`);
    expect(short.stdout).not.toContain('quiet/5.wav');
    const all = Array.from({ length: 7 }, (_, k) => `  ${at(`quiet/${k}.wav`)}\n`).join('');
    const long = await sample(...filtered, '--verbose');
    expect(long.stderr).toBe(`Removed by the filter, no window is loud enough:\n${all}`);
    const json = await sample(...filtered, '--verbose', '--json');
    expect(json.stderr).toBe(long.stderr);
    expect(JSON.parse(json.stdout)).toMatchObject({ all: { removed_files: 7 } });
  });

  it('names the group of a removed file', async () => {
    const groups = [
      '--group',
      `a=${at('loud')}`,
      '--group',
      `b=${at('loud/a.wav')}`,
      '--group',
      `b=${at('quiet/3.wav')}`,
    ];
    const { stderr } = await sample(...filtered, ...groups, '--verbose');
    expect(stderr).toBe(`Removed by the filter, no window is loud enough:\n  b: ${at('quiet/3.wav')}\n`);
  });

  it('counts a path of a list once, and says so', async () => {
    writeFileSync(at('list.txt'), 'loud/a.wav\nquiet/1.wav\n./loud/a.wav\nquiet/../loud/a.wav\n');
    const { stdout, stderr } = await sample('--filepaths', at('list.txt'));
    expect(stderr).toBe(`warning: 1 path is given more than once, and counted once: "${at('loud/a.wav')}"\n`);
    expect(stdout).toMatch(/^ {2}files +2$/mu);
    const quiet = await sample('--filepaths', at('list.txt'), '--quiet');
    expect(quiet.stderr).toBe('');
  });
});

describe('cutroom scan', () => {
  it('tells of changes only where there was a scan before', async () => {
    const command = ['scan', at('loud'), '--out', at('again'), '--jobs', '1'];
    expect((await runCli(command)).stderr).toMatch(/^ {2}read {6}1 file\n {2}failed/mu);
    writeRamp(at('loud/b.wav'), 1, RATE);
    const { stderr } = await runCli(command);
    expect(stderr).toMatch(/^ {2}read {6}1 file, of which 0 changed since the last scan\n {2}kept {6}1 file known/mu);
  });
});
