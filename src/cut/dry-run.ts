import { CanceledError } from '../errors.js';
import type { CutPlan } from './cut-plan.js';
import { CutMetrics } from './metrics.js';
import type { MetricsFacts } from './metrics-writer.js';
import { buildRow, plannedDuration } from './row.js';

/** Where a dry run writes. Chunks follow each other without separators. */
export interface DryRunSinks {
  /** Whole rows, each with its line break. */
  writeManifest(chunk: string): Promise<void>;
  writeMetrics(chunk: string): Promise<void>;
}

export interface DryRunOptions {
  signal?: AbortSignal | undefined;
  /** Takes the count of snippets written so far. */
  onProgress?(snippets: number): void;
}

const CHUNK_LENGTH = 64 * 1024;

/**
 * Writes what a plan would give: the manifest, in the order of the tar, and the metrics. No audio is read, so durations are the planned ones.
 *
 * @returns the metrics that were written
 * @throws CanceledError when the signal is aborted
 */
export async function writeDryRun(
  plan: CutPlan,
  sinks: DryRunSinks,
  facts: Omit<MetricsFacts, 'complete' | 'audioArchitecture' | 'dryRun'>,
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
    metrics.addSnippet(recording.index, { segmentCount: row.segmentCount, durationSeconds, clippedSamples: 0 });
    text += `${row.line}\n`;
    count += 1;
    if (text.length < CHUNK_LENGTH) continue;
    await sinks.writeManifest(text);
    text = '';
    options.onProgress?.(count);
  }
  await sinks.writeManifest(text);
  options.onProgress?.(count);
  await metrics.write((chunk) => sinks.writeMetrics(chunk), {
    ...facts,
    complete: true,
    dryRun: true,
    audioArchitecture: null,
  });
  return metrics;
}
