import { expect, test } from 'vitest';
import { PackMeter } from '#cutroom/shard/pack-meter.js';
import type { PackProgress } from '#cutroom/shard/progress.js';
import { itemOf, makePlan } from '../support/pack-runs.js';
import { makeFolder } from '../support/cut-runs.js';

const HOUR = 3600e6;

/** What is told of a shard of two items, one of which is made. */
async function tellOf(folder: string, plannedMicros: number, madeMicros: number): Promise<PackProgress[]> {
  const { plan } = await makePlan(folder, [[itemOf('a', 'a.wav'), itemOf('b', 'b.wav')]]);
  Object.assign(plan.shards[0]!, { micros: plannedMicros });
  const told: PackProgress[] = [];
  const meter = new PackMeter(plan, [0], (progress) => told.push(progress));
  meter.note(0, { items: 1, micros: madeMicros, resumedItems: 0 });
  meter.complete(0);
  meter.finish();
  return told;
}

test('PackMeter tells hours that keep up with the items, and never more than there are', async (context) => {
  const folder = await makeFolder(context);
  const [first, last] = await tellOf(folder, 2 * HOUR, HOUR);
  expect(first).toMatchObject({ items: 1, totalItems: 2, hours: 1, totalHours: 2 });
  expect(last).toMatchObject({ items: 2, hours: 2 });
  // Rows of a plan by samples may say how long they are, or not.
  expect(await tellOf(folder, HOUR, 1.5 * HOUR)).toMatchObject([{ hours: 1, totalHours: 1 }, { hours: 1 }]);
  expect(await tellOf(folder, 0, HOUR)).toMatchObject([{ hours: 0, totalHours: 0 }, { hours: 0 }]);
});
