import { countAnd, countWords } from '../count-words.js';
import type { BuildResult } from '../build/build.js';
import { hoursOfMicros } from '../manifest/shard-list.js';
import type { PackFailure } from '../shard/plan.js';
import { count, duration } from './cut-progress.js';

/** How many warnings are shown unless all are asked for. */
const MAX_WARNINGS = 5;
/** How many failures are shown; the file has all. */
const MAX_FAILURES = 3;
const MICROS = 1e6;

/** A failure with its place and its remedy: `train.tsv:3: …`. */
export function formatPackFailure({ file, line, column, message, hint }: PackFailure): string {
  // A tar has no lines.
  const place = line === 0 ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
  return `${file}${place}: ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}`;
}

/** Warnings, the table and the first failures at the end of `cutroom build`. */
export function formatBuildSummary(result: BuildResult, isVerbose: boolean): string {
  const { summary, outputs, kind, list, seconds } = result;
  const isPlan = kind === 'planned';
  const failures = [...Object.values(summary.failedRows), ...Object.values(summary.failedMembers)];
  const rows: [string, string][] = [
    ['rows', `${count(summary.rowsRead)} read, ${count(summary.rowsPlanned)} planned`],
    ['rows failed', kind === 'part' ? 'see the plan' : listCounts(summary.failedRows)],
  ];
  if (!isPlan) rows.push(['members failed', listCounts(summary.failedMembers)]);
  const ofAll = kind === 'part' ? ` of ${count(summary.plannedShards)}` : '';
  rows.push(['shards', `${count(summary.shards)}${ofAll}`]);
  rows.push(['samples', `${count(summary.samples)}, ${range(summary, 'samples')} a shard`]);
  // A plan by samples looks at no audio, and knows what the rows say.
  const isKnown = !isPlan || summary.smallest.durationMicros > 0;
  rows.push([
    'audio',
    isKnown ? `${hours(summary.durationMicros)} h, ${range(summary, 'hours')} h a shard` : 'not measured',
  ]);
  if (summary.copied > 0) rows.push(['copied', `${countWords(summary.copied, 'member')} as they are`]);
  if (summary.clippedSamples > 0) rows.push(['clipped', countWords(summary.clippedSamples, 'sample')]);
  if (summary.invalidSamples > 0)
    rows.push(['not a number', `${countWords(summary.invalidSamples, 'sample')}, made silent`]);
  if (kind !== 'already_done' && seconds > 0) {
    const speed = summary.durationMicros / MICROS / seconds;
    rows.push(['time', isPlan ? duration(seconds) : `${duration(seconds)}, ${speed.toFixed(0)} × real time`]);
  }
  rows.push(['plan', outputs.plan]);
  if (list !== undefined) rows.push(['list', list]);
  if (isWhole(result)) rows.push(['metrics', outputs.metrics]);
  if (kind !== 'part' && failures.length > 0) rows.push(['failures', outputs.failures]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return [
    ...listWarnings(result, isVerbose),
    headlineOf(result),
    ...table,
    ...(isVerbose && kind !== 'part' ? [] : listFailures(result)),
  ].join('\n');
}

/** The same as plain data. */
export function buildSummaryAsJson(result: BuildResult): Record<string, unknown> {
  const { summary, outputs, kind, list, seconds, isWithinLimit } = result;
  const extent = ({ samples, durationMicros }: typeof summary.smallest): Record<string, number> => ({
    samples,
    duration_sec: durationMicros / MICROS,
  });
  return {
    result: kind,
    rows_read: summary.rowsRead,
    rows_planned: summary.rowsPlanned,
    failed_rows: summary.failedRows,
    failed_members: summary.failedMembers,
    planned_shards: summary.plannedShards,
    shards: summary.shards,
    samples: summary.samples,
    duration_sec: summary.durationMicros / MICROS,
    duration_hours: hoursOfMicros(BigInt(summary.durationMicros)),
    smallest_shard: extent(summary.smallest),
    largest_shard: extent(summary.largest),
    copied: summary.copied,
    clipped_samples: summary.clippedSamples,
    invalid_samples: summary.invalidSamples,
    empty_texts: summary.emptyTexts,
    flattened_ids: summary.flattenedIds,
    first_failures: summary.firstFailures,
    warnings: summary.warnings,
    within_max_failures: isWithinLimit,
    wall_sec: Number(seconds.toFixed(3)),
    outputs: {
      plan: outputs.plan,
      list: list ?? null,
      metrics: isWhole(result) ? outputs.metrics : null,
      failures: isWhole(result) ? outputs.failures : null,
    },
  };
}

function isWhole({ kind }: BuildResult): boolean {
  return kind === 'built' || kind === 'already_done';
}

function headlineOf({ kind, summary }: BuildResult): string {
  switch (kind) {
    case 'planned':
      return 'Planned; no shard was made.';
    case 'part':
      return 'These shards are done; others of the plan are not.';
    case 'built':
      return 'Done.';
    case 'already_done':
      return 'This dataset is finished already; nothing was done.';
  }
  throw new TypeError(`Unknown end of ${summary.shards} shards`);
}

function listWarnings({ summary, kind }: BuildResult, isVerbose: boolean): string[] {
  if (kind === 'already_done') return [];
  const { emptyTexts, flattenedIds, format } = summary;
  const warnings: string[] = [];
  if (format === 'ogg' || format === 'opus') {
    warnings.push(`warning: ATdataset's own loader reads FLAC, MP3 and WAV alone, and stops at a .${format} member`);
  }
  if (kind !== 'part' && emptyTexts > 0) {
    warnings.push(`warning: ${countAnd(emptyTexts, 'text', 'is|are')} empty: ATdataset reads <|EMPTY|> there`);
  }
  if (kind !== 'part' && flattenedIds > 0) {
    warnings.push(
      `warning: ${countAnd(flattenedIds, 'id', 'was|were')} made fit for names; the rows keep them as "id"`,
    );
  }
  const shown = isVerbose ? summary.warnings : summary.warnings.slice(0, MAX_WARNINGS);
  warnings.push(...shown.map(({ id, message }) => `warning: "${id}": ${message}`));
  const hidden = summary.warnings.length - shown.length;
  if (hidden > 0) warnings.push(`warning: ${count(hidden)} more; --verbose shows all`);
  return warnings;
}

function listFailures({ summary }: BuildResult): string[] {
  if (summary.firstFailures.length === 0) return [];
  const shown = summary.firstFailures.slice(0, MAX_FAILURES);
  return [
    'The first failure of each reason:',
    ...shown.map((failure) => `  ${formatPackFailure(failure).replaceAll('\n', '\n  ')}`),
  ];
}

function range({ smallest, largest }: BuildResult['summary'], what: 'samples' | 'hours'): string {
  const spell = (extent: typeof smallest): string =>
    what === 'samples' ? count(extent.samples) : hours(extent.durationMicros);
  const [least, most] = [spell(smallest), spell(largest)];
  return least === most ? least : `${least} to ${most}`;
}

function hours(micros: number): string {
  return hoursOfMicros(BigInt(micros)).toFixed(6);
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  const listed = Object.entries(counts);
  return listed.length === 0 ? 'none' : listed.map(([reason, number]) => `${reason} ${count(number)}`).join(', ');
}
