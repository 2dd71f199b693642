// The bench of the loader chooses environments of Python, makes rows up, and sets its figures as tables.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { choosePeers } from '../../bench/loader-contestants.js';
import { printLoaderReport } from '../../bench/loader-report.js';
import { makeLhotseCuts, makeNemoRows } from '../../bench/made-up-rows.js';

const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('choosePeers()', () => {
  it('takes each peer of the first environment that it works in', () => {
    const all = {
      atdataset: '0.2.6',
      torchaudio: '2.11.0',
      webdataset: '1.0.2',
      soundfile: '0.14.0',
      lhotse: '1.33.0',
    };
    const older = { ...all, torchaudio: '2.8.0+cpu', atdataset: '0.2.5' };
    const peers = choosePeers([
      { python: 'bare', versions: { webdataset: '1.0.2' } },
      { python: 'new', versions: all },
      { python: 'old', versions: older },
    ]);
    expect(peers).toEqual([
      { name: 'atdataset', version: '0.2.5', python: 'old' },
      { name: 'webdataset', version: '1.0.2', python: 'new' },
      { name: 'lhotse', version: '1.33.0', python: 'new' },
    ]);
  });

  it('leaves out what is in none', () => {
    expect(choosePeers([{ python: 'a', versions: { atdataset: '0.2.6' } }])).toEqual([]);
  });
});

describe('makeNemoRows()', () => {
  it('has the durations of the cuts of lhotse', () => {
    const rows = readRows(makeNemoRows(path.join(folder, 'rows.jsonl'), 500));
    const cuts = readRows(makeLhotseCuts(path.join(folder, 'cuts.jsonl'), 500));
    const durations = rows.map(({ duration }) => duration);
    expect(durations).toHaveLength(500);
    expect(cuts.map(({ duration }) => duration)).toEqual(durations);
    expect(Math.min(...durations)).toBeGreaterThanOrEqual(0.5);
    expect(Math.max(...durations)).toBeLessThanOrEqual(30);
    expect(new Set(durations).size).toBeGreaterThan(400);
  });
});

describe('printLoaderReport()', () => {
  const took = { rows: 4000, hours: 9, batches: 60, paddingShare: 0.02, wallSeconds: 5, peakBytes: 400 * 2 ** 20 };
  const work = { ...took, loopSeconds: 4, loopCpuSeconds: 8, cpuSeconds: 9, firstSeconds: 0.9 };
  const steady = { steadyRows: 3600, steadySeconds: 3 };
  const ours = [0, 1, 2].map((jobs) => ({ ...work, ...steady, startSeconds: 0.2, name: `loader, ${jobs} jobs` }));
  const slow = { ...work, name: 'ATDataloader, 2 workers', loopSeconds: 14, loopCpuSeconds: undefined };
  const bare = { ...work, name: 'webdataset and soundfile', loopCpuSeconds: 7.5, cpuSeconds: 10, batches: undefined };
  const plan = { ...work, rows: 100_000, name: 'cutroom, 100,000 rows', loopSeconds: 1, paddingShare: 0.03 };
  const results = {
    machine: { cpu: 'A CPU', cores: 2, memoryGb: 8, kernel: '6.1', node: 'v20.19.0' },
    ...{ loadBefore: 0.12, loadAfter: 2.5, versions: { atdataset: '0.2.6' }, corpus: { count: 4000, hours: 9 } },
    decode: [...ours, slow, bare],
    stream: [
      ours[2],
      { ...work, name: 'stream of batches', loopSeconds: 5, steadyRows: 3600, steadySeconds: 4 },
      { ...work, name: 'read by nobody', loopSeconds: 6, firstSeconds: undefined },
    ],
    plan: [plan, { ...plan, name: 'lhotse, 100,000 cuts', loopSeconds: 4, paddingShare: 0.04 }],
    ranks: { oneSeconds: 0.5, manySeconds: 0.55, startSeconds: 0.5, restoreSeconds: 0.45, batch: 10_000 },
  };

  it('tells the ratios with their targets', () => {
    const text = printLoaderReport(results).replace(/ +/gu, ' ');
    expect(text).toContain('load average 0.1 before, 2.5 after');
    expect(text).toContain('| loader, 2 jobs | 1,000 | 135.0 | 8.0 | 9.0 | 0.90 | 2.0 % | 400 MB |');
    expect(text).toContain('| rows a second, of ATDataloader 0.2.6, 2 workers | 3.50 | ≥ 3 |');
    expect(text).not.toContain('0 workers');
    expect(text).toContain('| CPU of the loop, 1 jobs, of webdataset and soundfile | 1.07 | ≤ 1.2 |');
    expect(text).toContain('| CPU in all, 1 jobs, the same | 0.90 | ≤ 1.2 |');
    expect(text).toContain('| loader, 2 jobs | 952 | 1.00 | 1,200 | 1.00 | – | 0.90 | 9.0 | 400 MB |');
    expect(text).toContain('| stream of batches | 800 | 0.84 | 900 | 0.75 | ≥ 0.8 | 0.90 | 9.0 | 400 MB |');
    expect(text).toContain('| read by nobody | 667 | 0.70 | – | – | ≥ 0.8 | – | 9.0 | 400 MB |');
    expect(text).toContain('| rows a second, of lhotse | 4.00 | ≥ 3 |');
    expect(text).toContain('| padding, of lhotse | 0.75 | ≤ 1 |');
    expect(text).toContain('| one rank of 1,024, of a world of one (0.50 s) | 1.10 | ≤ 1.2 |');
    expect(text).toContain('| restoring at batch 10,000, of starting | 0.90 | ≤ 1 |');
  });

  it('leaves out what was not measured', () => {
    const text = printLoaderReport({ ...results, decode: ours, stream: undefined, plan: undefined });
    expect(text).not.toMatch(/ATDataloader|webdataset|lhotse|restoring/u);
    expect(text).toContain('first batch of 4,000');
  });
});

function readRows(file: string): { duration: number }[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as { duration: number });
}
