import { hoursOfMicros } from '../manifest/shard-list.js';
import type { IndexKind } from '../shard/index-types.js';
import type { PackFailure } from '../shard/plan.js';
import type { TarIdentity } from './identity.js';
import type { MadeShards } from './make-shards.js';
import type { RowSum } from './select.js';
import type { TarSummary } from './summary.js';

/** The file that says that a dataset is whole, as far as its own command reads it. */
export interface TarMetrics extends TarIdentity {
  /** Null where no audio is packed. */
  plan_hash: string | null;
  complete: true;
  rows_read: number;
  rows_planned: number;
  rows_written: number;
  rows_too_short: number;
  rows_too_long: number;
  rows_dropped: number;
  /** By reason. */
  failed_rows: Record<string, number>;
  failed_members: Record<string, number>;
  duration_read_sec: number;
  duration_planned_sec: number;
  duration_written_sec: number;
  duration_written_hours: number;
  duration_too_short_sec: number;
  duration_too_long_sec: number;
  duration_dropped_sec: number;
  /** Of rows that can be used; null where none says it. */
  shortest_sec: number | null;
  longest_sec: number | null;
  members: number;
  members_copied: number;
  tar_bytes: number;
  clipped_samples: number;
  invalid_samples: number;
  shard_manifests: boolean;
  datasets: DatasetMetrics[];
  /** Those that this run made; none where no audio is packed. */
  shards: ShardMetrics[];
  /** Those that were written beside the shards, in the order of kinds. */
  indexes: IndexMetrics[];
  warnings: string[];
  /** One of each reason. */
  first_failures: PackFailure[];
}

/** Of a bucket, or of the only dataset. */
interface DatasetMetrics {
  folder: string;
  first_shard: number;
  num_shards: number;
  smallest_shard_rows: number;
  largest_shard_rows: number;
  smallest_shard_sec: number;
  largest_shard_sec: number;
  rows_planned: number;
  duration_planned_sec: number;
  rows_dropped: number;
  duration_dropped_sec: number;
}

/** Of an index beside the shards. */
export interface IndexMetrics {
  index: IndexKind;
  /** What its loader will not find. */
  warnings: string[];
}

interface ShardMetrics {
  /** Relative to the target folder. */
  tar: string;
  tar_bytes: number;
  members: number;
  rows: number;
  duration_sec: number;
}

const MICROS = 1e6;

/** The metrics of a run that is done. */
export function metricsOf(
  identity: TarIdentity,
  summary: TarSummary,
  made: MadeShards,
  shardManifests: boolean,
): TarMetrics {
  const { read, planned, written, tooShort, tooLong, dropped } = summary;
  return {
    ...identity,
    plan_hash: made.planHash,
    complete: true,
    rows_read: read.rows,
    rows_planned: planned.rows,
    rows_written: written.rows,
    rows_too_short: tooShort.rows,
    rows_too_long: tooLong.rows,
    rows_dropped: dropped.rows,
    failed_rows: { ...summary.failedRows },
    failed_members: { ...summary.failedMembers },
    duration_read_sec: read.micros / MICROS,
    duration_planned_sec: planned.micros / MICROS,
    duration_written_sec: written.micros / MICROS,
    duration_written_hours: hoursOfMicros(BigInt(written.micros)),
    duration_too_short_sec: tooShort.micros / MICROS,
    duration_too_long_sec: tooLong.micros / MICROS,
    duration_dropped_sec: dropped.micros / MICROS,
    shortest_sec: summary.shortestSeconds,
    longest_sec: summary.longestSeconds,
    members: summary.members,
    members_copied: summary.copied,
    tar_bytes: summary.tarBytes,
    clipped_samples: summary.clippedSamples,
    invalid_samples: summary.invalidSamples,
    shard_manifests: shardManifests,
    datasets: summary.datasets.map((dataset) => ({
      folder: dataset.folder,
      first_shard: dataset.firstShard,
      num_shards: dataset.shards,
      smallest_shard_rows: dataset.smallestShard.rows,
      largest_shard_rows: dataset.largestShard.rows,
      smallest_shard_sec: dataset.smallestShard.micros / MICROS,
      largest_shard_sec: dataset.largestShard.micros / MICROS,
      rows_planned: dataset.planned.rows,
      duration_planned_sec: dataset.planned.micros / MICROS,
      rows_dropped: dataset.dropped.rows,
      duration_dropped_sec: dataset.dropped.micros / MICROS,
    })),
    shards: made.files.map(({ tar, bytes, members }, shard) => ({
      tar,
      tar_bytes: bytes,
      members,
      rows: made.shards[shard]?.rows ?? 0,
      duration_sec: (made.shards[shard]?.micros ?? 0) / MICROS,
    })),
    indexes: summary.indexes.map(({ index, warnings }) => ({ index, warnings: [...warnings] })),
    warnings: [...summary.warnings],
    first_failures: [...summary.firstFailures],
  };
}

/** The summary of a run that an earlier one finished. */
export function summaryOfMetrics(metrics: TarMetrics): TarSummary {
  return {
    read: sumOf(metrics.rows_read, metrics.duration_read_sec),
    planned: sumOf(metrics.rows_planned, metrics.duration_planned_sec),
    written: sumOf(metrics.rows_written, metrics.duration_written_sec),
    tooShort: sumOf(metrics.rows_too_short, metrics.duration_too_short_sec),
    tooLong: sumOf(metrics.rows_too_long, metrics.duration_too_long_sec),
    dropped: sumOf(metrics.rows_dropped, metrics.duration_dropped_sec),
    failedRows: metrics.failed_rows,
    failedMembers: metrics.failed_members,
    shortestSeconds: metrics.shortest_sec,
    longestSeconds: metrics.longest_sec,
    datasets: metrics.datasets.map((dataset) => ({
      folder: dataset.folder,
      firstShard: dataset.first_shard,
      shards: dataset.num_shards,
      smallestShard: sumOf(dataset.smallest_shard_rows, dataset.smallest_shard_sec),
      largestShard: sumOf(dataset.largest_shard_rows, dataset.largest_shard_sec),
      planned: sumOf(dataset.rows_planned, dataset.duration_planned_sec),
      dropped: sumOf(dataset.rows_dropped, dataset.duration_dropped_sec),
    })),
    members: metrics.members,
    copied: metrics.members_copied,
    tarBytes: metrics.tar_bytes,
    clippedSamples: metrics.clipped_samples,
    invalidSamples: metrics.invalid_samples,
    indexes: metrics.indexes,
    warnings: metrics.warnings,
    firstFailures: metrics.first_failures,
  };
}

function sumOf(rows: number, seconds: number): RowSum {
  return { rows, micros: Math.round(seconds * MICROS) };
}
