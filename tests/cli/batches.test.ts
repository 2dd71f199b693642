// `cutroom batches`: what epochs would be, in figures, as JSON and as plots.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ShardFolder, rowOf } from '../support/shard-files.js';
import { runCli, type CliOutcome } from './run-cli.js';

const SHARDS = 5;
const SHARD_ROWS = 20;

let folder = '';
let shards: ShardFolder;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-batches-'));
  shards = new ShardFolder(path.join(folder, 'shards'));
  const lines = Array.from({ length: SHARDS }, (_, shard) => {
    const names = Array.from({ length: SHARD_ROWS }, (__, row) => `s${shard}-${row}.wav`);
    shards.add(
      `train.${shard}`,
      names,
      names.map((name, row) => rowOf(name, 1 + row)),
    );
    return `${shards.tar(`train.${shard}`)} ${shards.manifest(`train.${shard}`)} 0.058333 ${SHARD_ROWS}\n`;
  });
  writeFileSync(shards.list, lines.join(''));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function batches(...argv: string[]): Promise<CliOutcome> {
  return await runCli(['batches', '--source', shards.list, ...argv]);
}

interface Report {
  rows: number;
  epochs: {
    steps: number;
    batches: number;
    items: number;
    hours: number;
    padding_share: number;
    hours_of_steps: number[];
    lost: Record<string, { items: number }>;
    buckets: { items: number }[];
    leaves: { name: string; share: number; passes: number }[];
  }[];
  strategies: { strategy: string; lost_rows: number; lost_hours: number; repeats: number; problem: string | null }[];
}

async function report(...argv: string[]): Promise<Report> {
  const { stdout, stderr, exitCode } = await batches(...argv, '--json');
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout) as Report;
}

describe('cutroom batches', () => {
  it('prints figures of each epoch, and bars', async () => {
    const argv = ['--max-duration', '60', '--buckets', '4', '--world-size', '2', '--epochs', '2'];
    const { stdout, stderr, exitCode } = await batches(...argv);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^1 source, 100 rows, 0\.292 h\n/u);
    expect(stdout).toMatch(/^ +epoch 0 +epoch 1$/mu);
    expect(stdout).toMatch(/^ {2}items +100 +100$/mu);
    expect(stdout).toMatch(/^ {2}distinct items +100 +100$/mu);
    expect(stdout).toMatch(/^ {2}padding +\d+\.\d\d% +\d+\.\d\d%$/mu);
    expect(stdout).toMatch(/^ {2}time to first batch +\S+ s \(sources \S+ s, plan \S+ s\), then decoding$/mu);
    expect(stdout).toMatch(/^ {2}exact +\d+ +0 +0 s +0 /mu);
    expect(stdout).toContain('\nBuckets in the first epoch:\n');
    expect(stdout).toMatch(/^steps by the audio that they hold on all ranks, in (minutes|seconds)$/mu);
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    const withoutBars = await batches(...argv, '--no-histogram');
    expect(stdout.startsWith(withoutBars.stdout.slice(0, 60))).toBe(true);
    expect(withoutBars.stdout).not.toContain('#');
  });

  it('says the same as JSON: every row once, equal steps', async () => {
    const { rows, epochs } = await report('--max-duration', '60', '--buckets', '4', '--world-size', '3');
    expect(rows).toBe(100);
    const [epoch] = epochs;
    expect(epoch).toMatchObject({ items: 100, distinct_items: 100 });
    expect(epoch?.hours_of_steps).toHaveLength(epoch?.steps ?? -1);
    expect(epoch?.batches).toBe(3 * (epoch?.steps ?? -1));
    expect(epoch?.hours_of_steps.reduce((sum, hours) => sum + hours, 0)).toBeCloseTo(epoch?.hours ?? -1, 9);
    expect(epoch?.buckets.reduce((sum, { items }) => sum + items, 0)).toBe(100);
    const [plain] = (await report('--max-duration', '60', '--world-size', '3')).epochs;
    expect(epoch?.padding_share).toBeLessThan((plain?.padding_share ?? 0) / 2);
  });

  it('computes what each strategy loses', async () => {
    const { strategies } = await report('--batch-size', '4', '--world-size', '2');
    const byName = new Map(strategies.map((each) => [each.strategy, each]));
    expect(byName.get('exact')).toMatchObject({ lost_rows: 0, repeats: 0 });
    // 5 shards on 2 ranks: one of 20 rows, 210 s, is read by none.
    expect(byName.get('scatter')).toMatchObject({ lost_rows: 20, repeats: 0 });
    expect(byName.get('scatter')?.lost_hours).toBeCloseTo(210 / 3600, 9);
    expect(byName.get('replicate')).toMatchObject({ lost_rows: 0, repeats: 100 });
    const scattered = await batches('--batch-size', '4', '--world-size', '2', '--strategy', 'scatter');
    expect(scattered.stdout).toMatch(/^ {2}not read, scatter +20$/mu);
    expect(scattered.stderr).toMatch(/^warning: /u);
    const strict = await batches('--batch-size', '4', '--world-size', '2', '--strategy', 'scatter', '--strict');
    expect([strict.exitCode, strict.stdout]).toEqual([2, '']);
  });

  it('shows the share of each source', async () => {
    const argv = ['--source', `twice=${shards.manifest('train.0')}:3`, '--batch-size', '10', '--epoch-items', '400'];
    const { stdout, stderr } = await runCli(['batches', '--source', `all=${shards.list}:1`, ...argv]);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^ {2}all +25\.00% +100 +1$/mu);
    expect(stdout).toMatch(/^ {2}twice +75\.00% +300 +15$/mu);
  });

  it('leaves rows out by their length, counted', async () => {
    const { stdout } = await batches('--batch-size', '4', '--min-length', '3', '--max-length', '18');
    expect(stdout).toMatch(/^ {2}left out, too_short: 10 rows, 15 s$/mu);
    expect(stdout).toMatch(/^ {2}left out, too_long: 10 rows, 195 s$/mu);
  });

  it('refuses rows above the cap, unless it is told what becomes of them', async () => {
    const refused = await batches('--max-duration', '15');
    expect([refused.exitCode, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('give --oversized drop or --oversized alone');
    const { stdout } = await batches('--max-duration', '15', '--oversized', 'drop');
    expect(stdout).toMatch(/^ {2}not read, oversized +25$/mu);
    const [alone] = (await report('--max-duration', '15', '--oversized', 'alone')).epochs;
    expect(alone?.items).toBe(100);
  });

  it('plans one rank for all where each of very many reads everything', async () => {
    const { strategies } = await report('--batch-size', '4', '--world-size', '250000');
    const replicate = strategies.find(({ strategy }) => strategy === 'replicate');
    expect(replicate).toMatchObject({ steps: 25, lost_rows: 0, repeats: 24_999_900 });
  });

  it('plots, and replaces a plot only when asked', async () => {
    const plot = path.join(folder, 'plot.svg');
    const argv = ['--max-duration', '60', '--buckets', '4', '--plot', plot];
    const { stderr, exitCode } = await batches(...argv);
    expect([exitCode, stderr]).toEqual([0, `Plotted as ${plot}\n`]);
    const svg = readFileSync(plot, 'utf8');
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^]*<\/svg>\n$/u);
    for (const title of ['steps by the audio', 'of audio in a step of epoch 0', 'buckets: their share of items']) {
      expect(svg).toContain(title);
    }
    const again = await batches(...argv);
    expect([again.exitCode, again.stdout]).toEqual([2, '']);
    expect((await batches(...argv, '--overwrite')).exitCode).toBe(0);
  });

  it.each([
    [[], 'error: Nothing says how large a batch may be'],
    [['--batch-size', '0'], 'error: --batch-size must be a whole number of 1 or more, but is "0"'],
    [['--batch-size', '2', '--bins', '3,2'], 'error: --bins must be 2.5,5,10 or'],
    [['--batch-size', '2', '--bins', '3', '--buckets', '2'], 'error: --buckets and --bins exclude each other'],
    [['--bins', '3,40', '--bucket-batch-sizes', '3,2,1'], 'error: --bucket-batch-sizes has 3 sizes for 2 buckets'],
    [['--batch-size', '2', '--bucket-batch-sizes', '3,2'], 'error: --bucket-batch-sizes is given, but there are no'],
    [['--batch-size', '2', '--num-copies', '4'], 'error: --batch-size is 2, fewer than the 4 copies of one item'],
    [['--batch-size', '2', '--speeds', '20'], 'error: Speeds must be factors from 0.1 to 10, not 20'],
    [['--batch-size', '2', '--world-size', '0'], 'error: --world-size must be a whole number of 1 or more'],
    [['--batch-size', '2', '--strategy', 'best'], 'error: '],
    [['--batch-size', '2', '--quiet', '--verbose'], 'error: --quiet and --verbose exclude each other'],
    [['--batch-size', '2', '--source', 'nowhere.lst'], 'error: '],
    [['--batch-size', '2', '--min-length', '90'], 'error: Cannot open the sources: no row is left'],
  ])('refuses %j', async (flags, message) => {
    const { stdout, stderr, exitCode } = await batches(...flags);
    expect(stderr.startsWith(message), stderr).toBe(true);
    expect(stdout).toBe('');
    expect(exitCode).not.toBe(0);
  });
});
