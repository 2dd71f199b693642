import path from 'node:path';
import { countWords } from '../count-words.js';
import type { CutResult } from '../cut/cut.js';
import type { CutSummary } from '../cut/summary.js';
import { count, duration } from './cut-progress.js';

/** How many warnings are shown unless all are asked for. */
const MAX_WARNINGS = 5;

/** The table at the end of `cutroom cut`. */
export function formatCutSummary(result: CutResult, isVerbose: boolean): string {
  const { summary, outputs, kind, seconds } = result;
  const hours = (value: number): string => `${(value / 3600).toFixed(3)} h`;
  const share = summary.inputDurationSeconds > 0 ? summary.outputDurationSeconds / summary.inputDurationSeconds : 0;
  const failedRows = total(summary.skippedRows);
  const failedSnippets = total(summary.failedSnippets);
  const rows: [string, string][] = [
    [
      'in',
      `${countWords(summary.inputRecordings, 'recording')}, ${countWords(summary.inputSegments, 'segment')}, ${hours(summary.inputDurationSeconds)}`,
    ],
    [
      'out',
      `${countWords(summary.outputSnippets, 'snippet')}, ${countWords(summary.outputSegments, 'segment')}, ${hours(summary.outputDurationSeconds)} (${(share * 100).toFixed(1)} %)`,
    ],
    ['dropped', listCounts(summary.dropped)],
    ['rows skipped', listCounts(summary.skippedRows)],
    ['snippets failed', listCounts(summary.failedSnippets)],
  ];
  if (summary.unfinishedSnippets > 0) rows.push(['not reached', countWords(summary.unfinishedSnippets, 'snippet')]);
  if (summary.clippedSamples > 0) rows.push(['clipped', countWords(summary.clippedSamples, 'sample')]);
  if (kind === 'cut' && seconds > 0)
    rows.push(['time', `${duration(seconds)}, ${(summary.outputDurationSeconds / seconds).toFixed(0)} × real time`]);
  if (summary.shards.length > 0) rows.push(['shards', describeSizes(summary.shards)]);
  if (kind === 'preview' || !outputs.isSharded) rows.push(['manifest', outputs.manifest]);
  else rows.push(['manifests', listFiles(outputs.manifest, summary.shards, 'manifest')]);
  if (kind !== 'preview')
    rows.push(['audio', outputs.isSharded ? listFiles(outputs.tar, summary.shards, 'name') : outputs.tar]);
  if (kind !== 'preview' && outputs.list !== undefined) rows.push(['list', outputs.list]);
  rows.push(['metrics', outputs.metrics]);
  if (failedRows + failedSnippets > 0) rows.push(['failures', outputs.failures]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  const shown = isVerbose ? summary.warnings : summary.warnings.slice(0, MAX_WARNINGS);
  const warnings = shown.map(({ id, message }) => `warning: recording "${id}": ${message}`);
  const hidden = summary.warnings.length - shown.length;
  for (const name of summary.emptyShards) {
    warnings.push(`warning: the shard "${name}" was not made: none of its snippets is in the output`);
  }
  if (hidden > 0) warnings.push(`warning: ${count(hidden)} more ${hidden === 1 ? 'is' : 'are'} in the metrics`);
  return [...warnings, HEADLINES[kind], ...lines].join('\n');
}

/** The same as plain data. */
export function summaryAsJson({ kind, outputs, summary, isWithinLimit, seconds }: CutResult): Record<string, unknown> {
  const { manifest, tar, list, isSharded, metrics, failures } = outputs;
  const hasAudio = kind !== 'preview';
  const sharded = {
    shards: summary.shards.map(({ name, manifest: manifestName, ...figures }) => ({
      tar: path.join(path.dirname(tar), name),
      manifest: path.join(path.dirname(manifest), manifestName),
      ...figures,
    })),
    empty_shards: summary.emptyShards,
  };
  return {
    result: kind,
    input_recordings: summary.inputRecordings,
    input_segments: summary.inputSegments,
    input_duration_sec: summary.inputDurationSeconds,
    output_snippets: summary.outputSnippets,
    output_segments: summary.outputSegments,
    output_duration_sec: summary.outputDurationSeconds,
    dropped: summary.dropped,
    skipped_rows: summary.skippedRows,
    failed_snippets: summary.failedSnippets,
    unfinished_snippets: summary.unfinishedSnippets,
    clipped_samples: summary.clippedSamples,
    warnings: summary.warnings,
    within_max_failures: isWithinLimit,
    wall_sec: Number(seconds.toFixed(3)),
    outputs: {
      manifest: hasAudio && isSharded ? null : manifest,
      tar: hasAudio && !isSharded ? tar : null,
      ...(isSharded ? { list: hasAudio ? (list ?? null) : null } : {}),
      metrics,
      failures,
    },
    ...(isSharded ? sharded : {}),
  };
}

const HEADLINES: Readonly<Record<CutResult['kind'], string>> = {
  cut: 'Done.',
  preview: 'Planned; no audio was read.',
  salvaged: 'Salvaged what was finished; the run has ended.',
  already_done: 'This run is finished already; nothing was done.',
};

/** `5, of 40 to 41 snippets and 0.120 to 0.130 h each`. */
function describeSizes(shards: CutSummary['shards']): string {
  const range = (values: number[], spell: (value: number) => string): string => {
    const ends = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))].map(spell);
    return [...new Set(ends)].join(' to ');
  };
  const snippets = range(
    shards.map((shard) => shard.snippets),
    count,
  );
  const hours = range(
    shards.map((shard) => shard.hours),
    (value) => value.toFixed(3),
  );
  return `${count(shards.length)}, of ${snippets} ${snippets === '1' ? 'snippet' : 'snippets'} and ${hours} h each`;
}

/** `out/snippets.000000.tar to snippets.000004.tar`. */
function listFiles(base: string, shards: CutSummary['shards'], key: 'name' | 'manifest'): string {
  const first = shards[0]?.[key];
  const last = shards.at(-1)?.[key];
  if (first === undefined || last === undefined) return 'none';
  return `${path.join(path.dirname(base), first)}${first === last ? '' : ` to ${last}`}`;
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  const listed = Object.entries(counts).filter(([, number]) => number > 0);
  return listed.length === 0 ? 'none' : listed.map(([reason, number]) => `${reason} ${count(number)}`).join(', ');
}

/** The sum of counts by reason. */
export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, number) => sum + number, 0);
}
