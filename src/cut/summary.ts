import type { EarlierMetrics } from './earlier-outputs.js';
import type { CutMetrics } from './metrics.js';
import type { ShardSection } from './metrics-writer.js';
import type { FailureLimit } from './options.js';
import type { ShardFigures } from './shard-tally.js';

/** The figures of a run, as the metrics file has them. Durations in seconds. */
export interface CutSummary {
  inputRecordings: number;
  inputSegments: number;
  inputDurationSeconds: number;
  outputSnippets: number;
  outputSegments: number;
  outputDurationSeconds: number;
  /** By reason. */
  dropped: Readonly<Record<string, number>>;
  skippedRows: Readonly<Record<string, number>>;
  failedSnippets: Readonly<Record<string, number>>;
  /** Snippets that a salvaged run had not got to. */
  unfinishedSnippets: number;
  clippedSamples: number;
  warnings: readonly { id: string; message: string }[];
  /** The shards that were made or planned, in order; empty where the snippets are not split. */
  shards: readonly ShardFigures[];
  /** Names of shards that were not made since every one of their snippets failed. */
  emptyShards: readonly string[];
}

export function summarizeMetrics(metrics: CutMetrics, section?: ShardSection): CutSummary {
  const totals = metrics.totals();
  return {
    inputRecordings: totals.inputRecordings,
    inputSegments: totals.inputSegments,
    inputDurationSeconds: totals.inputDurationSeconds,
    outputSnippets: totals.outputSnippets,
    outputSegments: totals.outputSegments,
    outputDurationSeconds: totals.outputDurationSeconds,
    dropped: totals.dropped,
    skippedRows: totals.skippedRows,
    failedSnippets: totals.failedSnippets,
    unfinishedSnippets: totals.unfinishedSnippets,
    clippedSamples: totals.clippedSamples,
    warnings: metrics.warnings(),
    shards: section?.shards ?? [],
    emptyShards: section?.emptyShards ?? [],
  };
}

export function summarizeEarlier(metrics: EarlierMetrics): CutSummary {
  return {
    inputRecordings: metrics.num_input_audios,
    inputSegments: metrics.input_total_segments,
    inputDurationSeconds: metrics.input_total_duration_sec,
    outputSnippets: metrics.num_output_snippets,
    outputSegments: metrics.output_total_segments,
    outputDurationSeconds: metrics.output_total_duration_sec,
    dropped: metrics.dropped,
    skippedRows: metrics.skipped_rows,
    failedSnippets: metrics.failed_snippets,
    unfinishedSnippets: 0,
    clippedSamples: metrics.clipped_samples,
    warnings: metrics.warnings,
    shards: metrics.shards ?? [],
    emptyShards: metrics.empty_shards ?? [],
  };
}

/** Whether no more failed than is allowed. */
export function isWithinLimit(summary: CutSummary, maxFailures: FailureLimit): boolean {
  const rows = sum(summary.skippedRows);
  const snippets = sum(summary.failedSnippets);
  if ('count' in maxFailures) return rows + snippets <= maxFailures.count;
  const share = maxFailures.percent / 100;
  const plannedSnippets = summary.outputSnippets + snippets;
  return rows <= share * (summary.inputRecordings + rows) && snippets <= share * plannedSnippets;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
