import { array, assert, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ItemTable } from '#cutroom/load/item-table.js';
import { createPlanner } from '#cutroom/load/plan-epochs.js';
import type { PlannerOptions } from '#cutroom/load/plan-settings.js';
import { allBatches, batchesOf, checkCaps, describePlan, itemsOf, range } from './plan-checks.js';
import { tableOf, utteranceSeconds } from './plan-tables.js';

/** A table of shards of so many rows each. */
function shardTable(...shards: number[]): ItemTable {
  const total = shards.reduce((sum, size) => sum + size, 0);
  return tableOf([{ seconds: utteranceSeconds(total), shards }]);
}

describe('strategy "scatter"', () => {
  it('gives each rank the rows of its own shards, and tells what no rank reads', () => {
    const table = shardTable(3, 5, 4, 10, 2, 6, 7);
    const planner = createPlanner(table, { strategy: 'scatter', batchSize: 4, worldSize: 3 });
    const plan = planner.planEpoch(0);
    expect(range(3).map((rank) => itemsOf(batchesOf(plan, rank)))).toEqual([
      range(8),
      range(22).slice(8),
      range(30).slice(22),
    ]);
    const hours = table.durationsMicros.slice(30).reduce((sum, micros) => sum + micros, 0) / 3.6e9;
    expect(planner.losses).toEqual({ scatter: { items: 7, hours: expect.closeTo(hours, 9) as number } });
    expect(plan.report().lost['scatter']).toEqual({ items: 7, hours: expect.closeTo(hours, 9) as number });
    expect(planner.warnings).toMatchObject([
      {
        message: `With strategy "scatter", 3 ranks never read the last 1 of 7 shards: 7 rows of ${hours.toFixed(3)} h`,
      },
    ]);
    expect(() => createPlanner(table, { strategy: 'scatter', batchSize: 4, worldSize: 3, strict: true })).toThrow(
      'never read the last 1 of 7 shards',
    );
    expect(createPlanner(table, { strategy: 'scatter', batchSize: 4, worldSize: 7, strict: true }).warnings).toEqual(
      [],
    );
  });

  it('has equal steps on all ranks, each row of a read shard once', () => {
    const layout = array(integer({ min: 0, max: 30 }), { minLength: 4, maxLength: 12 });
    const limits = constantFrom<Partial<PlannerOptions>>(
      { batchSize: 3 },
      { maxDuration: 60 },
      { maxDuration: 60, bucketCount: 3 },
    );
    const lastBatches = constantFrom('partial', 'pad', 'drop' as const);
    assert(
      property(layout, limits, integer({ min: 1, max: 4 }), lastBatches, (shards, limit, worldSize, lastBatch) => {
        const table = shardTable(...shards);
        const options: PlannerOptions = { ...limit, strategy: 'scatter', worldSize, lastBatch };
        const planner = createPlanner(table, options);
        const plan = planner.planEpoch(1);
        checkCaps(plan, table, options, planner.bins);
        const each = Math.floor(shards.length / worldSize);
        const rowsBefore = (shard: number): number => shards.slice(0, shard).reduce((sum, size) => sum + size, 0);
        let batched = 0;
        for (let rank = 0; rank < worldSize; rank += 1) {
          const own = range(rowsBefore((rank + 1) * each)).slice(rowsBefore(rank * each));
          const items = itemsOf(batchesOf(plan, rank));
          if (lastBatch === 'drop') expect(new Set([...own, ...items]).size).toBe(own.length);
          else expect(items).toEqual(own);
          batched += items.length;
        }
        const { distinctItems, draws, lost } = plan.report();
        const lostItems = Object.values(lost).reduce((sum, { items }) => sum + items, 0);
        expect([draws, distinctItems, distinctItems + lostItems]).toEqual([batched, batched, table.rowCount]);
        // What is left goes on, on any number of ranks.
        if (lastBatch !== 'partial' || plan.stepCount < 2) return;
        const state = plan.stateAt(1);
        expect(describePlan(planner.resume(state))).toEqual(describePlan(plan, 1));
        const other = createPlanner(table, { ...options, worldSize: 2 }).resume(state);
        const first = itemsOf(range(worldSize).map((rank) => plan.batchAt(rank, 0)));
        expect([...first, ...itemsOf(allBatches(other))].sort((a, b) => a - b)).toEqual(
          range(rowsBefore(each * worldSize)),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('deals the shards of each source out for itself', () => {
    const table = tableOf([
      { seconds: utteranceSeconds(8), shards: [2, 2, 2, 2], weight: 1 },
      { seconds: utteranceSeconds(20), shards: [10, 10], weight: 3 },
    ]);
    const plan = createPlanner(table, { strategy: 'scatter', batchSize: 4, worldSize: 2 }).planEpoch(0);
    const [first, second] = [0, 1].map((rank) => new Set(itemsOf(batchesOf(plan, rank))));
    expect([first, second]).toEqual([
      new Set([0, 1, 2, 3, ...range(18).slice(8)]),
      new Set([4, 5, 6, 7, ...range(28).slice(18)]),
    ]);
  });

  it('refuses sources without shards, and more ranks than shards', () => {
    const files = tableOf([{ seconds: [1, 2, 3], name: 'files' }]);
    expect(() => createPlanner(files, { strategy: 'scatter', batchSize: 1, worldSize: 2 })).toThrow(
      'Cannot scatter "files": it has no shards',
    );
    expect(() => createPlanner(shardTable(1, 1), { strategy: 'scatter', batchSize: 1, worldSize: 3 })).toThrow(
      'Cannot scatter "leaf 0": it has 2 shards for 3 ranks',
    );
  });
});

describe('strategy "replicate"', () => {
  it('gives each rank all items, in an order of its own', () => {
    const table = tableOf([{ seconds: utteranceSeconds(50) }]);
    const planner = createPlanner(table, { strategy: 'replicate', maxDuration: 60, bucketCount: 3, worldSize: 3 });
    const plan = planner.planEpoch(0);
    const ranks = range(3).map((rank) => batchesOf(plan, rank));
    for (const batches of ranks) expect(itemsOf(batches)).toEqual(range(50));
    expect(new Set(describePlan(plan)).size).toBe(3);
    for (const step of range(plan.stepCount))
      expect(new Set(ranks.map((batches) => batches[step]!.bucket)).size).toBe(1);
    expect(plan.report()).toMatchObject({ draws: 150, distinctItems: 50, lost: {} });
    expect(planner.warnings).toMatchObject([{ code: 'ranks_repeat' }]);
    expect(() => createPlanner(table, { strategy: 'replicate', batchSize: 1, worldSize: 3, strict: true })).toThrow(
      '3 times',
    );
    expect(describePlan(planner.resume(plan.stateAt(2)))).toEqual(describePlan(plan, 2));
    const other = createPlanner(table, { strategy: 'replicate', maxDuration: 60, bucketCount: 3, worldSize: 2 });
    expect(describePlan(other.resume(plan.stateAt(2)))).toEqual(describePlan(plan, 2).slice(0, 2));
  });
});

describe('static buckets', () => {
  const table = tableOf([
    { seconds: range(9).map(() => 2), bucket: 0 },
    { seconds: range(8).map(() => 4), bucket: 1 },
    { seconds: range(7).map(() => 8), bucket: 2 },
  ]);
  const bucketRuns = (options: Partial<PlannerOptions>, epoch: number, rank = 0): string =>
    batchesOf(createPlanner(table, { batchSize: 2, worldSize: 2, ...options }).planEpoch(epoch), rank)
      .map(({ bucket }) => bucket)
      .join('');

  it('come one after the other, in the order that is asked for', () => {
    expect(bucketRuns({ bucketOrder: 'fixed_order', worldSize: 1 }, 0)).toBe('0000011112222');
    const synced = range(6).map((epoch) => bucketRuns({ worldSize: 1 }, epoch));
    expect(new Set(synced).size).toBeGreaterThan(2);
    for (const runs of synced) expect(runs).toMatch(/^(?:0{5}|1{4}|2{4}){3}$/u);
    const ranks = range(6).map((epoch) =>
      [0, 1].map((rank) => bucketRuns({ bucketOrder: 'fully_randomized' }, epoch, rank)),
    );
    expect(ranks.some(([one, other]) => one !== other)).toBe(true);
    for (const runs of ranks.flat()) expect(runs).toMatch(/^(?:0{3}|1{2}|2{2}){3}$/u);
  });

  it('keep items and steps, however they are ordered', () => {
    for (const bucketOrder of ['synced_randomized', 'fixed_order', 'fully_randomized'] as const) {
      for (const worldSize of [1, 2, 5]) {
        const planner = createPlanner(table, { maxDuration: 16, worldSize, bucketOrder });
        const plan = planner.planEpoch(1);
        const batches = allBatches(plan);
        expect(itemsOf(batches)).toEqual(range(24));
        for (const { items, bucket } of batches) {
          const { firstItem, endItem } = table.leaves[bucket!]!;
          if (!items.every((item) => item >= firstItem && item < endItem))
            throw new Error(`bucket ${bucket}: ${items.join(' ')}`);
        }
        expect(plan.report()).toMatchObject({ draws: 24, paddingShare: 0, lost: {} });
        const state = plan.stateAt(1);
        expect(describePlan(planner.resume(state))).toEqual(describePlan(plan, 1));
      }
    }
  });

  it('cannot be resumed on other ranks where each has its own order', () => {
    const options = { batchSize: 2, bucketOrder: 'fully_randomized' } as const;
    const state = createPlanner(table, { ...options, worldSize: 2 })
      .planEpoch(0)
      .stateAt(1);
    expect(() => createPlanner(table, { ...options, worldSize: 3 }).resume(state)).toThrow(
      'Cannot resume on 3 ranks what 2 ranks began',
    );
  });

  it('have sizes of their own', () => {
    const sizes = (bucketBatchSizes: number | number[]): number[] =>
      createPlanner(table, { bucketBatchSizes, worldSize: 1 })
        .planEpoch(0)
        .report()
        .buckets.map(({ largestBatch }) => largestBatch);
    expect([sizes(2), sizes([7, 1, 3])]).toEqual([
      [6, 4, 2],
      [7, 1, 3],
    ]);
  });

  it('give way to buckets of durations, with a warning', () => {
    const planner = createPlanner(table, { batchSize: 4, bucketCount: 2, worldSize: 1 });
    expect(planner.warnings).toMatchObject([{ code: 'static_buckets_ignored' }]);
    expect(planner.bins).toEqual([4, 8]);
  });
});
