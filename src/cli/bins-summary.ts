import { countWords } from '../count-words.js';
import type { BucketBins } from '../load/batch-options.js';
import type { Holdings } from '../load/bucket-holdings.js';
import type { ItemTable } from '../load/item-table.js';
import { gigabytes, type MemoryModel, type ProposedBatchSize } from '../load/memory-model.js';
import { shortSeconds } from './batch-charts.js';
import { formatLosses, hours, percent } from './batches-summary.js';
import { count } from './cut-progress.js';
import { alignColumns } from './sample-summary.js';

/** Padding of batches in one bucket and in all. */
export interface PaddingSaved {
  /** How batches are bounded, in words. */
  budget: string;
  oneBucketShare: number;
  share: number;
  /** Of all items that are in batches. */
  hours: number;
}

/** All that `cutroom bins` finds out. */
export interface BinsResult {
  table: ItemTable;
  bins: BucketBins;
  holdings: Holdings;
  padding: PaddingSaved;
  /** Of each bucket; undefined where they were not asked for. */
  batchSizes: readonly ProposedBatchSize[] | undefined;
  memoryModel: MemoryModel | undefined;
  /** True when what is counted are characters. */
  areCharacters: boolean;
  /** The last bound is left out. */
  isInner: boolean;
}

/** The lines that a configuration of NeMo takes. */
export function formatBinsAsYaml({ bins, batchSizes, isInner }: BinsResult): string {
  const shown = isInner ? bins.slice(0, -1) : bins;
  const lines = [`num_buckets: ${bins.length}`, `bucket_duration_bins: ${formatList(shown)}`];
  if (batchSizes !== undefined)
    lines.push(`bucket_batch_size: ${formatList(batchSizes.map(({ batchSize }) => batchSize))}`);
  return `${lines.join('\n')}\n`;
}

function formatList(values: BucketBins): string {
  return `[${values.map((value) => (typeof value === 'number' ? String(value) : formatList(value))).join(', ')}]`;
}

/** What the buckets hold, and what they are good for, as lines. */
export function formatBins(result: BinsResult): string {
  const { table, holdings, memoryModel, batchSizes } = result;
  const { beyondRows, beyondHours } = holdings;
  return [
    `${countWords(table.rowCount, 'row')}, ${hours(totalHours(holdings) + beyondHours)}`,
    ...formatLosses(table.left),
    '',
    ...formatTable(result),
    ...(beyondRows > 0
      ? [
          `  beyond all: ${countWords(beyondRows, 'row')}, ${hours(beyondHours)}, with too many tokens for their duration`,
        ]
      : []),
    '',
    formatPadding(result),
    ...(memoryModel === undefined ? [] : [formatMemory(memoryModel, batchSizes ?? [])]),
  ].join('\n');
}

function totalHours({ buckets }: Holdings): number {
  return buckets.reduce((sum, bucket) => sum + bucket.hours, 0);
}

function formatTable({ holdings: { buckets }, batchSizes, memoryModel, areCharacters }: BinsResult): string[] {
  const unit = areCharacters ? 'characters' : 'tokens';
  const isTwoDimensional = buckets.some(({ toTokens }) => toTokens !== undefined);
  const boundOf = (at: number): string => {
    const { fromSeconds, toSeconds, toTokens } = buckets[at]!;
    return `${shortSeconds(fromSeconds)}–${shortSeconds(toSeconds)} s${isTwoDimensional ? `, ${count(toTokens ?? 0)}` : ''}`;
  };
  const columns: [string, (at: number) => string][] = [
    [isTwoDimensional ? `above–up to, ${unit}` : 'above–up to', boundOf],
  ];
  columns.push(
    ['rows', (at) => count(buckets[at]!.rows)],
    ['audio', (at) => hours(buckets[at]!.hours)],
    ['share', (at) => percent(buckets[at]!.hoursShare)],
  );
  if (buckets.some(({ tokens }) => tokens !== undefined)) columns.push([unit, (at) => count(buckets[at]!.tokens ?? 0)]);
  if (batchSizes !== undefined) columns.push(['batch', (at) => count(batchSizes[at]!.batchSize)]);
  if (batchSizes !== undefined && memoryModel !== undefined) {
    columns.push([
      'memory',
      (at) => `${gigabytes(batchSizes[at]!.memoryBytes)}${batchSizes[at]!.beyond.length > 0 ? ' *' : '  '}`,
    ]);
  }
  const lines = buckets.map((_, at) => columns.map(([, valueOf]) => valueOf(at)));
  return alignColumns([columns.map(([title]) => title), ...lines]).map((line) => line.trimEnd());
}

function formatPadding({ bins, padding: { budget, oneBucketShare, share, hours: audio } }: BinsResult): string {
  const [before, after] = [audio / (1 - oneBucketShare), audio / (1 - share)];
  return (
    `Batches of ${budget}: ${percent(oneBucketShare)} padding in one bucket, ${percent(share)} in ${bins.length};\n` +
    `${hours(after)} with padding in place of ${hours(before)}`
  );
}

function formatMemory(model: MemoryModel, sizes: readonly ProposedBatchSize[]): string {
  const { baseBytes, linearBytes, quadraticBytes, residualShare, reserveShare, limitBytes, points } = model;
  const formula = `${gigabytes(baseBytes)} + batch · (${megabytes(linearBytes)} · d + ${megabytes(quadraticBytes)} · d²)`;
  const lines = [
    `Memory: ${formula}, d in seconds;`,
    `${points.length} points, off by ${percent(residualShare)} (root mean square). Of ${gigabytes(limitBytes)}`,
    `${percent(reserveShare)} are kept free, as much as a point lay above the formula.`,
  ];
  const beyond = [...new Set(sizes.flatMap((size) => size.beyond))].map((what) => BEYOND_WORDS[what]);
  if (beyond.length > 0) {
    const words = beyond.join(', ').replace(/, (?=[^,]*$)/u, ' and ');
    lines.push(`warning: * goes beyond what was measured, in ${words}:`, 'measure there before you rely on it');
  }
  return lines.join('\n');
}

const BEYOND_WORDS = { seconds: 'duration', batchSize: 'batch size', memory: 'memory' } as const;

function megabytes(bytes: number): string {
  return `${Number((bytes / 1e6).toPrecision(3))} MB`;
}

/** All as plain data. */
export function binsAsJson(result: BinsResult): Record<string, unknown> {
  const { table, bins, holdings, padding, batchSizes, memoryModel, isInner } = result;
  return {
    num_buckets: bins.length,
    bucket_duration_bins: isInner ? bins.slice(0, -1) : bins,
    ...(batchSizes === undefined ? {} : { bucket_batch_size: batchSizes.map(({ batchSize }) => batchSize) }),
    rows: table.rowCount,
    left_out: table.left.reasons,
    beyond_rows: holdings.beyondRows,
    beyond_hours: holdings.beyondHours,
    buckets: holdings.buckets.map((bucket, at) => ({
      from_sec: bucket.fromSeconds,
      to_sec: bucket.toSeconds,
      to_tokens: bucket.toTokens ?? null,
      rows: bucket.rows,
      hours: bucket.hours,
      hours_share: bucket.hoursShare,
      tokens: bucket.tokens ?? null,
      ...(memoryModel === undefined
        ? {}
        : { memory_bytes: batchSizes?.[at]?.memoryBytes, beyond_measured: batchSizes?.[at]?.beyond }),
    })),
    padding: {
      budget: padding.budget,
      one_bucket_share: padding.oneBucketShare,
      share: padding.share,
      hours: padding.hours,
    },
    memory_model:
      memoryModel === undefined
        ? null
        : {
            base_bytes: memoryModel.baseBytes,
            linear_bytes: memoryModel.linearBytes,
            quadratic_bytes: memoryModel.quadraticBytes,
            residual_share: memoryModel.residualShare,
            reserve_share: memoryModel.reserveShare,
            limit_bytes: memoryModel.limitBytes,
          },
  };
}
