import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ShardFacts, RankLoader } from '#cutroom/check/finding.js';
import { checkRanks, rankRows } from '#cutroom/check/ranks.js';
import { formatRanks } from '#cutroom/cli/check-ranks.js';
import { kindsOf, makeContext } from './dataset-context.js';

function makeShards(rows: readonly number[], folder = '/d'): ShardFacts[] {
  return rows.map((count, index) => {
    return { path: `${folder}/audio_${String(index).padStart(4, '0')}.tar`, rows: count, hours: count / 100 };
  });
}

function even(count: number, rows = 100): ShardFacts[] {
  return makeShards(Array.from({ length: count }, () => rows));
}

function analyse(shards: readonly ShardFacts[], worldSize: number, workers = 1, loader?: RankLoader) {
  const context = makeContext();
  const analysis = checkRanks(shards, worldSize, workers, context, loader);
  return { analysis, kinds: kindsOf(context), findings: context.findings };
}

describe('checkRanks()', () => {
  it('finds nothing wrong where ranks and workers share the shards evenly', () => {
    const { analysis, kinds } = analyse(even(16), 4, 4);
    expect(kinds).toEqual([]);
    expect(analysis.shares.filter(({ strategy }) => strategy === 'scatter').map(({ shards }) => shards)).toEqual(
      Array.from({ length: 16 }, () => 1),
    );
  });

  it('tells what is never read, as in 146 tars for 8 ranks', () => {
    const { analysis, findings } = analyse(even(146, 125), 8);
    expect(analysis.unread.map(({ path }) => path)).toEqual(['/d/audio_0144.tar', '/d/audio_0145.tar']);
    expect(rankRows(analysis)).toEqual(Array.from({ length: 8 }, () => 2250));
    expect(findings).toMatchObject([
      { kind: 'unread_shards', severity: 'error', hint: 'pack the dataset into 144 or 152 shards: a multiple of 8' },
    ]);
    expect(findings[0]?.message).toContain('2 shards with 250 samples, 2.50 h, are never read');
  });

  it('tells of workers without a shard', () => {
    const { analysis, findings } = analyse(even(4), 2, 4);
    expect(analysis.idleWorkers).toBe(4);
    expect(findings).toMatchObject([{ kind: 'idle_workers' }]);
    expect(findings[0]?.hint).toContain('2 ranks × 4 workers = 8');
  });

  it('tells of ranks that read less than others: the hang', () => {
    const { findings } = analyse(makeShards([100, 100, 100, 99]), 2);
    expect(findings).toMatchObject([{ kind: 'uneven_ranks', severity: 'error' }]);
    expect(findings[0]?.message).toContain('rank 1 reads 199 samples and rank 0 200');
  });

  it('tells of fewer shards than ranks once', () => {
    const { kinds, analysis } = analyse(even(3), 4, 2);
    expect(kinds).toEqual(['unread_shards']);
    expect(analysis.fitting).toEqual([8]);
  });

  it('takes each bucket for a dataset of its own', () => {
    const shards = [...makeShards([5, 5], '/d/bucket1'), ...makeShards([7, 7, 7], '/d/bucket2')];
    const { analysis, findings } = analyse(shards, 2);
    expect(rankRows(analysis)).toEqual([12, 12]);
    expect(analysis.unread.map(({ path }) => path)).toEqual(['/d/bucket2/audio_0002.tar']);
    expect(findings[0]?.hint).toBe('pack each bucket into 2 or 4 shards: a multiple of 2');
  });

  it("repeats shards as ATdataset's loader does", () => {
    const { analysis, kinds } = analyse(even(5), 2, 2, 'atdataset');
    expect(kinds).toEqual(['repeated_shards']);
    expect(analysis.repeated.map(({ path }) => path)).toEqual([
      ...['/d/audio_0000.tar', '/d/audio_0001.tar', '/d/audio_0002.tar'],
    ]);
    expect(analysis.padded.map(({ shards }) => shards)).toEqual([2, 2, 2, 2]);
    expect(analyse(even(8), 2, 2, 'atdataset').kinds).toEqual([]);
  });

  test('every shard is read by one worker of a rank, or by nobody; under replicate by one of each rank', () => {
    const counts = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 40 });
    const size = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(counts, size, fc.integer({ min: 1, max: 5 }), (rows, worldSize, workers) => {
        const shards = makeShards(rows);
        const { analysis } = analyse(shards, worldSize, workers);
        const total = rows.reduce((sum, count) => sum + count, 0);
        const sum = (strategy: string): number =>
          analysis.shares.filter((share) => share.strategy === strategy).reduce((all, share) => all + share.rows, 0);
        const unread = analysis.unread.reduce((all, shard) => all + shard.rows, 0);
        expect(sum('scatter') + unread).toBe(total);
        expect(sum('replicate')).toBe(total * worldSize);
        expect(analysis.unread.length).toBe(shards.length % worldSize);
        for (const count of analysis.fitting) expect(count % (worldSize * workers)).toBe(0);
        const padded = analyse(shards, worldSize, workers, 'atdataset').analysis;
        expect(new Set(padded.padded.map((share) => share.shards)).size).toBe(1);
      }),
    );
  });
});

describe('formatRanks()', () => {
  it('tells alike readers together, what is never read, and what to do', () => {
    expect(formatRanks(analyse(even(5), 2, 2).analysis)).toEqual([
      '  2 ranks of 2 workers',
      '    scatter: 1 shard, 100 rows, 1.000 h each: rank 0 worker 0, rank 0 worker 1, rank 1 worker 0, rank 1 worker 1',
      '    replicate: 3 shards, 300 rows, 3.000 h each: rank 0 worker 0, rank 1 worker 0',
      '    replicate: 2 shards, 200 rows, 2.000 h each: rank 0 worker 1, rank 1 worker 1',
      '    never read under scatter: 1 shard, 100 rows: /d/audio_0004.tar',
      '    remedy: pack the dataset into 4 or 8 shards: a multiple of 2 ranks × 2 workers = 4',
    ]);
  });

  it('shows first what ATdataset repeats', () => {
    expect(formatRanks(analyse(even(3), 2, 1, 'atdataset').analysis).slice(0, 2)).toEqual([
      '  2 ranks of 1 worker',
      '    ATdataset: 2 shards, 200 rows, 2.000 h each: rank 0, rank 1',
    ]);
  });
});
