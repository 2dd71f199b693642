import type { ItemLookup } from './item-pools.js';
import type { ItemTable } from './item-table.js';
import type { BucketBound } from './plan-report.js';

/** Buckets that the sources are. */
export interface StaticBuckets {
  count: number;
  /** The shortest and the longest that each has. */
  bounds: readonly BucketBound[];
  bucketOf(micros: number, item: number): number;
}

/** The buckets of leaves; those that have none share one behind the last. */
export function findStaticBuckets(table: ItemTable, lookup: ItemLookup): StaticBuckets {
  const named = table.leaves.flatMap((leaf) => leaf.bucket ?? []);
  const rest = Math.max(...named) + 1;
  const buckets = Uint16Array.from(table.leaves, (leaf) => leaf.bucket ?? rest);
  const count = rest + (named.length < buckets.length ? 1 : 0);
  const bounds = Array.from({ length: count }, () => ({ fromMicros: Infinity, toMicros: 0, toTokens: undefined }));
  for (const [at, leaf] of table.leaves.entries()) {
    const bound = bounds[buckets[at]!]!;
    const end = leaf.excerpts === undefined ? leaf.endItem : Math.min(leaf.endItem, leaf.firstItem + 1);
    for (let item = leaf.firstItem; item < end; item += 1) {
      const micros = lookup.durationMicros(item);
      bound.fromMicros = Math.min(bound.fromMicros, micros);
      bound.toMicros = Math.max(bound.toMicros, micros);
    }
  }
  for (const bound of bounds) bound.fromMicros = Math.min(bound.fromMicros, bound.toMicros);
  return { count, bounds, bucketOf: (_, item) => buckets[lookup.leafOf(item)]! };
}
