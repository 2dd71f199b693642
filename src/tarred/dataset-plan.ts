import { countWords } from '../count-words.js';
import { toMicros } from '../audio/times.js';
import { InputError, UsageError, type CutroomError } from '../errors.js';
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
  /** Rows and time of each shard. */
  shards: readonly RowSum[];
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
 * @throws InputError when no row can be used; UsageError when there are too few rows for the shards
 */
export function planDatasets(
  selection: Selection,
  options: ResolvedTarOptions,
  grown: GrownDataset | undefined,
  warnings: string[],
): DatasetPlan[] {
  const { bucketsNum, minDurationSeconds = 0, maxDurationSeconds = 0 } = options;
  const { table } = selection;
  if (selection.kept.rows === 0) throw noRows(selection, options.manifestPaths);
  const unusable = selection.failures.length;
  if (bucketsNum === 1) {
    const rows = Uint32Array.from({ length: table.length }, (_, row) => row);
    return [planDataset(rows, { table, unusable, options, grown, bucket: undefined }, warnings)];
  }
  const plans: DatasetPlan[] = [];
  for (const bucket of planBuckets(bucketsNum, minDurationSeconds, maxDurationSeconds)) {
    const rows = rowsOfBucket(table.durations, bucket);
    if (rows.length === 0) {
      warnings.push(`bucket${bucket.number} has no rows: it is left out`);
      continue;
    }
    plans.push(planDataset(rows, { table, unusable, options, grown, bucket }, warnings));
  }
  return plans;
}

interface DatasetParts {
  table: Selection['table'];
  /** How many rows of the manifests cannot be used. */
  unusable: number;
  options: ResolvedTarOptions;
  grown: GrownDataset | undefined;
  bucket: Bucket | undefined;
}

function planDataset(rows: Uint32Array, parts: DatasetParts, warnings: string[]): DatasetPlan {
  const { table, unusable, options, grown, bucket } = parts;
  const { remainder, shuffle, shuffleSeed = 0, keepFilesTogether, sortInShards } = options;
  const where = bucket === undefined ? '' : `bucket${bucket.number}: `;
  const shardCount = countShards(rows.length, options, grown);
  if (rows.length < shardCount || shardCount === 0) {
    throw tooFewRows(where, { rows: rows.length, shardCount, unusable }, grown);
  }
  const fileNumbers = keepFilesTogether ? table.fileNumbers : undefined;
  const ordered = orderRows(rows, { shuffleSeed: shuffle ? shuffleSeed : undefined, fileNumbers });
  const whole =
    grown === undefined || remainder === 'spread' ? ordered : ordered.subarray(0, shardCount * grown.samplesPerShard);
  const partition = splitRows(whole, { shardCount, remainder, fileNumbers });
  if (whole.length < ordered.length) partition.dropped = ordered.subarray(whole.length);
  const sizes = partition.ends.map((end, shard) => end - (partition.ends[shard - 1] ?? 0));
  const rowsOf = (shard: number): Uint32Array =>
    partition.rows.subarray(partition.ends[shard - 1] ?? 0, partition.ends[shard]);
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
    shards: sizes.map((_, shard) => sumRows(rowsOf(shard), table.durations)),
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

/**
 * Adds a warning where members that could not be made left shards with other numbers of rows than planned.
 *
 * @param made rows of all shards, one dataset after the other
 */
export function warnOfLostMembers(
  datasets: readonly DatasetPlan[],
  { shards: made, failures }: { shards: readonly RowSum[]; failures: readonly unknown[] },
  warnings: string[],
): void {
  let first = 0;
  for (const { bucket, shards } of failures.length === 0 ? [] : datasets) {
    const sizes = made.slice(first, first + shards.length).map(({ rows }) => rows);
    first += shards.length;
    const smallest = sizes.reduce((least, size) => Math.min(least, size));
    const largest = sizes.reduce((most, size) => Math.max(most, size));
    if (smallest === largest || sizes.every((size, shard) => size === shards[shard]?.rows)) continue;
    const where = bucket === undefined ? '' : `bucket${bucket.number}: `;
    warnings.push(
      `${where}without the members that failed, shards hold ${smallest} to ${countWords(largest, 'row')}: ${HANG}`,
    );
  }
}

const HANG = 'a loader that wants equal shards may hang at the end of an epoch';

function describeUneven(
  smallest: number,
  largest: number,
  { options, grown }: DatasetParts,
  rows: number,
  shardCount: number,
): string {
  const sizes = `shards hold ${smallest} to ${countWords(largest, 'row')}`;
  if (options.keepFilesTogether) return `${sizes}, since files are kept together: ${HANG}`;
  if (grown !== undefined)
    return `new ${sizes}, those of the dataset ${grown.samplesPerShard}: ${HANG}; --remainder drop makes them equal`;
  const divisor = nearestDivisor(rows, shardCount);
  const other = divisor === undefined ? '' : ` or --num-shards ${divisor}`;
  return `${sizes}: ${HANG}; --remainder drop${other} makes them equal`;
}

/** The number of shards nearest to the wanted one that all rows fill evenly, within a tenth of it. */
function nearestDivisor(rows: number, wanted: number): number | undefined {
  for (let away = 1; away <= Math.max(2, wanted / 10); away += 1) {
    for (const count of [wanted - away, wanted + away]) if (count > 1 && rows % count === 0) return count;
  }
  return undefined;
}

function noRows({ read, failures }: Selection, manifestPaths: readonly string[]): CutroomError {
  const [input = ''] = manifestPaths;
  const inputs = manifestPaths.length > 1 ? `${manifestPaths.length} manifests` : `"${input}"`;
  if (read.rows === 0) return new InputError(`There is no row in ${inputs}`, { path: input });
  const [first] = failures;
  if (first !== undefined && failures.length === read.rows) {
    const { file, line, message, hint } = first;
    return new InputError(`No row of ${inputs} can be packed; the first failure: ${file}:${line}: ${message}`, {
      path: file,
      line,
      hint: hint === undefined ? '--verbose lists all failures' : `${hint}; --verbose lists all failures`,
    });
  }
  return new UsageError('No row is left to be packed', {
    hint: 'See with --dry-run how --min-duration and --max-duration cut the rows; the longer bound is left out.',
  });
}

function tooFewRows(
  where: string,
  { rows, shardCount, unusable }: { rows: number; shardCount: number; unusable: number },
  grown: GrownDataset | undefined,
): UsageError {
  const others =
    unusable === 0
      ? ''
      : ` ${countWords(unusable, 'other')} cannot be used: --verbose lists ${unusable === 1 ? 'it' : 'them'}.`;
  if (grown !== undefined) {
    const state = `${countWords(rows, 'row')} ${rows === 1 ? 'fills' : 'fill'} no shard of ${grown.samplesPerShard}`;
    const hint = `Give --remainder spread for a smaller shard.${others}`;
    return new UsageError(`Nothing can be added: ${state}`, { hint });
  }
  const remedy =
    where === '' ? `Give --num-shards ${rows} or less.` : 'Give fewer --num-shards, or fewer --buckets-num.';
  return new UsageError(`${where}${countWords(rows, 'row')} cannot fill ${countWords(shardCount, 'shard')}`, {
    hint: remedy + others,
  });
}

function tooFewFiles(where: string, files: number, shards: number): UsageError {
  return new UsageError(
    `${where}${countWords(files, 'file')} cannot fill ${countWords(shards, 'shard')}, since rows of a file are kept together`,
    {
      hint: `Give --num-shards ${files} or less, or leave out --keep-files-together.`,
    },
  );
}
