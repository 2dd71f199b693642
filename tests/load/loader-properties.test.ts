import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanOptions } from '#cutroom/load/batch-options.js';
import type { Batch } from '#cutroom/load/batch.js';
import type { LoaderState } from '#cutroom/load/epoch-plan.js';
import { createPlanner } from '#cutroom/load/plan-epochs.js';
import { FakeDecoder, fakeLoader, tableOf } from './fake-parts.js';

interface Shares {
  ranks: number;
  workers: number;
  prefetch: number;
}

/** All batches of the rest of an epoch, by rank and step, over all workers. */
async function collect(
  durations: readonly number[],
  options: PlanOptions,
  bad: readonly number[],
  { ranks, workers, prefetch }: Shares,
  from: LoaderState | number = 0,
): Promise<Batch[][]> {
  const table = tableOf(durations);
  const planner = createPlanner(table, { ...options, worldSize: ranks });
  const all: Batch[][] = [];
  for (let rank = 0; rank < ranks; rank += 1) {
    const ofRank: Batch[] = [];
    for (let worker = 0; worker < workers; worker += 1) {
      const decoder = new FakeDecoder(bad);
      decoder.isInstant = true;
      const shares = { rank, ranks, worker, workers, prefetch };
      await using loader = fakeLoader(table, decoder, { ...shares, planner, speeds: options.speeds ?? [] });
      for await (const batch of loader.batches(from)) ofRank[batch.step] = batch;
    }
    all.push(ofRank);
  }
  return all;
}

/** Items of the plan: what was replaced counts as the item that it stands for. */
function itemsOf(batches: readonly Batch[]): number[] {
  return batches
    .flatMap(({ ids, failures }) => {
      const items = ids.map((id) => Number(id.slice(5)));
      for (const { id, replacedBy } of failures) {
        const at = replacedBy === undefined ? -1 : items.indexOf(Number(replacedBy.slice(5)));
        if (at >= 0) items.splice(at, 1);
        items.push(Number(id.slice(5)));
      }
      return items;
    })
    .sort((a, b) => a - b);
}

const durations = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 });
const shares = fc.record({
  ranks: fc.integer({ min: 1, max: 5 }),
  workers: fc.integer({ min: 1, max: 3 }),
  prefetch: fc.integer({ min: 1, max: 4 }),
});
const options = fc.record({
  seed: fc.nat(1000),
  shuffle: fc.boolean(),
  maxDuration: fc.constantFrom(20, 45),
  bucketCount: fc.constantFrom(1, 3),
  speeds: fc.constantFrom(undefined, [1, 2]),
});

describe('a loader of random rows, options, ranks and workers', () => {
  it('gives each row once, in equally many steps on each rank', async () => {
    await fc.assert(
      fc.asyncProperty(durations, options, shares, async (rows, plan, share) => {
        const ranks = await collect(rows, plan, [], share);
        expect(new Set(ranks.map(({ length }) => length)).size).toBe(1);
        for (const batches of ranks) expect(batches.map(({ step }) => step)).toEqual([...batches.keys()]);
        expect(itemsOf(ranks.flat())).toEqual([...rows.keys()]);
      }),
      { numRuns: 40 },
    );
  });

  it('goes on at any batch with what it would have given, on as many ranks or others', async () => {
    await fc.assert(
      fc.asyncProperty(durations, options, shares, shares, fc.nat(), async (rows, plan, share, other, pick) => {
        const bad = rows.length > 3 ? [2] : [];
        const whole = await collect(rows, plan, bad, share);
        const steps = whole[0]?.length ?? 0;
        const taken = 1 + (pick % steps);
        const state = whole[0]?.[taken - 1]?.state;
        expect(whole.map((batches) => batches[taken - 1]?.state)).toEqual(whole.map(() => state));
        if (state === undefined || taken === steps) return;
        const facts = ({ ids, failures, audioLengths, bucket }: Batch): object => ({
          ids,
          failures,
          audioLengths,
          bucket,
        });
        const rest = await collect(rows, plan, bad, { ...other, ranks: share.ranks }, state);
        expect(rest.map((batches) => batches.map(facts))).toEqual(
          whole.map((batches) => batches.slice(taken).map(facts)),
        );
        const before = whole.flatMap((batches) => batches.slice(0, taken));
        const elsewhere = await collect(rows, plan, [], other, state);
        expect(new Set(elsewhere.map(({ length }) => length)).size).toBe(1);
        const counted = [...itemsOf(before), ...itemsOf(elsewhere.flat())].sort((a, b) => a - b);
        expect(counted).toEqual([...rows.keys()]);
      }),
      { numRuns: 40 },
    );
  });
});
