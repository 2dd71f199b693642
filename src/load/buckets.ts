import { BatchLimit } from './batch-limits.js';
import type { ItemLookup } from './item-pools.js';
import type { PlanSettings } from './plan-settings.js';

/** What becomes of draws that no batch takes. */
export const BEYOND_BUCKETS = 0xffff;
export const OVERSIZED = 0xfffe;

/** Sorts draws into buckets. */
export interface Buckets {
  readonly count: number;
  /** False where all draws are one bucket that nobody asked for. */
  readonly areNamed: boolean;
  /** A bucket from 0 on, or `BEYOND_BUCKETS`. */
  bucketOf(micros: number, item: number, lookup: ItemLookup): number;
  limitOf(bucket: number): BatchLimit;
}

/** One bucket for all. */
export function createNoBuckets(settings: PlanSettings): Buckets {
  const limit = new BatchLimit(settings);
  return { count: 1, areNamed: false, bucketOf: () => 0, limitOf: () => limit };
}
