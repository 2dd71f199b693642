import type { PackFailure } from '../shard/plan.js';
import type { RowSum } from './select.js';

/** What became of the rows of a run, and what it made. */
export interface TarSummary {
  /** Lines of the manifests that are not blank. */
  read: RowSum;
  /** In the shards, as planned. */
  planned: RowSum;
  /** In the manifests of the dataset; less than planned where members failed. */
  written: RowSum;
  tooShort: RowSum;
  tooLong: RowSum;
  /** Left out so that shards are equal. */
  dropped: RowSum;
  /** Rows that cannot be used, by reason. */
  refused: Readonly<Record<string, number>>;
  /** Rows whose audio failed, by reason. */
  failed: Readonly<Record<string, number>>;
  /** Shortest and longest row that can be used; null where there is none. */
  shortestSeconds: number | null;
  longestSeconds: number | null;
  datasets: readonly DatasetSummary[];
  members: number;
  /** Members whose bytes are those of their files. */
  copied: number;
  tarBytes: number;
  clippedSamples: number;
  invalidSamples: number;
  warnings: readonly string[];
  /** The first failures of each reason. */
  firstFailures: readonly PackFailure[];
}

/** One tarred dataset: the only one, or that of a bucket. */
export interface DatasetSummary {
  /** Relative to the target folder; empty for itself. */
  folder: string;
  /** Number of the first of its new shards: `audio_<firstShard>.tar`. */
  firstShard: number;
  shards: number;
  /** Rows of the smallest and of the largest shard. */
  smallestShard: number;
  largestShard: number;
  planned: RowSum;
  dropped: RowSum;
}

/** How many failures of one reason a summary keeps. */
const MAX_FIRST = 5;

/** How many failures of each reason there are. */
export function countReasons(failures: Iterable<PackFailure>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of failures) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

/** The first failures of each reason, in their order. */
export function firstOfReasons(failures: Iterable<PackFailure>): PackFailure[] {
  const counts = new Map<string, number>();
  const first: PackFailure[] = [];
  for (const failure of failures) {
    const count = (counts.get(failure.reason) ?? 0) + 1;
    counts.set(failure.reason, count);
    if (count <= MAX_FIRST) first.push(failure);
  }
  return first;
}
