import { CanceledError } from '../errors.js';
import type { CutPlan } from './cut-plan.js';
import { CutMetrics } from './metrics.js';
import type { MetricsFacts } from './metrics-writer.js';
import { buildRow, plannedDuration } from './row.js';
import type { ShardTally } from './shard-tally.js';

export interface DryRunOptions {
  signal?: AbortSignal | undefined;
  /** Takes the count of snippets written so far. */
  onProgress?(snippets: number): void;
  /** Counts the snippets of each planned shard. */
  shards?: ShardTally | undefined;
}

const CHUNK_LENGTH = 64 * 1024;

/**
 * Writes the manifest that a plan would give, in the order of the tar. No audio is read, so durations are the planned ones.
 *
 * @param write takes whole rows, each with its line break
 * @returns the metrics of the plan, for `writeDryRunMetrics`
 * @throws CanceledError when the signal is aborted
 */
export async function writeDryRunManifest(
  plan: CutPlan,
  write: (chunk: string) => Promise<void>,
  options: DryRunOptions = {},
): Promise<CutMetrics> {
  const metrics = new CutMetrics(plan);
  let text = '';
  let count = 0;
  for await (const { recording, snippet } of plan.membersInOrder()) {
    if (options.signal?.aborted === true) {
      throw new CanceledError('The dry run was canceled', { cause: options.signal.reason });
    }
    const durationSeconds = plannedDuration(snippet);
    const row = buildRow(recording, snippet, { durationSeconds, settings: plan.settings });
    if ('dropped' in row) throw new TypeError(`planned snippet "${snippet.snippetId}" makes no row`);
    options.shards?.add(options.shards.place(snippet, recording.index), durationSeconds);
    metrics.addSnippet(recording.index, { segmentCount: row.segmentCount, durationSeconds, clippedSamples: 0 });
    text += `${row.line}\n`;
    count += 1;
    if (text.length < CHUNK_LENGTH) continue;
    await write(text);
    text = '';
    options.onProgress?.(count);
  }
  await write(text);
  options.onProgress?.(count);
  return metrics;
}

/** Writes the metrics of a dry run piece by piece. */
export async function writeDryRunMetrics(
  metrics: CutMetrics,
  write: (chunk: string) => Promise<void>,
  facts: Omit<MetricsFacts, 'complete' | 'audioArchitecture' | 'dryRun'>,
): Promise<void> {
  await metrics.write(write, { ...facts, complete: true, dryRun: true, audioArchitecture: null });
}
