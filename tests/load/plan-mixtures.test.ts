import { array, assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlanner } from '#cutroom/load/plan-epochs.js';
import type { PlannerOptions } from '#cutroom/load/plan-settings.js';
import { allBatches, batchesOf, describePlan, itemsOf, range } from './plan-checks.js';
import { tableOf, utteranceSeconds, type LeafSpec } from './plan-tables.js';

/** Items in the order in which one rank takes them, over epochs. */
function drawsOf(specs: readonly LeafSpec[], epochs: number, options: Partial<PlannerOptions> = {}): number[] {
  const planner = createPlanner(tableOf(specs), { batchSize: 1, worldSize: 1, ...options });
  return range(epochs).flatMap((epoch) =>
    batchesOf(planner.planEpoch(epoch), 0).flatMap(({ items }) => Array.from(items)),
  );
}

function rows(count: number, spec: LeafSpec = {}): LeafSpec {
  return { seconds: range(count).map(() => 1), ...spec };
}

describe('sources with weights', () => {
  it('have their share of any beginning to within one, and each item once a pass', () => {
    const leaves = array(integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 5 });
    assert(
      property(leaves, array(integer({ min: 1, max: 20 }), { minLength: 5, maxLength: 5 }), (weights, sizes) => {
        const specs = weights.map((weight, at) => rows(sizes[at]!, { weight }));
        const { leaves: placed } = tableOf(specs);
        const draws = drawsOf(specs, 3);
        const sum = weights.reduce((total, weight) => total + weight, 0);
        const taken = weights.map((): number[] => []);
        for (const [at, item] of draws.entries()) {
          const leaf = placed.findIndex(({ endItem }) => item < endItem);
          taken[leaf]!.push(item);
          const worst = Math.max(
            ...weights.map((weight, of) => Math.abs(taken[of]!.length - ((at + 1) * weight) / sum)),
          );
          if (worst >= 1) throw new Error(`off by ${worst} after ${at + 1}`);
        }
        for (const [at, items] of taken.entries()) {
          const size = sizes[at]!;
          for (let from = 0; from + size <= items.length; from += size) {
            if (new Set(items.slice(from, from + size)).size < size) throw new Error(`${items.join(' ')} repeats`);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('keep their order where another source is added', () => {
    const [first, second, third] = [rows(20, { weight: 2 }), rows(15, { weight: 1 }), rows(30, { weight: 5 })];
    const own = (draws: number[]): string =>
      draws
        .filter((item) => item < 20)
        .slice(0, 40)
        .join(' ');
    const before = own(drawsOf([first, second], 3));
    expect(own(drawsOf([first, second, third], 6))).toBe(before);
    expect(before.split(' ')).toHaveLength(40);
  });

  it('end with the first or the last that is whole, or after so many draws', () => {
    const specs = [rows(10, { weight: 1, name: 'small' }), rows(60, { weight: 3, name: 'large' })];
    const report = (options: Partial<PlannerOptions>): object => {
      const { draws, distinctItems, lost, leaves } = createPlanner(tableOf(specs), {
        batchSize: 4,
        worldSize: 2,
        ...options,
      })
        .planEpoch(0)
        .report();
      return { draws, distinctItems, lost, of: leaves.map((leaf) => [leaf.name, leaf.share, leaf.draws, leaf.passes]) };
    };
    expect(report({})).toEqual({
      ...{ draws: 80, distinctItems: 70, lost: {} },
      of: [
        ['small', 0.25, 20, 2],
        ['large', 0.75, 60, 1],
      ],
    });
    expect(report({ stop: 'first_exhausted' })).toMatchObject({
      draws: 42,
      distinctItems: 42,
      lost: { first_exhausted: { items: 28, hours: expect.closeTo(28 / 3600, 9) as number } },
    });
    expect(report({ epochItems: 12 })).toMatchObject({
      draws: 12,
      distinctItems: 12,
      lost: { epoch_items: { items: 58 } },
    });
  });

  it('go on in the next epoch where the one before ended', () => {
    const specs = [rows(7, { weight: 1 }), rows(12, { weight: 2 })];
    const planner = createPlanner(tableOf(specs), { batchSize: 2, worldSize: 1, epochItems: 10 });
    const passes = range(6).flatMap((epoch) => {
      const batches = allBatches(planner.planEpoch(epoch));
      return batches.flatMap(({ items, passes: of }) => Array.from(items, (item, at) => [item, of[at]!] as const));
    });
    expect(new Set(passes.map(([item, pass]) => `${item} ${pass}`)).size).toBe(60);
    expect(passes.every(([, pass], at) => pass <= Math.ceil((at + 1) / 18))).toBe(true);
    const plan = planner.planEpoch(2);
    expect(describePlan(planner.resume(plan.stateAt(3)))).toEqual(describePlan(plan, 3));
  });

  it('are refused beside others without', () => {
    expect(() => drawsOf([rows(2, { weight: 1, name: 'a' }), rows(2, { name: 'b' })], 1)).toThrow(
      'Source "a" has a weight, and "b" has none',
    );
  });

  it('are left out where they have no items', () => {
    const planner = createPlanner(tableOf([rows(4, { weight: 1 }), rows(0, { weight: 1 })]), {
      batchSize: 2,
      worldSize: 1,
    });
    expect(planner.shares.map(({ share }) => share)).toEqual([1, 0]);
    expect(itemsOf(allBatches(planner.planEpoch(0)))).toEqual(range(4));
  });
});

describe('excerpts', () => {
  it('of any number are planned without a list', () => {
    const table = tableOf([{ excerpts: { count: 10_000_000_000, seconds: 5 } }]);
    const planner = createPlanner(table, { maxDuration: 100, worldSize: 3, lastBatch: 'partial' });
    const plan = planner.planEpoch(0);
    expect(plan.stepCount).toBe(Math.ceil(500_000_000 / 3));
    expect(Array.from(plan.batchAt(1, 1000).items)).toEqual(range(20).map((at) => 3001 * 20 + at));
    const last = range(3).map((rank) => plan.batchAt(rank, plan.stepCount - 1).items);
    expect(last.map((items) => items.length)).toEqual([14, 13, 13]);
    expect(last[2]!.at(-1)).toBe(9_999_999_999);
    expect(describePlan(planner.resume(plan.stateAt(plan.stepCount - 2)))).toEqual(
      range(3).map((rank) =>
        [2, 1].map((back) => `-:${plan.batchAt(rank, plan.stepCount - back).items.join(',')}`).join(' '),
      ),
    );
    expect(() => plan.report()).toThrow('Cannot report on 500000001 batches');
  });

  it('without end need a length of epochs, and go on over them', () => {
    const table = tableOf([{ excerpts: { count: Infinity, seconds: 5 } }]);
    expect(() => createPlanner(table, { batchSize: 4, worldSize: 2 })).toThrow('nothing says when the epoch ends');
    const planner = createPlanner(table, { batchSize: 4, worldSize: 2, epochItems: 18 });
    expect(range(3).map((epoch) => itemsOf(allBatches(planner.planEpoch(epoch))))).toEqual([
      range(18),
      range(36).slice(18),
      range(54).slice(36),
    ]);
    expect(planner.planEpoch(1).report()).toMatchObject({ draws: 18, distinctItems: 18, hours: 90 / 3600, lost: {} });
  });

  it('with an end begin anew, in the next pass', () => {
    const table = tableOf([{ excerpts: { count: 10, seconds: 5 } }]);
    const planner = createPlanner(table, { batchSize: 4, worldSize: 1, epochItems: 14 });
    const [batch] = batchesOf(planner.planEpoch(0), 0).slice(2);
    expect([Array.from(batch!.items), Array.from(batch!.passes)]).toEqual([
      [8, 9, 0, 1],
      [0, 0, 1, 1],
    ]);
    expect(planner.planEpoch(0).report()).toMatchObject({ draws: 14, distinctItems: 10, leaves: [{ passes: 1.4 }] });
  });

  it('mix with rows by weights', () => {
    const table = tableOf([
      { seconds: utteranceSeconds(30), weight: 1 },
      { excerpts: { count: Infinity, seconds: 4 }, weight: 2 },
    ]);
    const planner = createPlanner(table, { maxDuration: 60, bucketCount: 4, worldSize: 2, epochItems: 60 });
    const draws = itemsOf(allBatches(planner.planEpoch(0)));
    expect([draws.filter((item) => item < 30).length, draws.filter((item) => item >= 30)]).toEqual([
      20,
      range(70).slice(30),
    ]);
    const large = createPlanner(table, { maxDuration: 60, worldSize: 2, epochItems: 2 ** 28 });
    expect(() => large.planEpoch(0)).toThrow('at most 134217728 fit');
  });

  it('are refused where one alone is above a limit', () => {
    const table = tableOf([{ name: 'windows', excerpts: { count: 10, seconds: 5 } }]);
    expect(() => createPlanner(table, { maxDuration: 4, worldSize: 1 })).toThrow('Excerpts of "windows" are 5 s long');
    const dropped = createPlanner(table, { maxDuration: 4, worldSize: 1, oversized: 'drop' });
    expect([dropped.planEpoch(0).stepCount, dropped.losses['oversized']?.items]).toEqual([0, 10]);
    const alone = createPlanner(table, { maxDuration: 4, worldSize: 1, oversized: 'alone' });
    expect(alone.planEpoch(0).stepCount).toBe(10);
  });
});

describe('speeds', () => {
  const table = tableOf([{ seconds: utteranceSeconds(300) }]);
  const options = { speeds: [0.9, 1, 1.1], maxDuration: 60, bucketCount: 5, worldSize: 2 };

  it('count before limits do, and are drawn anew each pass', () => {
    const planner = createPlanner(table, options);
    for (const epoch of [0, 1]) {
      const batches = allBatches(planner.planEpoch(epoch));
      expect(itemsOf(batches)).toEqual(range(300));
      for (const { items, passes } of batches) {
        const seconds = Array.from(
          items,
          (item, at) => table.durationsMicros[item]! / 1e6 / planner.speedOf(item, passes[at]!),
        );
        expect(Math.max(...seconds) * items.length).toBeLessThanOrEqual(60.001);
      }
    }
    const speeds = [0, 1].map((pass) => range(300).map((item) => planner.speedOf(item, pass)));
    expect(new Set(speeds[0])).toEqual(new Set([0.9, 1, 1.1]));
    expect(speeds[0]).not.toEqual(speeds[1]);
    const hours = range(300).reduce((sum, item) => sum + table.durationsMicros[item]! / speeds[0]![item]! / 3.6e9, 0);
    expect(planner.planEpoch(0).report().hours).toBeCloseTo(hours, 6);
  });

  it('refuse at once what the lowest makes too long', () => {
    const long = tableOf([{ seconds: [9.5] }]);
    expect(() => createPlanner(long, { speeds: [0.9, 1], maxDuration: 10, worldSize: 1 })).toThrow(
      'The row of line 1 of "manifest-0.jsonl" is 9.5 s long, and longer at speed 0.9: alone it is above a limit of batches',
    );
    expect(createPlanner(long, { speeds: [1.1], maxDuration: 10, worldSize: 1 }).planEpoch(0).stepCount).toBe(1);
  });
});
