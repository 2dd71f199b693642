import { array, assert, constantFrom, integer, nat, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlanner } from '#cutroom/load/plan-epochs.js';
import type { PlannerOptions } from '#cutroom/load/plan-settings.js';
import { allBatches, batchesOf, checkCaps, describePlan, itemsOf, range } from './plan-checks.js';
import { tableOf, utteranceSeconds } from './plan-tables.js';

const rows = array(integer({ min: 1, max: 300 }), { maxLength: 120 }).map((tenths) =>
  tenths.map((value) => value / 10),
);
const limits = constantFrom<Partial<PlannerOptions>>(
  { batchSize: 1 },
  { batchSize: 5 },
  { batchSize: 7, numCopies: 3 },
  { maxDuration: 30 },
  { maxDuration: 90, maxSamples: 6 },
  { maxDuration: 90, numCopies: 3 },
  { batchDuration: 100, quadraticDuration: 15 },
  { batchSize: 4, maxDuration: 60 },
);
const layout = record({
  seconds: rows,
  limit: limits,
  bucketCount: constantFrom(1, 1, 2, 5, 200),
  bucketWindow: constantFrom(1, 20, 10_000),
  worldSize: constantFrom(1, 2, 3, 8, 40),
  otherWorld: constantFrom(1, 2, 5, 16),
  shuffle: constantFrom(true, true, false),
  epoch: nat(3),
  lastBatch: constantFrom('partial', 'pad', 'drop' as const),
});

describe('createPlanner()', () => {
  it('gives each item to one rank once, within all limits and in equal steps', () => {
    assert(
      property(layout, ({ seconds, limit, bucketCount, bucketWindow, worldSize, shuffle, epoch, lastBatch }) => {
        const table = tableOf([{ seconds: seconds.slice(0, 50) }, { seconds: seconds.slice(50) }]);
        const options = { ...limit, bucketCount, bucketWindow, worldSize, shuffle, lastBatch };
        const planner = createPlanner(table, options);
        const plan = planner.planEpoch(epoch);
        const batches = allBatches(plan);
        checkCaps(plan, table, options, planner.bins);
        const items = itemsOf(batches);
        const report = plan.report();
        expect(new Set(items).size).toBe(items.length);
        if (lastBatch !== 'drop') expect(items).toEqual(range(seconds.length));
        if (lastBatch === 'pad') expect(batches.every((batch) => batch.items.length > 0)).toBe(true);
        else expect(batches.every((batch) => batch.padCount === 0)).toBe(true);
        const lost = Object.values(report.lost).reduce((sum, loss) => sum + loss.items, 0);
        expect([report.distinctItems + lost, report.draws]).toEqual([seconds.length, items.length]);
        expect(batches.every(({ passes }) => passes.every((pass) => pass === epoch))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('has no empty batch where items are enough for all steps', () => {
    assert(
      property(rows, integer({ min: 2, max: 9 }), integer({ min: 2, max: 9 }), (seconds, worldSize, batchSize) => {
        const plan = createPlanner(tableOf([{ seconds }]), { batchSize, worldSize }).planEpoch(0);
        const sizes = allBatches(plan).map(({ items }) => items.length);
        if (seconds.length >= plan.stepCount * worldSize) expect(Math.min(1, ...sizes)).toBe(1);
        const counts = range(worldSize).map((rank) => itemsOf(batchesOf(plan, rank)).length);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 50 },
    );
  });

  it('goes on identically from any step, and on other ranks with just what is left', () => {
    assert(
      property(layout, nat(1000), (options, at) => {
        const { seconds, limit, otherWorld, epoch, ...rest } = options;
        const table = tableOf([{ seconds }]);
        const planner = createPlanner(table, { ...limit, ...rest });
        const plan = planner.planEpoch(epoch);
        const step = at % (plan.stepCount + 1);
        const state = JSON.parse(JSON.stringify(plan.stateAt(step))) as ReturnType<typeof plan.stateAt>;
        if (step === plan.stepCount) {
          expect(describePlan(planner.resume(state))).toEqual(describePlan(planner.planEpoch(epoch + 1)));
          return;
        }
        const resumed = planner.resume(state);
        expect(describePlan(resumed)).toEqual(describePlan(plan, step));
        const other = createPlanner(table, { ...limit, ...rest, worldSize: otherWorld }).resume(state);
        checkCaps(other, table, limit);
        const taken = itemsOf(range(rest.worldSize).flatMap((rank) => batchesOf(plan, rank).slice(0, step)));
        const left = itemsOf(allBatches(other));
        if (rest.lastBatch === 'partial') {
          expect([...taken, ...left].sort((a, b) => a - b)).toEqual(range(seconds.length));
          // And once more, from between.
          const middle = Math.floor(other.stepCount / 2);
          const again = planner.resume(other.stateAt(middle));
          const between = itemsOf(range(otherWorld).flatMap((rank) => batchesOf(other, rank).slice(0, middle)));
          const end = middle === other.stepCount ? [] : itemsOf(allBatches(again));
          expect([...taken, ...between, ...end].sort((a, b) => a - b)).toEqual(range(seconds.length));
        } else if (rest.lastBatch === 'drop') {
          expect(new Set([...taken, ...left]).size).toBe(taken.length + left.length);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('stays what it was', () => {
    const table = tableOf([{ seconds: utteranceSeconds(40) }]);
    const plans = [{ batchSize: 8 }, { maxDuration: 40, bucketCount: 3 }, { maxDuration: 60, shuffle: false }];
    expect(plans.map((options) => describePlan(createPlanner(table, { ...options, worldSize: 2 }).planEpoch(1))))
      .toMatchInlineSnapshot(`
        [
          [
            "-:16,7,32,25,13,33,9,26 -:0,29,36,18,28,15,3,5 -:35,30,17,11",
            "-:6,1,19,4,27,31,14,8 -:10,37,34,38,39,24,23,12 -:2,22,20,21",
          ],
          [
            "0:8,12,19,30,26 1:6,32,27 1:24,36,38 2:16,25 0:4,31,5,0 0:21,37,35,3,11,1 2:10",
            "0:14,39,34,15 1:20,22,23 1:29,18 2:28 0:9,13,2,17 2:7 2:33",
          ],
          [
            "-:0,1,2,3,4,5 -:8,9,10 -:16,17,18 -:24,25,26 -:30,31,32 -:35,36,37,38",
            "-:6,7 -:11,12,13,14,15 -:19,20,21,22,23 -:27,28,29 -:33,34 -:39",
          ],
        ]
      `);
  });

  it('takes another order each epoch, and the same without shuffle', () => {
    const table = tableOf([{ seconds: utteranceSeconds(60) }]);
    const planner = createPlanner(table, { batchSize: 8, worldSize: 2 });
    expect(describePlan(planner.planEpoch(0))).not.toEqual(describePlan(planner.planEpoch(1)));
    expect(describePlan(planner.planEpoch(1))).toEqual(describePlan(planner.planEpoch(1)));
    const other = createPlanner(table, { batchSize: 8, worldSize: 2, seed: 1 });
    expect(describePlan(planner.planEpoch(0))).not.toEqual(describePlan(other.planEpoch(0)));
    const sorted = createPlanner(table, { batchSize: 8, worldSize: 1, shuffle: false });
    expect(Array.from(sorted.planEpoch(3).batchAt(0, 1).items)).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
  });

  it('has steps of one bucket on all ranks, but for the last of each', () => {
    const table = tableOf([{ seconds: utteranceSeconds(2000) }]);
    const plan = createPlanner(table, { maxDuration: 60, bucketCount: 10, worldSize: 4 }).planEpoch(0);
    const kinds = range(plan.stepCount).map((step) => new Set(range(4).map((rank) => plan.batchAt(rank, step).bucket)));
    const mixed = kinds.filter((kind) => kind.size > 1).length;
    expect(mixed).toBeLessThanOrEqual(8);
    expect(plan.stepCount).toBeGreaterThan(50);
    // Buckets take turns: none comes three times more often in a row than chance would have it.
    const order = kinds.map((kind) => Array.from(kind).join());
    const repeats = order.filter((kind, step) => kind === order[step - 1]).length;
    expect(repeats / order.length).toBeLessThan(0.3);
  });

  it('pads little', () => {
    const table = tableOf([{ seconds: utteranceSeconds(12_000) }]);
    const shares = [1, 30].map(
      (bucketCount) =>
        createPlanner(table, { maxDuration: 600, bucketCount, worldSize: 1 }).planEpoch(0).report().paddingShare,
    );
    expect(shares[0]).toBeGreaterThan(0.5);
    // Lhotse's dynamic bucketing has 0.043 on such durations.
    expect(shares[1]).toBeLessThan(0.03);
  });

  it('plans nothing of nothing', () => {
    for (const lastBatch of ['partial', 'pad', 'drop'] as const) {
      const planner = createPlanner(tableOf([{ seconds: [] }]), {
        maxDuration: 10,
        bucketCount: 4,
        worldSize: 3,
        lastBatch,
      });
      const plan = planner.planEpoch(0);
      expect([plan.stepCount, plan.report().draws, planner.bins]).toEqual([0, 0, undefined]);
      expect(plan.stateAt(0)).toEqual({ seed: 0, epoch: 1, batch: 0, ranks: 3 });
      expect(() => plan.batchAt(0, 0)).toThrow(RangeError);
    }
    expect(createPlanner(tableOf([]), { batchSize: 1, worldSize: 1 }).planEpoch(0).stepCount).toBe(0);
  });

  it('leaves ranks without items where there are fewer than ranks', () => {
    const table = tableOf([{ seconds: [1, 2, 3] }]);
    const sizes = (options: Partial<PlannerOptions>): number[] =>
      allBatches(createPlanner(table, { maxDuration: 100, worldSize: 5, ...options }).planEpoch(0)).map(
        ({ items }) => items.length,
      );
    expect([sizes({}), sizes({ batchSize: 2 })].map((all) => all.sort((a, b) => a - b).join(''))).toEqual([
      '00111',
      '00111',
    ]);
    expect(sizes({ lastBatch: 'pad' })).toEqual([3, 3, 3, 3, 3]);
    expect(sizes({ lastBatch: 'drop' })).toEqual([]);
  });

  it('fills the last batch with repeated items when padding batches of one size', () => {
    const plan = createPlanner(tableOf([{ seconds: utteranceSeconds(10) }]), {
      ...{ batchSize: 4, worldSize: 2, lastBatch: 'pad' },
    }).planEpoch(0);
    expect(allBatches(plan).map(({ items, padCount }) => [items.length, padCount])).toEqual([
      [4, 0],
      [4, 0],
      [4, 2],
      [4, 4],
    ]);
    expect(plan.report()).toMatchObject({ draws: 10, distinctItems: 10, padDraws: 6, lost: {} });
  });

  it('refuses, drops or lets alone an item above a limit', () => {
    const table = tableOf([{ seconds: [5, 12.5, 5] }]);
    const options = { maxDuration: 10, worldSize: 1 };
    expect(() => createPlanner(table, options)).toThrow(
      expect.objectContaining({
        message: 'The row of line 2 of "manifest-0.jsonl" is 12.5 s long: alone it is above a limit of batches',
        path: 'manifest-0.jsonl',
        line: 2,
      }),
    );
    const dropping = createPlanner(table, { ...options, oversized: 'drop' });
    expect(dropping.losses).toMatchObject({ oversized: { items: 1 } });
    expect(dropping.warnings.map(({ message }) => message)).toEqual([
      '1 item of 0.003 h is alone above a limit: no batch has them',
    ]);
    expect(itemsOf(allBatches(dropping.planEpoch(0)))).toEqual([0, 2]);
    expect(dropping.planEpoch(0).report().lost).toMatchObject({ oversized: { items: 1, hours: 12.5 / 3600 } });
    const alone = createPlanner(table, { ...options, oversized: 'alone' }).planEpoch(0);
    expect(itemsOf(allBatches(alone))).toEqual([0, 1, 2]);
    expect(allBatches(alone).find(({ items }) => items.includes(1))?.items).toHaveLength(1);
  });

  it('refuses options that are none', () => {
    const table = tableOf([{ seconds: [1, 2] }]);
    const refusal = (options: Partial<PlannerOptions>): string => {
      try {
        createPlanner(table, { worldSize: 1, ...options });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect([
      refusal({}),
      refusal({ maxDuration: 0 }),
      refusal({ batchSize: 1.5 }),
      refusal({ batchSize: 2, numCopies: 3 }),
      refusal({ batchSize: 1, worldSize: 0 }),
      refusal({ batchSize: 1, bins: [3, 2] }),
      refusal({ batchSize: 1, bins: [3, 4], bucketCount: 2 }),
      refusal({ bucketBatchSizes: [1, 2, 3], bins: [3, 4] }),
      refusal({ batchSize: 1, quadraticDuration: 3 }),
      refusal({ batchSize: 1, speeds: [0] }),
      refusal({ batchSize: 1, tokenBuckets: 2 }),
      refusal({ batchSize: 1, tokenBuckets: 2, bucketCount: 2 }),
      refusal({ batchSize: 1, seed: 0.5 }),
    ]).toMatchInlineSnapshot(`
      [
        "Cannot plan batches: nothing says how large they may be",
        "maxDuration must be seconds above 0, not 0",
        "batchSize must be a whole number 1 or more, not 1.5",
        "batchSize is 2, fewer than the 3 copies of one item",
        "worldSize must be a whole number from 1 to 1048576, not 0",
        "Bin 1 is 2, after 3: bins must ascend",
        "Both bins and a number of buckets are given",
        "bucketBatchSizes has 3 sizes for 2 buckets",
        "quadraticDuration is given without batchDuration, which it belongs to",
        "speeds must be factors from 0.1 to 10, not 0",
        "tokenBuckets divides buckets of durations, but there are none",
        "Buckets of tokens are asked for, but the tokens of the rows were not counted",
        "seed must be a whole number, not 0.5",
      ]
    `);
  });

  it('refuses states of other data', () => {
    const planner = createPlanner(tableOf([{ seconds: [1, 2, 3] }]), { batchSize: 1, worldSize: 1, seed: 7 });
    const refusal = (state: object): string => {
      try {
        planner.resume({ seed: 7, epoch: 0, batch: 0, ranks: 1, ...state });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect([
      refusal({ seed: 8 }),
      refusal({ batch: 4 }),
      refusal({ batch: -1 }),
      refusal({ epoch: '0' }),
      refusal({ ranks: 0 }),
      refusal({ ranks: 1e12 }),
      refusal({ batch: 3 }),
    ]).toMatchInlineSnapshot(`
      [
        "Cannot resume: the state is of seed 8, and the loader's is 7",
        "Cannot resume: the state has taken 4 batches of epoch 0, which has 3",
        "Cannot resume: "batch" of the state is -1",
        "Cannot resume: "epoch" of the state is "0"",
        "Cannot resume: "ranks" of the state is 0",
        "Cannot resume: "ranks" of the state is 1000000000000",
        "",
      ]
    `);
  });
});
