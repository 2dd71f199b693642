import { countWords, thereAre } from '../count-words.js';
import type { PlannedSample } from '../sample/plan-sample.js';
import { removedFilesOf } from '../sample/sample-figures.js';
import type { GroupFigures, SampleFigures } from '../sample/sample-figures.js';
import type { SampleProgress } from '../sample/sample-options.js';
import type { SamplePlan } from '../sample/sample-plan.js';
import type { ScanFailure } from '../sample/scan-types.js';
import { count } from './cut-progress.js';

const MAX_SHOWN = 5;
const SECONDS_AN_HOUR = 3600;

/** How far the planning is, in words. */
export function formatSampleProgress(progress: SampleProgress): string {
  if (progress.stage === 'find') return `looking for files: ${count(progress.files)} so far`;
  return `reading lengths: ${count(progress.files)} of ${countWords(progress.totalFiles, 'file')}`;
}

/** Files that are left out, as they cannot be read. */
export function formatLeftOut(failures: readonly ScanFailure[], isVerbose: boolean): string {
  const shown = isVerbose ? failures : failures.slice(0, MAX_SHOWN);
  const hidden = failures.length - shown.length;
  return [
    `warning: ${countWords(failures.length, 'file')} left out, which cannot be read:`,
    ...shown.map(({ message }) => `  ${message}`),
    ...(hidden > 0 ? [`  and ${count(hidden)} more; --verbose shows all`] : []),
  ].join('\n');
}

/** The plan in figures: a column for each group, and one for all. */
export function formatFigures(sample: PlannedSample, figures: SampleFigures, isVerbose: boolean): string {
  const { groups, all } = figures;
  const columns = groups.length > 1 ? [...groups, all] : groups;
  const names = groups.length > 1 ? [...groups.map(({ name }) => name), 'all'] : groups.map(({ name }) => name);
  const isMixed = sample.plan.balance !== undefined;
  const isFiltered = sample.lufsCutoff !== undefined;
  const rows: [string, (group: GroupFigures) => string][] = [
    ['files', ({ files }) => count(files)],
    ['shorter than a window', ({ shortFiles }) => count(shortFiles)],
    ['audio', ({ audioSeconds }) => length(audioSeconds)],
    ...(isFiltered
      ? ([
          ['removed by the filter', ({ removedFiles }) => count(removedFiles)],
          ['starts kept', ({ keptShare }) => percent(keptShare)],
          ['audio in windows', ({ reachableSeconds }) => length(reachableSeconds)],
        ] satisfies typeof rows)
      : []),
    ['slots', ({ slots }) => count(slots)],
    ...(isMixed
      ? ([
          ['weight', ({ weightShare }) => percent(weightShare)],
          ['share of draws', ({ drawnShare }) => percent(drawnShare)],
          ['passes an epoch', ({ passes }) => passes.toFixed(2)],
        ] satisfies typeof rows)
      : []),
    ['draws an epoch', ({ draws }) => count(draws)],
    ['audio an epoch', ({ drawnSeconds }) => length(drawnSeconds)],
    ['draws of a second', ({ repeats }) => number(repeats)],
    ['padding', ({ paddingShare }) => percent(paddingShare)],
  ];
  const table = rows.map(([title, valueOf]) => [title, ...columns.map((column) => valueOf(column))]);
  const lines = names.some((name) => name !== '') ? [['', ...names], ...table] : table;
  return [
    describeWindows(sample),
    '',
    ...alignColumns(lines),
    '',
    describeEnd(figures),
    ...listRemoved(figures, isVerbose),
  ].join('\n');
}

function describeWindows({ options, output, lufsCutoff }: PlannedSample): string {
  const { durationSeconds, hopSeconds = durationSeconds, alpha = 1, jitter = true, grid, shuffle = true } = options;
  const { shuffleSeed = 0, excerptSeed = shuffleSeed } = options;
  const parts = [
    `Windows of ${durationSeconds} s`,
    `hop ${hopSeconds} s`,
    `alpha ${alpha}`,
    grid === true ? 'on a grid' : undefined,
    jitter ? `jitter by seed ${excerptSeed}` : 'no jitter',
    shuffle ? `order by seed ${shuffleSeed}` : 'in order',
    output.sampleRate === null ? 'rate of each file' : `${output.sampleRate} Hz`,
    output.mono ? 'mono' : 'all channels',
    lufsCutoff === undefined ? undefined : `${lufsCutoff} LUFS or more`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

function describeEnd({ epochDraws, totalDraws, areWeightsExact }: SampleFigures): string {
  const epoch = `An epoch is ${countWords(epochDraws, 'draw')}`;
  const end = totalDraws === Infinity ? 'draws go on forever' : `${thereAre(totalDraws, 'draw')} in all`;
  const rounded = areWeightsExact
    ? ''
    : '\nwarning: the weights are spelled too finely; each share is within 1 in 4,000,000';
  return `${epoch}; ${end}.${rounded}`;
}

/** With `--verbose` they are all on stderr. */
function listRemoved({ all }: SampleFigures, isVerbose: boolean): string[] {
  if (all.removedFiles === 0 || isVerbose) return [];
  const hidden = all.removedFiles - all.firstRemoved.length;
  return [
    REMOVED_TITLE,
    ...all.firstRemoved.map((file) => `  ${file}`),
    ...(hidden > 0 ? [`  and ${count(hidden)} more; --verbose names all`] : []),
  ];
}

/** All files that the filter removes, a line each; there may be a million. */
export function* removedLines(plan: SamplePlan): Generator<string> {
  let isFirst = true;
  for (const { group, path } of removedFilesOf(plan)) {
    if (isFirst) yield REMOVED_TITLE;
    isFirst = false;
    yield group === '' ? `  ${path}` : `  ${group}: ${path}`;
  }
}

const REMOVED_TITLE = 'Removed by the filter, no window is loud enough:';

/** The same as plain data. */
export function figuresAsJson(sample: PlannedSample, figures: SampleFigures): Record<string, unknown> {
  const { options, output, lufsCutoff, leftOut, plan } = sample;
  const { durationSeconds, hopSeconds = durationSeconds, alpha = 1, jitter = true, grid = false } = options;
  const { shuffle, excerpt } = plan.plans[0]!.seeds;
  const isMixed = plan.balance !== undefined;
  return {
    duration_sec: Number(durationSeconds),
    hop_sec: Number(hopSeconds),
    alpha,
    jitter,
    grid,
    shuffle: options.shuffle ?? true,
    shuffle_seed: shuffle,
    excerpt_seed: excerpt,
    sample_rate: output.sampleRate,
    mono: output.mono,
    pad_mode: output.padMode,
    lufs_cutoff: lufsCutoff ?? null,
    epoch_draws: figures.epochDraws,
    total_draws: figures.totalDraws === Infinity ? null : figures.totalDraws,
    stop: isMixed ? plan.stop : null,
    groups: figures.groups.map((group, at) => ({
      name: group.name === '' ? null : group.name,
      weight: plan.groups[at]!.weight,
      ...groupAsJson(group),
    })),
    all: groupAsJson(figures.all),
    left_out: leftOut,
  };
}

function groupAsJson(group: GroupFigures): Record<string, unknown> {
  return {
    files: group.files,
    short_files: group.shortFiles,
    removed_files: group.removedFiles,
    first_removed: group.firstRemoved,
    kept_share: group.keptShare,
    audio_sec: group.audioSeconds,
    audio_hours: group.audioSeconds / SECONDS_AN_HOUR,
    reachable_sec: group.reachableSeconds,
    slots: group.slots,
    weight_share: group.weightShare,
    drawn_share: group.drawnShare,
    epoch_draws: group.draws,
    epoch_passes: group.passes,
    epoch_sec: group.drawnSeconds,
    epoch_hours: group.drawnSeconds / SECONDS_AN_HOUR,
    epoch_repeats: group.repeats,
    padding_share: group.paddingShare,
  };
}

/** Columns of text: the first to the left, the others to the right. */
export function alignColumns(lines: readonly (readonly string[])[]): string[] {
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  return lines.map((cells) => {
    const padded = cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)));
    return `  ${padded.join('  ')}`;
  });
}

/** `44.00 s`, or `12.345 h`. */
function length(seconds: number): string {
  return seconds < SECONDS_AN_HOUR / 10
    ? `${seconds.toFixed(2)} s`
    : `${withThousands(seconds / SECONDS_AN_HOUR, 3)} h`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}

/** Three digits, however small. */
export function number(value: number): string {
  return value < 1000 ? String(Number(value.toPrecision(3))) : withThousands(value, 0);
}

function withThousands(value: number, decimals: number): string {
  const [whole = '', fraction] = value.toFixed(decimals).split('.');
  return fraction === undefined ? count(Number(whole)) : `${count(Number(whole))}.${fraction}`;
}
