// `cutroom bins`: bins as NeMo takes them, what buckets hold, batch sizes, and command lines and data that are wrong.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCli, type CliOutcome } from './run-cli.js';

const ROWS = 400;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-bins-'));
  // 0.5 s to 20.45 s, evenly; longer rows have more text.
  write(
    'even.json',
    Array.from({ length: ROWS }, (_, at) => row(0.5 + at / 20, 10 + at)),
  );
  write('clumped.json', [...Array.from({ length: 300 }, () => row(5, 9)), row(7, 9), row(9, 9)]);
});
afterAll(() => rmSync(folder, { recursive: true }));

function row(duration: unknown, characters = 5): object {
  return { audio_filepath: 'a.wav', duration, text: 'x'.repeat(characters) };
}

const at = (name: string): string => path.join(folder, name);

function write(name: string, rows: readonly object[]): string {
  writeFileSync(at(name), rows.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return at(name);
}

async function bins(...argv: string[]): Promise<CliOutcome> {
  return await runCli(['bins', ...argv]);
}

describe('cutroom bins', () => {
  it('prints what NeMo takes, and tells of the buckets', async () => {
    const { stdout, stderr, exitCode } = await bins(at('even.json'), '--buckets', '4');
    expect(exitCode).toBe(0);
    const config = parse(stdout) as { num_buckets: number; bucket_duration_bins: number[] };
    expect(Object.keys(config)).toEqual(['num_buckets', 'bucket_duration_bins']);
    expect(config.num_buckets).toBe(4);
    expect(config.bucket_duration_bins).toHaveLength(4);
    expect(config.bucket_duration_bins.at(-1)).toBe(20.45);
    expect(stderr).toContain('400 rows, 1.164 h\n');
    const shares = [...stderr.matchAll(/ (\d+\.\d\d)%$/gmu)].map(([, share]) => Number(share));
    expect(shares).toHaveLength(4);
    for (const share of shares) expect(Math.abs(share - 25)).toBeLessThan(1);
    const [, one, several] = /at most 600 s: ([\d.]+)% padding in one bucket, ([\d.]+)% in 4;/u.exec(stderr) ?? [];
    expect(Number(one)).toBeGreaterThan(40);
    expect(Number(several)).toBeLessThan(Number(one) / 2);
  });

  it('leaves the last bound out, and says the same as JSON', async () => {
    const all = parse((await bins(at('even.json'), '--buckets', '4', '--quiet')).stdout) as Record<string, unknown>;
    const inner = await bins(at('even.json'), '--buckets', '4', '--inner', '--quiet');
    expect(inner.stderr).toBe('');
    expect(parse(inner.stdout)).toEqual({
      num_buckets: 4,
      bucket_duration_bins: (all['bucket_duration_bins'] as number[]).slice(0, -1),
    });
    const json = JSON.parse((await bins(at('even.json'), '--buckets', '4', '--json', '--quiet')).stdout) as {
      buckets: { rows: number; from_sec: number; to_sec: number }[];
    };
    expect(json).toMatchObject({ ...all, rows: ROWS, beyond_rows: 0, memory_model: null });
    expect(json.buckets.reduce((sum, bucket) => sum + bucket.rows, 0)).toBe(ROWS);
    // Row i lasts 0.5 + i / 20: those in (from, to] are counted by hand.
    for (const { rows, from_sec, to_sec } of json.buckets) {
      expect(rows).toBe(Math.round((to_sec - Math.max(from_sec, 0.45)) * 20));
    }
  });

  it('divides buckets by tokens, too', async () => {
    const { stdout, stderr } = await bins(at('even.json'), '--buckets', '4', '--tokens');
    const config = parse(stdout) as { num_buckets: number; bucket_duration_bins: [number, number][] };
    expect(config.num_buckets).toBe(config.bucket_duration_bins.length);
    expect(config.bucket_duration_bins).toHaveLength(8);
    expect(new Set(config.bucket_duration_bins.map(([seconds]) => seconds)).size).toBe(4);
    expect(stderr).toMatch(/^ {2}above–up to, characters +rows +audio +share +characters$/mu);
    const words = await bins(at('even.json'), '--buckets', '4', '--tokens', '--tokenizer', 'words');
    expect(words.stderr).toMatch(/^ {2}above–up to, tokens +rows +audio +share +tokens$/mu);
  });

  it('has an answer for clumped rows, and for more buckets than rows', async () => {
    const { stdout, exitCode } = await bins(at('clumped.json'), '--buckets', '3');
    expect([exitCode, parse(stdout)]).toEqual([0, { num_buckets: 3, bucket_duration_bins: [5, 7, 9] }]);
    const many = await bins(at('clumped.json'), '--buckets', '30');
    expect([many.exitCode, parse(many.stdout)]).toEqual([0, { num_buckets: 3, bucket_duration_bins: [5, 7, 9] }]);
    expect(many.stderr).toMatch(/^warning: /u);
    const one = await bins(at('clumped.json'), '--buckets', '1');
    expect(parse(one.stdout)).toEqual({ num_buckets: 1, bucket_duration_bins: [9] });
  });

  it('leaves out durations that are none, and ends with 1 unless they may be skipped', async () => {
    const file = write('faulty.json', [row(0), row(-1), row('x'), row(null), row(2), row(3)]);
    writeFileSync(file, '{"audio_filepath": "a.wav", "duration": NaN}\n', { flag: 'a' });
    const { stdout, stderr, exitCode } = await bins(file, '--buckets', '2');
    expect([exitCode, parse(stdout)]).toEqual([1, { num_buckets: 2, bucket_duration_bins: [2, 3] }]);
    expect(stderr).toContain(`${file}:1: `);
    expect(stderr).toContain('2 rows, 5 s\n');
    expect((await bins(file, '--buckets', '2', '--on-error', 'skip')).exitCode).toBe(0);
    const none = await bins(write('none.json', [row(0)]));
    expect([none.exitCode, none.stdout]).toEqual([1, '']);
  });

  it('adds batch sizes by seconds', async () => {
    const { stdout, stderr } = await bins(at('clumped.json'), '--buckets', '3', '--max-batch-duration', '60');
    expect(parse(stdout)).toEqual({
      ...{ num_buckets: 3, bucket_duration_bins: [5, 7, 9] },
      bucket_batch_size: [12, 8, 6],
    });
    expect(stderr).toMatch(/ batch$/mu);
    expect(stderr).toMatch(
      /^Batches of these sizes, or of 6 in one bucket: [\d.]+% padding in one bucket, 0\.00% in 3;$/mu,
    );
    const limited = await bins(at('clumped.json'), '--max-batch-duration', '60', '--max-duration', '90');
    expect(limited.stderr).toContain('Batches of at most 90 s: ');
    const small = await bins(at('clumped.json'), '--buckets', '3', '--max-batch-duration', '8');
    expect([small.exitCode, small.stdout]).toEqual([2, '']);
    expect(small.stderr).toContain('Not even one row of 9 s fits into a batch');
  });

  it('adds batch sizes by measured memory', async () => {
    const points = [2, 6].flatMap((seconds) => [4, 16].map((batchSize) => ({ seconds, batchSize, memoryBytes: 0 })));
    for (const point of points) point.memoryBytes = 1e9 + point.batchSize * point.seconds * 1e8;
    const model = at('memory.json');
    writeFileSync(model, JSON.stringify({ points, limitBytes: 9.2e9 }));
    const flags = ['--buckets', '3', '--max-batch-duration', 'auto', '--memory-model', model];
    const { stdout, stderr } = await bins(at('clumped.json'), ...flags);
    expect(parse(stdout)).toMatchObject({ bucket_batch_size: [16, 11, 9] });
    expect(stderr).toContain('Memory: 1.00 GB + batch · (100 MB · d + 0 MB · d²), d in seconds;\n4 points');
    expect(stderr).toMatch(/^ {2}0–5 s .* 9\.00 GB$/mu);
    expect(stderr).toMatch(/^ {2}7–9 s .* 9\.10 GB \*$/mu);
    expect(stderr).toContain('warning: * goes beyond what was measured, in duration:\nmeasure there');
    const json = JSON.parse((await bins(at('clumped.json'), ...flags, '--json')).stdout) as { buckets: object[] };
    expect(json.buckets[2]).toMatchObject({ beyond_measured: ['seconds'] });
    writeFileSync(model, JSON.stringify({ points: points.slice(1), limitBytes: 9.2e9 }));
    const few = await bins(at('clumped.json'), ...flags);
    expect([few.exitCode, few.stdout]).toEqual([1, '']);
    expect(few.stderr).toContain('3 points are too few to judge a fit by');
  });

  it.each([
    [[], 'error: There is no source'],
    [['--buckets', '0'], 'error: --buckets must be a whole number of 1 or more, but is "0"'],
    [['x', '--token-buckets', '2'], 'error: --token-buckets is given without --tokens'],
    [['x', '--tokens', '--inner'], 'error: --inner is of bins of one dimension'],
    [['x', '--inner', '--max-batch-duration', '9'], 'error: --inner and --max-batch-duration exclude each other'],
    [['x', '--max-batch-duration', 'auto'], 'error: --max-batch-duration auto needs measured memory'],
    [['x', '--memory-model', 'y'], 'error: --memory-model is given without --max-batch-duration auto'],
    [['x', '--max-batch-duration', 'all'], 'error: --max-batch-duration must be a number greater than 0, or "auto"'],
    [['x', '--quadratic-duration', '9'], 'error: --quadratic-duration is given without --batch-duration'],
    [['x', '--quiet', '--verbose'], 'error: --quiet and --verbose exclude each other'],
    [['nowhere.json'], 'error: '],
  ])('refuses %j', async (flags, message) => {
    const { stdout, stderr, exitCode } = await bins(...flags);
    expect(stderr.startsWith(message), stderr).toBe(true);
    expect(stdout).toBe('');
    expect(exitCode).not.toBe(0);
  });
});
