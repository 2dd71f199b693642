import { createBuckets, type Buckets } from './buckets.js';
import { checkItems, type ItemLosses } from './check-items.js';
import { createDrawStream, type DrawStream } from './epoch-order.js';
import { ItemLookup, listPools } from './item-pools.js';
import type { ItemTable } from './item-table.js';
import type { PlanSettings } from './plan-settings.js';
import type { PlanWarning } from './plan-warnings.js';
import { createSpeedOf, type SpeedOf } from './speed-of.js';

/** What all plans of a planner share. */
export interface PlanContext {
  table: ItemTable;
  settings: PlanSettings;
  lookup: ItemLookup;
  buckets: Buckets;
  /** Undefined where all audio keeps its speed. */
  speedOf: SpeedOf | undefined;
  /** Draws of all items. */
  stream: DrawStream;
  /** As of `CheckedItems`. */
  rowBuckets: Uint16Array | undefined;
  /** Items that no epoch has. */
  losses: ItemLosses;
}

/** @throws what `createPlanner` does. */
export function createPlanContext(table: ItemTable, settings: PlanSettings, warnings: PlanWarning[]): PlanContext {
  const lookup = new ItemLookup(table);
  const stream = createDrawStream(listPools(table), settings);
  const buckets = createBuckets(table, lookup, settings, warnings);
  return {
    ...{ table, settings, lookup, buckets, stream },
    speedOf: settings.speeds.length === 0 ? undefined : createSpeedOf(settings.seed, settings.speeds),
    ...checkItems({ table, settings, buckets }, warnings),
  };
}
