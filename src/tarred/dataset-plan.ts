import { toMicros } from '../audio/times.js';
import { UsageError } from '../errors.js';
import { planBuckets, type Bucket } from './buckets.js';
import type { ResolvedTarOptions } from './options.js';
import { countFiles, orderRows, sortShards, splitRows, type Partition } from './order.js';
import type { RowSum, Selection } from './select.js';

/** A tarred dataset that is to be: its shards and which rows they hold. */
export interface DatasetPlan {
  /** Undefined for the only one. */
  bucket: Bucket | undefined;
  /** Relative to the target folder, with a slash behind it; empty for the folder itself. */
  prefix: string;
  partition: Partition;
  /** Number of the first shard. */
  firstShard: number;
  /** Rows of a shard as the metadata tell: of the smallest one, or of those of a dataset that gains rows. */
  samplesPerShard: number;
  smallestShard: number;
  largestShard: number;
  kept: RowSum;
  dropped: RowSum;
}

/** Where rows are added to a dataset: what it has. */
export interface GrownDataset {
  numShards: number;
  samplesPerShard: number;
}

/**
 * Orders the selected rows and splits them into shards: one dataset, or one for each bucket that has rows.
 *
 * @param warnings takes what a loader that wants equal shards has to know
 * @throws UsageError when there are too few rows for the shards
 */
export function planDatasets(
  { table, kept }: Selection,
  options: ResolvedTarOptions,
  grown: GrownDataset | undefined,
  warnings: string[],
): DatasetPlan[] {
  const { bucketsNum, minDurationSeconds = 0, maxDurationSeconds = 0 } = options;
  if (kept.rows === 0) throw noRows();
  if (bucketsNum === 1) {
    const rows = Uint32Array.from({ length: table.length }, (_, row) => row);
    return [planDataset(rows, { table, options, grown, bucket: undefined }, warnings)];
  }
  const plans: DatasetPlan[] = [];
  for (const bucket of planBuckets(bucketsNum, minDurationSeconds, maxDurationSeconds)) {
    const rows = rowsOfBucket(table.durations, bucket);
    if (rows.length === 0) {
      warnings.push(`bucket${bucket.number} has no rows: it is left out`);
      continue;
    }
    plans.push(planDataset(rows, { table, options, grown, bucket }, warnings));
  }
  if (plans.length === 0) throw noRows();
  return plans;
}

interface DatasetParts {
  table: Selection['table'];
  options: ResolvedTarOptions;
  grown: GrownDataset | undefined;
  bucket: Bucket | undefined;
}

function planDataset(rows: Uint32Array, parts: DatasetParts, warnings: string[]): DatasetPlan {
  const { table, options, grown, bucket } = parts;
  const { remainder, shuffle, shuffleSeed = 0, keepFilesTogether, sortInShards } = options;
  const where = bucket === undefined ? '' : `bucket${bucket.number}: `;
  const shardCount = countShards(rows.length, options, grown);
  if (rows.length < shardCount || shardCount === 0) throw tooFewRows(where, rows.length, shardCount, grown);
  const fileNumbers = keepFilesTogether ? table.fileNumbers : undefined;
  const ordered = orderRows(rows, { shuffleSeed: shuffle ? shuffleSeed : undefined, fileNumbers });
  const whole =
    grown === undefined || remainder === 'spread' ? ordered : ordered.subarray(0, shardCount * grown.samplesPerShard);
  const partition = splitRows(whole, { shardCount, remainder, fileNumbers });
  if (whole.length < ordered.length) partition.dropped = ordered.subarray(whole.length);
  const sizes = partition.ends.map((end, shard) => end - (partition.ends[shard - 1] ?? 0));
  if (sizes.includes(0)) throw tooFewFiles(where, countFiles(partition.rows, table.fileNumbers), shardCount);
  if (sortInShards) sortShards(partition, table.durations);
  const smallest = sizes.reduce((least, size) => Math.min(least, size));
  const largest = sizes.reduce((most, size) => Math.max(most, size));
  if (smallest < largest) warnings.push(where + describeUneven(smallest, largest, parts, rows.length, shardCount));
  return {
    bucket,
    prefix: bucket === undefined ? '' : `bucket${bucket.number}/`,
    partition,
    firstShard: grown?.numShards ?? 0,
    samplesPerShard: grown?.samplesPerShard ?? smallest,
    smallestShard: smallest,
    largestShard: largest,
    kept: sumRows(partition.rows, table.durations),
    dropped: sumRows(partition.dropped, table.durations),
  };
}

/** New shards of a dataset get as many rows as its others have, or the nearest to it that takes all rows. */
function countShards(rows: number, options: ResolvedTarOptions, grown: GrownDataset | undefined): number {
  if (grown === undefined) return options.numShards ?? 0;
  const exact = rows / grown.samplesPerShard;
  return options.remainder === 'drop' ? Math.floor(exact) : Math.max(1, Math.round(exact));
}

function rowsOfBucket(durations: readonly number[], { startMicros, endMicros, number }: Bucket): Uint32Array {
  const rows: number[] = [];
  for (const [row, seconds] of durations.entries()) {
    const micros = toMicros(seconds);
    // Rows without a duration are as long as their file, which nobody knows: they go where the shortest are.
    if (Number.isNaN(micros) ? number === 1 : micros >= startMicros && micros < endMicros) rows.push(row);
  }
  return Uint32Array.from(rows);
}

/** Rows and their seconds. */
export function sumRows(rows: Uint32Array, durations: readonly number[]): RowSum {
  let micros = 0;
  for (const row of rows) {
    const seconds = durations[row] ?? Number.NaN;
    if (!Number.isNaN(seconds)) micros += toMicros(seconds);
  }
  return { rows: rows.length, micros };
}

function describeUneven(
  smallest: number,
  largest: number,
  { options, grown }: DatasetParts,
  rows: number,
  shardCount: number,
): string {
  const sizes = `shards hold ${smallest} to ${largest} rows`;
  const hang = 'a loader that wants equal shards may hang at the end of an epoch';
  if (options.keepFilesTogether) return `${sizes}, since files are kept together: ${hang}`;
  if (grown !== undefined)
    return `new ${sizes}, those of the dataset ${grown.samplesPerShard}: ${hang}; --remainder drop makes them equal`;
  const divisor = nearestDivisor(rows, shardCount);
  const other = divisor === undefined ? '' : ` or --num-shards ${divisor}`;
  return `${sizes}: ${hang}; --remainder drop${other} makes them equal`;
}

/** The number of shards nearest to the wanted one that all rows fill evenly, within a tenth of it. */
function nearestDivisor(rows: number, wanted: number): number | undefined {
  for (let away = 1; away <= Math.max(2, wanted / 10); away += 1) {
    for (const count of [wanted - away, wanted + away]) if (count > 1 && rows % count === 0) return count;
  }
  return undefined;
}

function noRows(): UsageError {
  return new UsageError('No row is left to be packed', {
    hint: 'See with --dry-run how --min-duration and --max-duration cut the rows; the longer bound is left out.',
  });
}

function tooFewRows(where: string, rows: number, shards: number, grown: GrownDataset | undefined): UsageError {
  if (grown !== undefined) {
    const state = `${rows} rows fill no shard of ${grown.samplesPerShard}`;
    return new UsageError(`Nothing can be added: ${state}`, { hint: 'Give --remainder spread for a smaller shard.' });
  }
  return new UsageError(`${where}${rows} rows cannot fill ${shards} shards`, {
    hint: where === '' ? `Give --num-shards ${rows} or less.` : 'Give fewer --num-shards, or fewer --buckets-num.',
  });
}

function tooFewFiles(where: string, files: number, shards: number): UsageError {
  return new UsageError(`${where}${files} files cannot fill ${shards} shards, since rows of a file are kept together`, {
    hint: `Give --num-shards ${files} or less, or leave out --keep-files-together.`,
  });
}
