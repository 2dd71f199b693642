import path from 'node:path';
import { countAnd, countWords } from '../count-words.js';
import type { ScanProgress, ScanResult } from '../sample/scan.js';
import { summaryAsJson } from '../sample/scan-metrics.js';
import type { ScanFailure } from '../sample/scan-types.js';
import { count, duration } from './cut-progress.js';

/** How many failures are shown; the file has all. */
const MAX_FAILURES = 3;

/** The progress of `cutroom scan` in words. */
export function formatScanProgress(progress: ScanProgress): string {
  if (progress.stage === 'find') return `looking for files: ${count(progress.files)} so far`;
  if (progress.stage === 'publish') return 'publishing';
  const { files, totalFiles, failed, hours, seconds } = progress;
  const speed = seconds > 0 ? files / seconds : 0;
  const left = speed > 0 ? `, ${duration((totalFiles - files) / speed)} left` : '';
  const lost = failed > 0 ? `, ${count(failed)} cannot be read` : '';
  return (
    `scanning: ${count(files)} of ${count(totalFiles)} files, ${hours.toFixed(2)} h read${lost}, ` +
    `${speed.toFixed(0)} files a second${left}`
  );
}

/** A file that cannot be read, with the remedy. */
export function formatScanFailure({ message, hint }: ScanFailure): string {
  return `failed: ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}`;
}

/** The table and the first failures at the end of `cutroom scan`. */
export function formatScanSummary(result: ScanResult, isVerbose: boolean): string {
  const { summary, kind, outputs, keptFiles, removedFiles, indexedFiles, firstFailures, seconds } = result;
  const rows: [string, string][] = [
    ['files', `${count(summary.files)}, ${(summary.seconds / 3600).toFixed(6)} h, ${count(summary.sizeBytes)} bytes`],
    ['read', describeRead(result)],
  ];
  if (keptFiles > 0) rows.push(['kept', `${countWords(keptFiles, 'file')} known from before`]);
  if (removedFiles > 0) rows.push(['removed', `${countAnd(removedFiles, 'file', 'is|are')} gone since the last scan`]);
  rows.push(['failed', listCounts(summary.failed)], ['codecs', listCounts(summary.codecs)]);
  rows.push(['rates', listCounts(summary.sampleRates)], ['channels', listCounts(summary.channels)]);
  if (summary.windows !== undefined)
    rows.push(['loudness', describeLoudness(summary.windows, summary.silentFiles ?? 0)]);
  if (indexedFiles > 0) rows.push(['indexes', `${countWords(indexedFiles, 'long file')}, for windows from the middle`]);
  if (seconds > 0) rows.push(['time', duration(seconds)]);
  rows.push(['scan', outputs.scan]);
  if (firstFailures.length > 0) rows.push(['failures', outputs.failures]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  const headline = kind === 'unchanged' && indexedFiles > 0 ? INDEXED_HEADLINE : HEADLINES[kind];
  return [headline, ...table, ...(isVerbose ? [] : listFailures(firstFailures))].join('\n');
}

/** The same as plain data. */
export function scanSummaryAsJson(result: ScanResult): Record<string, unknown> {
  const { summary, kind, outputs, readFiles, changedFiles, keptFiles, removedFiles } = result;
  const { indexedFiles, firstFailures, seconds } = result;
  const cacheFile = (name: string): string | null =>
    summary.windows === undefined ? null : path.join(outputs.folder, name);
  return {
    result: kind,
    ...summaryAsJson(summary),
    read_files: readFiles,
    changed_files: changedFiles,
    kept_files: keptFiles,
    removed_files: removedFiles,
    indexed_files: indexedFiles,
    first_failures: firstFailures,
    wall_sec: Number(seconds.toFixed(3)),
    outputs: {
      scan: outputs.scan,
      failures: outputs.failures,
      metrics: outputs.metrics,
      lufs: cacheFile('lufs.bagz'),
      manifest: cacheFile('manifest.json'),
    },
  };
}

/** Only where there was a scan before can anything have changed since. */
function describeRead({ hasEarlier, readFiles, changedFiles }: ScanResult): string {
  if (!hasEarlier || readFiles === 0) return countWords(readFiles, 'file');
  return `${countWords(readFiles, 'file')}, of which ${count(changedFiles)} changed since the last scan`;
}

function describeLoudness(windows: number, silentFiles: number): string {
  const silent = silentFiles === 0 ? 'no file is silent' : `${countAnd(silentFiles, 'file', 'is|are')} silent`;
  return `${countWords(windows, 'window')}, ${silent}`;
}

const INDEXED_HEADLINE = 'All is as the last scan found it; nothing but indexes was written.';
const HEADLINES: Readonly<Record<ScanResult['kind'], string>> = {
  scanned: 'Done.',
  unchanged: 'All is as the last scan found it; nothing was written.',
};

function listFailures(failures: readonly ScanFailure[]): string[] {
  if (failures.length === 0) return [];
  const shown = failures
    .slice(0, MAX_FAILURES)
    .map((failure) => `  ${formatScanFailure(failure).replaceAll('\n', '\n  ')}`);
  return ['The first failure of each reason:', ...shown];
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  const listed = Object.entries(counts);
  return listed.length === 0 ? 'none' : listed.map(([name, number]) => `${name} ${count(number)}`).join(', ');
}
