import { countWords } from '../count-words.js';
import type { PlanReport } from '../load/epoch-plan.js';
import type { ItemTable, TableLosses } from '../load/item-table.js';
import { isOpenEnd, shortSeconds, timeUnit } from './batch-charts.js';
import { count } from './cut-progress.js';
import { alignColumns, number } from './sample-summary.js';

/** What a strategy does to an epoch. */
export interface StrategyOutcome {
  strategy: 'exact' | 'scatter' | 'replicate';
  /** Undefined where the strategy cannot be taken, for the reason. */
  report: PlanReport | undefined;
  /** Fewer than there are where one rank tells of all. */
  plannedRanks: number;
  reason: string | undefined;
}

/** All that `cutroom batches` finds out. */
export interface BatchesResult {
  table: ItemTable;
  worldSize: number;
  /** Of each epoch. */
  reports: readonly PlanReport[];
  /** Of the first epoch. */
  strategies: readonly StrategyOutcome[];
  openSeconds: number;
  planSeconds: number;
}

const MAX_BUCKETS_SHOWN = 32;
const MAX_LEAVES_SHOWN = 20;
const MAX_NAME = 36;

/** The figures as lines. */
export function formatBatches(result: BatchesResult, isVerbose: boolean): string {
  const { table, reports, openSeconds, planSeconds } = result;
  const parts = `sources ${openSeconds.toFixed(3)} s, plan ${planSeconds.toFixed(3)} s`;
  const time = `${(openSeconds + planSeconds).toFixed(3)} s (${parts}), then decoding`;
  const [first] = reports;
  const sections = [
    describeTable(table),
    [...formatEpochs(reports, result.worldSize), '', `  time to first batch  ${time}`].join('\n'),
    first === undefined ? '' : formatLeaves(first, isVerbose),
    formatStrategies(result.strategies, result.worldSize),
    first === undefined ? '' : formatBuckets(first, isVerbose),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

/** How much there is, and what was left out of it. */
function describeTable(table: ItemTable): string {
  const { rowCount, leaves, left } = table;
  let micros = 0;
  for (const value of table.durationsMicros) micros += value;
  const excerpts = leaves.filter((leaf) => leaf.excerpts !== undefined).length;
  const among = excerpts > 0 ? `, and ${countWords(excerpts, 'dataset')} of excerpts` : '';
  return [
    `${countWords(leaves.length, 'source')}, ${countWords(rowCount, 'row')}, ${hours(micros / 3.6e9)}${among}`,
    ...formatLosses(left),
  ].join('\n');
}

/** What was left out of sources, a line a reason. */
export function formatLosses({ reasons }: TableLosses): string[] {
  return Object.entries(reasons).map(
    ([reason, { rows, hours: lost }]) => `  left out, ${reason}: ${countWords(rows, 'row')}, ${hours(lost)}`,
  );
}

function formatEpochs(reports: readonly PlanReport[], worldSize: number): string[] {
  const reasons = [...new Set(reports.flatMap(({ lost }) => Object.keys(lost)))];
  const unit = timeUnit(Math.max(0, ...reports.map((report) => stepHours(report).most)));
  const inUnit = (value: number): string =>
    `${(value * unit.perHour).toFixed(unit.perHour === 1 ? 3 : 1)} ${unit.name}`;
  const rows: [string, (report: PlanReport) => string][] = [
    [worldSize === 1 ? 'steps' : 'steps of each rank', ({ stepCount }) => count(stepCount)],
    ['batches', ({ batchCount }) => count(batchCount)],
    ['items', ({ draws }) => count(draws)],
    ['distinct items', ({ distinctItems }) => count(distinctItems)],
    ['audio', (report) => hours(report.hours)],
    ['padding', ({ paddingShare }) => percent(paddingShare)],
    ['audio of a step, least', (report) => inUnit(stepHours(report).least)],
    ['audio of a step, mean', (report) => inUnit(stepHours(report).mean)],
    ['audio of a step, most', (report) => inUnit(stepHours(report).most)],
    ['repeated to make steps equal', ({ padDraws }) => count(padDraws)],
    ...reasons.flatMap((reason): typeof rows => [
      [`not read, ${reason}`, ({ lost }) => count(lost[reason]?.items ?? 0)],
      [`not read, ${reason}, audio`, ({ lost }) => hours(lost[reason]?.hours ?? 0)],
    ]),
  ];
  const table = rows.map(([title, valueOf]) => [title, ...reports.map((report) => valueOf(report))]);
  return alignColumns(reports.length === 1 ? table : [['', ...reports.map((_, epoch) => `epoch ${epoch}`)], ...table]);
}

/** Audio of the steps of an epoch over all ranks, in hours. */
export function stepHours({ hoursOfSteps }: PlanReport): { least: number; mean: number; most: number } {
  if (hoursOfSteps.length === 0) return { least: 0, mean: 0, most: 0 };
  let [least, most, sum] = [Infinity, 0, 0];
  for (const value of hoursOfSteps) {
    least = Math.min(least, value);
    most = Math.max(most, value);
    sum += value;
  }
  return { least, mean: sum / hoursOfSteps.length, most };
}

function formatLeaves({ leaves }: PlanReport, isVerbose: boolean): string {
  if (leaves.length < 2) return '';
  const shown = isVerbose ? leaves : leaves.slice(0, MAX_LEAVES_SHOWN);
  const lines = shown.map(({ name, share, draws, passes }) => [
    shorten(name),
    percent(share),
    count(draws),
    number(passes),
  ]);
  return [
    'Sources in the first epoch:',
    ...alignColumns([['', 'share', 'items', 'passes'], ...lines]),
    ...more(leaves.length - shown.length),
  ].join('\n');
}

function formatStrategies(strategies: readonly StrategyOutcome[], worldSize: number): string {
  if (strategies.length === 0) return '';
  const possible = strategies.flatMap(({ strategy, report, plannedRanks }) =>
    report === undefined ? [] : [{ strategy, report, factor: worldSize / plannedRanks }],
  );
  const lines = possible.map(({ strategy, report, factor }) => {
    const { items, hours: lostHours, repeats } = lossesOf(report, factor);
    return [
      strategy,
      count(report.stepCount),
      count(items),
      hours(lostHours),
      count(repeats),
      percent(report.paddingShare),
    ];
  });
  return [
    'What each strategy makes of the first epoch:',
    ...alignColumns([['', 'steps', 'not read', 'of audio', 'repeats', 'padding'], ...lines]),
    ...strategies.flatMap(({ strategy, reason }) =>
      reason === undefined ? [] : [`  ${strategy}  not possible: ${reason}`],
    ),
  ].join('\n');
}

/**
 * What no rank gets, and what is got more than once.
 *
 * @param factor so many times as many ranks read what the report tells of
 */
export function lossesOf(
  { lost, draws, distinctItems }: PlanReport,
  factor: number,
): { items: number; hours: number; repeats: number } {
  const all = Object.values(lost);
  return {
    items: all.reduce((sum, { items }) => sum + items, 0),
    hours: all.reduce((sum, { hours: each }) => sum + each, 0),
    repeats: draws * factor - distinctItems,
  };
}

function formatBuckets({ buckets }: PlanReport, isVerbose: boolean): string {
  if (buckets.length < 2) return '';
  const shown = isVerbose ? buckets : buckets.slice(0, MAX_BUCKETS_SHOWN);
  const hasTokens = buckets.some(({ toTokens }) => toTokens !== undefined);
  const lines = shown.map((bucket) => [
    `${shortSeconds(bucket.fromSeconds)}–${shortSeconds(bucket.toSeconds)} s`,
    ...(hasTokens ? [bucket.toTokens === undefined ? '' : count(bucket.toTokens)] : []),
    count(bucket.items),
    hours(bucket.hours),
    count(bucket.batches),
    bucket.smallestBatch === bucket.largestBatch
      ? count(bucket.largestBatch)
      : `${bucket.smallestBatch}–${bucket.largestBatch}`,
    percent(bucket.paddingShare),
  ]);
  const head = ['above–up to', ...(hasTokens ? ['tokens'] : []), 'items', 'audio', 'batches', 'sizes', 'padding'];
  return [
    'Buckets in the first epoch:',
    ...alignColumns([head, ...lines]),
    ...more(buckets.length - shown.length),
  ].join('\n');
}

function more(hidden: number): string[] {
  return hidden > 0 ? [`  and ${count(hidden)} more; --verbose shows all`] : [];
}

/** The same as plain data. */
export function batchesAsJson(result: BatchesResult): Record<string, unknown> {
  const { table, worldSize, reports, strategies } = result;
  return {
    rows: table.rowCount,
    sources: table.leaves.map(({ name }) => name),
    left_out: table.left.reasons,
    world_size: worldSize,
    open_sec: result.openSeconds,
    plan_sec: result.planSeconds,
    epochs: reports.map((report, epoch) => ({
      epoch,
      ...reportAsJson(report),
      hours_of_steps: [...report.hoursOfSteps],
    })),
    strategies: strategies.map(({ strategy, report, plannedRanks, reason }) => ({
      strategy,
      problem: reason ?? null,
      ...(report === undefined ? {} : strategyAsJson(report, worldSize / plannedRanks)),
    })),
  };
}

function strategyAsJson(report: PlanReport, factor: number): Record<string, unknown> {
  const { items, hours: lostHours, repeats } = lossesOf(report, factor);
  return {
    steps: report.stepCount,
    lost_rows: items,
    lost_hours: lostHours,
    repeats,
    padding_share: report.paddingShare,
  };
}

function reportAsJson(report: PlanReport): Record<string, unknown> {
  return {
    steps: report.stepCount,
    batches: report.batchCount,
    items: report.draws,
    distinct_items: report.distinctItems,
    hours: report.hours,
    padding_share: report.paddingShare,
    pad_items: report.padDraws,
    lost: report.lost,
    step_hours: stepHours(report),
    leaves: report.leaves.map(({ name, share, draws, passes }) => ({ name, share, items: draws, passes })),
    buckets: report.buckets.map((bucket) => ({
      from_sec: bucket.fromSeconds,
      to_sec: isOpenEnd(bucket.toSeconds) ? null : bucket.toSeconds,
      to_tokens: bucket.toTokens ?? null,
      items: bucket.items,
      hours: bucket.hours,
      batches: bucket.batches,
      smallest_batch: bucket.smallestBatch,
      largest_batch: bucket.largestBatch,
      padding_share: bucket.paddingShare,
    })),
  };
}

/** `12.345 h`, or `44 s` below a tenth. */
export function hours(value: number): string {
  if (value < 0.1) return `${Number((value * 3600).toPrecision(3))} s`;
  const [whole = '', fraction = ''] = value.toFixed(3).split('.');
  return `${count(Number(whole))}.${fraction} h`;
}

/** `12.34%`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}

/** The end of a long name tells more than its beginning. */
function shorten(name: string): string {
  return name.length <= MAX_NAME ? name : `…${name.slice(1 - MAX_NAME)}`;
}
