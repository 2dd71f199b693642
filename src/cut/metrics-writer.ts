import { PER_ORIGINAL_START } from '../shard/metrics-reader.js';
import type { CutMetrics, RecordingMetrics } from './metrics.js';
import type { ShardFigures } from './shard-tally.js';
import { DROP_REASONS, type DropCounts } from './types.js';

/** What the metrics say about the run beside its counts. */
export interface MetricsFacts {
  /** True when the snippets were planned and not made. */
  dryRun: boolean;
  /** False when a part of the plan is not in the output because the run was ended before. */
  complete: boolean;
  datasetName: string;
  cutroomVersion: string;
  /** CPU architecture, which resampled audio may hang on by a bit; null where no audio was made. */
  audioArchitecture: string | null;
  /** What the run was asked for, as plain data without secrets. */
  options: Readonly<Record<string, unknown>>;
  /** Undefined where the snippets are not split. */
  shards?: ShardSection | undefined;
}

/** What the metrics say about shards. */
export interface ShardSection {
  /** Those that were made, or are planned. */
  shards: readonly ShardFigures[];
  /** Names of the tars that were not made since every one of their snippets failed. */
  emptyShards: readonly string[];
}

/** Reasons that are written even if their count is 0. */
const ALWAYS = new Set(['empty', 'overlap', 'too_long', 'too_short', 'no_text', 'repetition']);

const CHUNK_LENGTH = 64 * 1024;

/**
 * Writes metrics as JSON with two spaces of indentation. One entry a recording may be millions, so the text is passed on in pieces.
 */
export async function writeMetrics(
  metrics: CutMetrics,
  sink: (chunk: string) => Promise<void>,
  facts: MetricsFacts,
): Promise<void> {
  const { plan } = metrics;
  const totals = metrics.totals();
  const before = {
    num_input_audios: totals.inputRecordings,
    num_output_snippets: totals.outputSnippets,
    input_total_segments: totals.inputSegments,
    input_total_duration_sec: totals.inputDurationSeconds,
    output_total_segments: totals.outputSegments,
    output_total_duration_sec: totals.outputDurationSeconds,
    dropped: spellDropped(totals.dropped),
    snippet_duration_histogram_30s: spellHistogram(totals.histogram),
    dropped_repetition_examples: plan.repetitionExamples,
  };
  const after = {
    dropped_segments: spellDropped(totals.droppedSegments),
    skipped_rows: totals.skippedRows,
    failed_snippets: sortKeys(totals.failedSnippets),
    failed_segments: totals.failedSegments,
    ...(totals.unfinishedSnippets === 0
      ? {}
      : { unfinished_snippets: totals.unfinishedSnippets, unfinished_segments: totals.unfinishedSegments }),
    clipped_samples: totals.clippedSamples,
    warnings: metrics.warnings(),
    ...spellShards(facts.shards),
    complete: facts.complete,
    dry_run: facts.dryRun,
    dataset_name: facts.datasetName,
    cutroom_version: facts.cutroomVersion,
    audio_architecture: facts.audioArchitecture,
    options: facts.options,
    input_sha256: plan.inputSha256,
    plan_hash: plan.hash,
  };
  // Both objects without the brace that joins them to the list between.
  let text = `${JSON.stringify(before, null, 2).slice(0, -2)},${PER_ORIGINAL_START}`;
  for (let index = 0; index < plan.recordingCount; index += 1) {
    const entry = JSON.stringify(spellRecording(metrics.recording(index)), null, 2).replaceAll('\n', '\n    ');
    text += `${index === 0 ? '' : ','}\n    ${entry}`;
    if (text.length >= CHUNK_LENGTH) {
      await sink(text);
      text = '';
    }
  }
  text += plan.recordingCount === 0 ? ']' : '\n  ]';
  await sink(`${text},${JSON.stringify(after, null, 2).slice(1)}\n`);
}

function spellRecording(recording: RecordingMetrics): Record<string, unknown> {
  const failed = Object.keys(recording.failedSnippets).length > 0;
  return {
    id: recording.id,
    in_segments: recording.inSegments,
    in_duration_sec: recording.inDurationSeconds,
    dropped: spellDropped(recording.dropped),
    out_snippets: recording.outSnippets,
    out_segments: recording.outSegments,
    out_duration_sec: recording.outDurationSeconds,
    ...(failed ? { failed_snippets: sortKeys(recording.failedSnippets) } : {}),
  };
}

function spellDropped(counts: DropCounts): Partial<DropCounts> {
  const reasons = DROP_REASONS.filter((reason) => ALWAYS.has(reason) || counts[reason] > 0);
  return Object.fromEntries(reasons.map((reason) => [reason, counts[reason]]));
}

function spellShards(section: ShardSection | undefined): Record<string, unknown> {
  if (section === undefined) return {};
  const { shards, emptyShards } = section;
  return emptyShards.length === 0 ? { shards } : { shards, empty_shards: emptyShards };
}

function spellHistogram(bins: readonly number[]): Record<string, number> {
  return Object.fromEntries(bins.map((count, bin) => [`${bin * 30}-${(bin + 1) * 30}`, count]));
}

function sortKeys(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
