import { countWords } from '../count-words.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import type { ExportResult } from '../sample/export-excerpts.js';
import { formatPackFailure } from './build-summary.js';
import { count, duration } from './cut-progress.js';

const MAX_WARNINGS = 5;
const MAX_FAILURES = 3;
const MICROS = 1e6;

/** Warnings, the table and the first failures at the end of `cutroom sample --export`. */
export function formatExportSummary({ kind, outputs, summary, seconds }: ExportResult, isVerbose: boolean): string {
  const failures = Object.entries(summary.failed);
  const failed = failures.map(([reason, number]) => `${reason} ${count(number)}`).join(', ');
  const rows: [string, string][] = [
    ['excerpts', `${count(summary.samples)} of ${countWords(summary.draws, 'draw')}`],
    ['failed', failures.length === 0 ? 'none' : failed],
    ['audio', `${hoursOfMicros(BigInt(summary.durationMicros)).toFixed(6)} h`],
    ['shards', count(summary.shards)],
  ];
  if (summary.clippedSamples > 0) rows.push(['clipped', countWords(summary.clippedSamples, 'sample')]);
  if (kind !== 'already_done') rows.push(['time', duration(seconds)]);
  rows.push(['plan', outputs.plan], ['list', outputs.list], ['metrics', outputs.metrics]);
  if (failures.length > 0) rows.push(['failures', outputs.failures]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const shown = kind === 'already_done' ? [] : summary.warnings.slice(0, isVerbose ? Infinity : MAX_WARNINGS);
  const hidden = kind === 'already_done' ? 0 : summary.warnings.length - shown.length;
  return [
    ...shown.map(({ id, message }) => `warning: "${id}": ${message}`),
    ...(hidden > 0 ? [`warning: ${count(hidden)} more; --verbose shows all`] : []),
    kind === 'already_done' ? 'This export is finished already; nothing was done.' : 'Done.',
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    ...listFailures(summary.firstFailures.map(formatPackFailure)),
  ].join('\n');
}

/** The same as plain data. */
export function exportSummaryAsJson({ kind, outputs, summary, seconds }: ExportResult): Record<string, unknown> {
  return {
    result: kind,
    draws: summary.draws,
    samples: summary.samples,
    shards: summary.shards,
    duration_sec: summary.durationMicros / MICROS,
    duration_hours: hoursOfMicros(BigInt(summary.durationMicros)),
    failed_members: summary.failed,
    clipped_samples: summary.clippedSamples,
    first_failures: summary.firstFailures,
    warnings: summary.warnings,
    wall_sec: Number(seconds.toFixed(3)),
    outputs: { plan: outputs.plan, list: outputs.list, metrics: outputs.metrics, failures: outputs.failures },
  };
}

function listFailures(failures: readonly string[]): string[] {
  if (failures.length === 0) return [];
  const shown = failures.slice(0, MAX_FAILURES).map((text) => `  ${text.replaceAll('\n', '\n  ')}`);
  return ['The first failure of each reason:', ...shown];
}
