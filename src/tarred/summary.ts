import type { IndexKind } from '../shard/index-types.js';
import type { PackFailure } from '../shard/plan.js';
import type { DatasetPlan } from './dataset-plan.js';
import type { MadeShards } from './make-shards.js';
import type { RowSum, Selection } from './select.js';

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
  failedRows: Readonly<Record<string, number>>;
  /** Members that could not be made, by reason. */
  failedMembers: Readonly<Record<string, number>>;
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
  /** Indexes beside the shards. */
  indexes: readonly IndexSummary[];
  warnings: readonly string[];
  /** The first failure of each reason. */
  firstFailures: readonly PackFailure[];
}

/** One tarred dataset: the only one, or that of a bucket. */
export interface DatasetSummary {
  /** Relative to the target folder; empty for itself. */
  folder: string;
  /** Number of the first of its new shards: `audio_<firstShard>.tar`. */
  firstShard: number;
  shards: number;
  /** The least and the most of a shard; rows and time are not those of one and the same. */
  smallestShard: RowSum;
  largestShard: RowSum;
  planned: RowSum;
  dropped: RowSum;
}

/** An index beside the shards. */
export interface IndexSummary {
  index: IndexKind;
  /** What its loader will not find. */
  warnings: readonly string[];
}

/** What is told of the selection of rows. */
export type SelectionFacts = Pick<
  Selection,
  'read' | 'tooShort' | 'tooLong' | 'failures' | 'shortestSeconds' | 'longestSeconds'
>;

/** What a summary is made of. */
export interface SummaryParts {
  selection: SelectionFacts;
  datasets: readonly DatasetPlan[];
  /** Undefined where nothing was made: the shards are those of the plan. */
  made: MadeShards | undefined;
  warnings: readonly string[];
}

/** Sums up a run. */
export function summarizeRun({ selection, datasets, made, warnings }: SummaryParts): TarSummary {
  const { read, tooShort, tooLong, failures, shortestSeconds, longestSeconds } = selection;
  const known = (seconds: number): number | null => (Number.isNaN(seconds) ? null : seconds);
  const failedMembers = made?.failures ?? [];
  return {
    read,
    planned: addUp(datasets.map(({ kept }) => kept)),
    written: addUp(made?.shards ?? []),
    tooShort,
    tooLong,
    dropped: addUp(datasets.map(({ dropped }) => dropped)),
    failedRows: countReasons(failures),
    failedMembers: countReasons(failedMembers),
    shortestSeconds: known(shortestSeconds),
    longestSeconds: known(longestSeconds),
    datasets: summarizeDatasets(datasets, made),
    members: made?.members ?? 0,
    copied: made?.copied ?? 0,
    tarBytes: made?.tarBytes ?? 0,
    clippedSamples: made?.clippedSamples ?? 0,
    invalidSamples: made?.invalidSamples ?? 0,
    indexes: [],
    warnings: [...warnings, ...(made?.warnings ?? [])],
    firstFailures: firstOfReasons([...failures, ...failedMembers]),
  };
}

/** How many rows and members failed. */
export function countFailures({ failedRows, failedMembers }: TarSummary): number {
  return [...Object.values(failedRows), ...Object.values(failedMembers)].reduce((sum, count) => sum + count, 0);
}

function summarizeDatasets(datasets: readonly DatasetPlan[], made: MadeShards | undefined): DatasetSummary[] {
  let first = 0;
  return datasets.map(({ prefix, firstShard, shards, kept, dropped }) => {
    const own = made?.shards.slice(first, first + shards.length) ?? shards;
    first += shards.length;
    return {
      folder: prefix.replace(/\/$/u, ''),
      firstShard,
      shards: shards.length,
      smallestShard: limitOf(own, Math.min),
      largestShard: limitOf(own, Math.max),
      planned: kept,
      dropped,
    };
  });
}

function limitOf(shards: readonly RowSum[], pick: (a: number, b: number) => number): RowSum {
  const [first = { rows: 0, micros: 0 }, ...rest] = shards;
  return rest.reduce(
    (found, { rows, micros }) => ({ rows: pick(found.rows, rows), micros: pick(found.micros, micros) }),
    first,
  );
}

function addUp(sums: readonly RowSum[]): RowSum {
  const total = { rows: 0, micros: 0 };
  for (const { rows, micros } of sums) {
    total.rows += rows;
    total.micros += micros;
  }
  return total;
}

function countReasons(failures: readonly PackFailure[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of failures) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

function firstOfReasons(failures: readonly PackFailure[]): PackFailure[] {
  const first = new Map<string, PackFailure>();
  for (const failure of failures) if (!first.has(failure.reason)) first.set(failure.reason, failure);
  return [...first.values()];
}
