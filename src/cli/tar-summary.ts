import { countWords } from '../count-words.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import type { RowSum } from '../tarred/select.js';
import { countFailures, type DatasetSummary, type TarSummary } from '../tarred/summary.js';
import type { TarResult } from '../tarred/tar-dataset.js';
import { formatPackFailure } from './build-summary.js';
import { count, duration } from './cut-progress.js';

/** How many warnings are shown unless all are asked for. */
const MAX_WARNINGS = 5;
/** How many failures are shown; the file has all. */
const MAX_FAILURES = 3;
const MICROS = 1e6;

/** Warnings, the table and the first failures at the end of `cutroom tar`. */
export function formatTarSummary(result: TarResult, isVerbose: boolean): string {
  const { summary, kind, targetDir } = result;
  if (summary === undefined) return `Wrote ${targetDir}/default_metadata.yaml`;
  const table = [...listRows(result, summary), ...listShards(result, summary), ...listFiles(result, summary)];
  const width = Math.max(...table.map(([name]) => name.length));
  const lines = table.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  const warnings = kind === 'already_done' ? [] : listWarnings(result, summary, isVerbose);
  return [...warnings, HEADLINES[kind], ...lines, ...(isVerbose ? [] : listFailures(summary))].join('\n');
}

/** The same as plain data. */
export function tarSummaryAsJson(result: TarResult): Record<string, unknown> {
  const { kind, targetDir, failuresPath, metricsPath, summary, isWithinLimit, seconds } = result;
  if (summary === undefined) return { result: kind, target_dir: targetDir, wall_sec: Number(seconds.toFixed(3)) };
  const rowsOf = ({ rows, micros }: RowSum): Record<string, number> => ({ rows, duration_sec: micros / MICROS });
  const extentOf = ({ rows, micros }: RowSum): Record<string, number> => ({
    samples: rows,
    duration_sec: micros / MICROS,
  });
  const made = kind === 'preview' ? summary.planned : summary.written;
  return {
    result: kind,
    target_dir: targetDir,
    rows_read: summary.read.rows,
    duration_read_sec: summary.read.micros / MICROS,
    rows_planned: summary.planned.rows,
    duration_planned_sec: summary.planned.micros / MICROS,
    too_short: rowsOf(summary.tooShort),
    too_long: rowsOf(summary.tooLong),
    dropped: rowsOf(summary.dropped),
    failed_rows: summary.failedRows,
    failed_members: summary.failedMembers,
    shortest_sec: summary.shortestSeconds,
    longest_sec: summary.longestSeconds,
    shards: summary.datasets.reduce((sum, { shards }) => sum + shards, 0),
    ...extentOf(made),
    duration_hours: hoursOfMicros(BigInt(made.micros)),
    datasets: summary.datasets.map(({ folder, firstShard, shards, smallestShard, largestShard, planned, dropped }) => ({
      folder,
      first_shard: firstShard,
      shards,
      smallest_shard: extentOf(smallestShard),
      largest_shard: extentOf(largestShard),
      rows_planned: planned.rows,
      duration_planned_sec: planned.micros / MICROS,
      dropped: rowsOf(dropped),
    })),
    members: summary.members,
    copied: summary.copied,
    tar_bytes: summary.tarBytes,
    clipped_samples: summary.clippedSamples,
    invalid_samples: summary.invalidSamples,
    indexes: summary.indexes,
    warnings: summary.warnings.map((message) => ({ message })),
    first_failures: summary.firstFailures,
    within_max_failures: isWithinLimit,
    wall_sec: Number(seconds.toFixed(3)),
    outputs: { metrics: metricsPath ?? null, failures: failuresPath ?? null },
  };
}

const HEADLINES: Readonly<Record<TarResult['kind'], string>> = {
  packed: 'Done.',
  manifests: 'Wrote the manifests; no audio was packed.',
  preview: 'Planned; nothing was written.',
  metadata: 'Done.',
  already_done: 'This dataset is finished already; nothing was done.',
  indexed: 'This dataset is finished already; indexes were added.',
};

function listRows({ kind }: TarResult, summary: TarSummary): [string, string][] {
  const { read, planned, tooShort, tooLong, dropped, shortestSeconds, longestSeconds } = summary;
  const rows: [string, string][] = [
    ['rows', `${count(read.rows)} read, ${count(planned.rows)} planned`],
    ['rows failed', listCounts(summary.failedRows)],
  ];
  if (tooShort.rows > 0) rows.push(['too short', extent(tooShort)]);
  if (tooLong.rows > 0) rows.push(['too long', extent(tooLong)]);
  if (dropped.rows > 0) rows.push(['dropped', `${extent(dropped)}, so that shards are equal`]);
  if (kind === 'preview') {
    rows.push(['shortest row', shortestSeconds === null ? 'unknown' : `${shortestSeconds} s`]);
    rows.push(['longest row', longestSeconds === null ? 'unknown' : `${longestSeconds} s`]);
  }
  if (isPacked(summary)) rows.push(['members failed', listCounts(summary.failedMembers)]);
  return rows;
}

function listShards({ kind, seconds }: TarResult, summary: TarSummary): [string, string][] {
  const { datasets, planned, written, members, copied } = summary;
  const made = kind === 'preview' ? planned : written;
  const rows: [string, string][] = datasets.map(describeDataset);
  const [only] = datasets;
  const isOne = datasets.length === 1 && only !== undefined;
  rows.push([
    'samples',
    `${count(made.rows)}${isOne ? `, ${range(only, ({ rows: own }) => count(own))} a shard` : ''}`,
  ]);
  rows.push(['audio', `${hours(made)} h${isOne ? `, ${range(only, hours)} h a shard` : ''}`]);
  if (members > 0) rows.push(['copied', `${count(copied)} of ${countWords(members, 'member')} as they are`]);
  if (summary.clippedSamples > 0) rows.push(['clipped', countWords(summary.clippedSamples, 'sample')]);
  if (summary.invalidSamples > 0)
    rows.push(['not a number', `${countWords(summary.invalidSamples, 'sample')}, made silent`]);
  if (seconds === 0) return rows;
  if (kind === 'packed') {
    const speed = written.micros / MICROS / seconds;
    rows.push(['time', `${duration(seconds)}, ${speed.toFixed(0)} × real time`]);
  } else if (kind !== 'already_done' && kind !== 'indexed') {
    rows.push(['time', duration(seconds)]);
  }
  return rows;
}

function listFiles({ targetDir, metricsPath, failuresPath }: TarResult, summary: TarSummary): [string, string][] {
  const rows: [string, string][] = [];
  if (metricsPath !== undefined) rows.push(['dataset', targetDir], ['metrics', metricsPath]);
  if (summary.indexes.length > 0) rows.push(['indexes', summary.indexes.map(({ index }) => index).join(', ')]);
  const isListed = countFailures(summary) + summary.dropped.rows > 0;
  if (failuresPath !== undefined && isListed) rows.push(['failures', failuresPath]);
  return rows;
}

function describeDataset(dataset: DatasetSummary): [string, string] {
  const { folder, shards } = dataset;
  if (folder === '') return ['shards', count(shards)];
  return [
    folder,
    `${countWords(shards, 'shard')} of ${range(dataset, ({ rows }) => count(rows))} ${dataset.largestShard.rows === 1 ? 'sample' : 'samples'}`,
  ];
}

/** Whether audio was packed. */
function isPacked({ members, failedMembers }: TarSummary): boolean {
  return members > 0 || Object.keys(failedMembers).length > 0;
}

function range({ smallestShard, largestShard }: DatasetSummary, spell: (sum: RowSum) => string): string {
  const [least, most] = [spell(smallestShard), spell(largestShard)];
  return least === most ? least : `${least} to ${most}`;
}

function listFailures({ firstFailures }: TarSummary): string[] {
  if (firstFailures.length === 0) return [];
  const shown = firstFailures.slice(0, MAX_FAILURES);
  return [
    'The first failure of each reason:',
    ...shown.map((failure) => `  ${formatPackFailure(failure).replaceAll('\n', '\n  ')}`),
  ];
}

function listWarnings({ kind }: TarResult, summary: TarSummary, isVerbose: boolean): string[] {
  const ofIndexes = summary.indexes.flatMap(({ index, warnings }) => warnings.map((text) => `${index}: ${text}`));
  const warnings = [...(kind === 'indexed' ? [] : summary.warnings), ...ofIndexes];
  const shown = isVerbose ? warnings : warnings.slice(0, MAX_WARNINGS);
  const lines = shown.map((message) => `warning: ${message}`);
  const hidden = warnings.length - shown.length;
  return hidden > 0 ? [...lines, `warning: ${count(hidden)} more; --verbose shows all`] : lines;
}

function extent(sum: RowSum): string {
  return `${countWords(sum.rows, 'row')}, ${hours(sum)} h`;
}

function hours({ micros }: RowSum): string {
  return hoursOfMicros(BigInt(micros)).toFixed(6);
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  const listed = Object.entries(counts);
  return listed.length === 0 ? 'none' : listed.map(([reason, number]) => `${reason} ${count(number)}`).join(', ');
}
