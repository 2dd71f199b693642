import type { PackFailure } from '../shard/plan.js';
import type { RowSum } from '../tarred/select.js';
import type { DatasetSummary, TarSummary } from '../tarred/summary.js';
import type { TarResult } from '../tarred/tar-dataset.js';
import { count, duration } from './cut-progress.js';

/** How many warnings are shown unless all are asked for. */
const MAX_WARNINGS = 5;

/** A row that cannot be used or failed, with its place, on one line. */
export function formatTarFailure({ file, line, column, message, hint }: PackFailure): string {
  const place = `${file}:${line}${column === undefined ? '' : `:${column}`}`;
  return `${place}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

/** Warnings, the first failures and the table at the end of `cutroom tar`. Failures that were shown as they were met are not shown again. */
export function formatTarSummary(result: TarResult, isVerbose: boolean): string {
  const { summary, kind, targetDir } = result;
  if (summary === undefined) return `Wrote ${targetDir}/default_metadata.yaml`;
  const table = kind === 'preview' ? listPreview(summary) : listOutcome(result, summary);
  if (kind === 'refused') table.length = 1;
  const width = Math.max(...table.map(([name]) => name.length));
  const lines = table.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return [...listFailures(summary, isVerbose), ...listWarnings(summary, isVerbose), HEADLINES[kind], ...lines].join(
    '\n',
  );
}

/** Why no dataset was made. */
export function formatTarRefusal({ kind, summary, targetDir }: TarResult): string {
  if (kind === 'refused') {
    const rows = total(summary?.refused ?? {});
    const state = `${count(rows)} ${rows === 1 ? 'row' : 'rows'} cannot be used: nothing was written`;
    return `error: ${state}\nhint: --on-error skip leaves them out; --verbose shows all`;
  }
  const members = total(summary?.failed ?? {});
  const state = `${count(members)} ${members === 1 ? 'member' : 'members'} could not be made: the dataset in "${targetDir}" is not finished`;
  return `error: ${state}\nhint: put the files right and run the same command again, or give --on-error skip to finish without them`;
}

/** The same as plain data. */
export function tarSummaryAsJson({
  kind,
  targetDir,
  failuresPath,
  summary,
  seconds,
}: TarResult): Record<string, unknown> {
  if (summary === undefined) return { result: kind, target_dir: targetDir, wall_sec: Number(seconds.toFixed(3)) };
  const sums = ({ rows, micros }: RowSum): Record<string, number> => ({ rows, duration_sec: micros / 1e6 });
  return {
    result: kind,
    target_dir: targetDir,
    read: sums(summary.read),
    planned: sums(summary.planned),
    written: sums(summary.written),
    too_short: sums(summary.tooShort),
    too_long: sums(summary.tooLong),
    dropped: sums(summary.dropped),
    refused: summary.refused,
    failed: summary.failed,
    shortest_sec: summary.shortestSeconds,
    longest_sec: summary.longestSeconds,
    datasets: summary.datasets.map(({ folder, shards, smallestShard, largestShard, planned, dropped }) => ({
      folder,
      num_shards: shards,
      smallest_shard_rows: smallestShard,
      largest_shard_rows: largestShard,
      planned: sums(planned),
      dropped: sums(dropped),
    })),
    members: summary.members,
    members_copied: summary.copied,
    tar_bytes: summary.tarBytes,
    clipped_samples: summary.clippedSamples,
    warnings: summary.warnings,
    failures: summary.firstFailures,
    failures_path: failuresPath ?? null,
    wall_sec: Number(seconds.toFixed(3)),
  };
}

const HEADLINES: Readonly<Record<TarResult['kind'], string>> = {
  packed: 'Done.',
  manifests: 'Wrote the manifests; no audio was packed.',
  preview: 'Planned; nothing was written.',
  metadata: 'Done.',
  already_done: 'This run is finished already; nothing was done.',
  refused: 'Nothing was written.',
  failed: 'The dataset is not finished.',
};

/** The table of the converter's dry run. */
function listPreview(summary: TarSummary): [string, string][] {
  const { read, planned, dropped, shortestSeconds, longestSeconds } = summary;
  const rows: [string, string][] = [
    ['shortest row', shortestSeconds === null ? 'unknown' : `${shortestSeconds} s`],
    ['longest row', longestSeconds === null ? 'unknown' : `${longestSeconds} s`],
    ['rows', `${count(planned.rows)} of ${count(read.rows)}`],
    ['audio', `${hours(planned)} of ${hours(read)}`],
    ...listLost(summary),
  ];
  for (const dataset of summary.datasets) rows.push(...describeDataset(dataset));
  if (dropped.rows > 0) rows.push(['remainder', `${extent(dropped)}, dropped`]);
  return rows;
}

function listOutcome({ kind, failuresPath, targetDir, seconds }: TarResult, summary: TarSummary): [string, string][] {
  const { read, written, dropped, members, copied, tarBytes } = summary;
  const rows: [string, string][] = [['in', extent(read)], ['out', extent(written)], ...listLost(summary)];
  if (dropped.rows > 0) rows.push(['dropped', `${extent(dropped)}, so that shards are equal`]);
  if (total(summary.failed) > 0) rows.push(['failed', listCounts(summary.failed)]);
  for (const dataset of summary.datasets) rows.push(...describeDataset(dataset));
  if (members > 0) {
    const encoded = members - copied;
    rows.push(['members', `${count(copied)} copied, ${count(encoded)} encoded, ${bytes(tarBytes)}`]);
  }
  if (summary.clippedSamples > 0) rows.push(['clipped', `${count(summary.clippedSamples)} samples`]);
  if (kind === 'packed') {
    rows.push(['time', `${duration(seconds)}, ${count(Math.round(written.rows / seconds))} rows/s`]);
  }
  rows.push(['dataset', targetDir]);
  if (failuresPath !== undefined && total(summary.refused) + total(summary.failed) + dropped.rows > 0) {
    rows.push(['failures', failuresPath]);
  }
  return rows;
}

/** What became of rows that are not packed. */
function listLost({ tooShort, tooLong, refused }: TarSummary): [string, string][] {
  const rows: [string, string][] = [];
  if (tooShort.rows > 0) rows.push(['too short', extent(tooShort)]);
  if (tooLong.rows > 0) rows.push(['too long', extent(tooLong)]);
  if (total(refused) > 0) rows.push(['refused', listCounts(refused)]);
  return rows;
}

function describeDataset({ folder, shards, smallestShard, largestShard }: DatasetSummary): [string, string][] {
  const sizes =
    smallestShard === largestShard ? count(largestShard) : `${count(smallestShard)} to ${count(largestShard)}`;
  return [[folder === '' ? 'shards' : folder, `${count(shards)}${folder === '' ? '' : ' shards'} of ${sizes} rows`]];
}

function listFailures({ firstFailures, refused, failed }: TarSummary, isVerbose: boolean): string[] {
  const shown = firstFailures.filter(({ kind }) => !isVerbose || kind !== 'row');
  const lines = shown.map(formatTarFailure);
  const listed = new Map<string, number>();
  for (const { reason } of firstFailures) listed.set(reason, (listed.get(reason) ?? 0) + 1);
  for (const [reason, number] of [...(isVerbose ? [] : Object.entries(refused)), ...Object.entries(failed)]) {
    const hidden = number - (listed.get(reason) ?? 0);
    if (hidden > 0) lines.push(`${count(hidden)} more of ${reason}`);
  }
  return lines;
}

function listWarnings({ warnings }: TarSummary, isVerbose: boolean): string[] {
  const shown = isVerbose ? warnings : warnings.slice(0, MAX_WARNINGS);
  const lines = shown.map((message) => `warning: ${message}`);
  const hidden = warnings.length - shown.length;
  return hidden > 0 ? [...lines, `warning: ${count(hidden)} more; --verbose shows all`] : lines;
}

function extent(sum: RowSum): string {
  return `${count(sum.rows)} ${sum.rows === 1 ? 'row' : 'rows'}, ${hours(sum)}`;
}

function hours({ micros }: RowSum): string {
  return `${(micros / 3.6e9).toFixed(3)} h`;
}

function bytes(size: number): string {
  return size < 1e6 ? `${count(Math.round(size / 1e3))} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, number]) => `${reason} ${count(number)}`)
    .join(', ');
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, number) => sum + number, 0);
}
