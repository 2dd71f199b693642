import path from 'node:path';
import { formatShardLine, hoursOfMicros } from '../manifest/shard-list.js';
import { writeFileAtomic } from '../run/atomic-file.js';
import { readFinishedMetrics, requireSize } from '../shard/finished-dataset.js';
import { clearWork } from '../shard/outcome-file.js';
import type { ShardOutcome } from '../shard/outcome.js';
import type { PackFailure } from '../shard/plan.js';
import type { PlanFile } from '../shard/plan-file.js';
import { VERSION } from '../version.js';
import type { ExportOutputs } from './export-options.js';

/** What came of an export. */
export interface ExportSummary {
  /** Draws that were to be written, and those that were. */
  draws: number;
  samples: number;
  durationMicros: number;
  shards: number;
  /** Draws that could not be written, by reason. */
  failed: Record<string, number>;
  clippedSamples: number;
  /** The first failure of each reason. */
  firstFailures: PackFailure[];
  /** At most 1,000. */
  warnings: { id: string; message: string }[];
}

/** The file that says that an export is whole. */
interface ExportMetrics {
  /** The first key tells which command's metrics they are. */
  draws: number;
  plan_hash: string;
  cutroom_version: string;
  /** As in the metrics of `build`, whose outputs these are like: the draws. */
  rows_read: number;
  failed_rows: Record<string, number>;
  samples: number;
  duration_sec: number;
  duration_hours: number;
  failed_members: Record<string, number>;
  clipped_samples: number;
  shards: { tar: string; manifest: string; tar_bytes: number; manifest_bytes: number; samples: number }[];
  options: PlanFile['header']['options'];
  inputs: PlanFile['header']['inputs'];
  first_failures: PackFailure[];
  warnings: { id: string; message: string }[];
}

const MICROS = 1e6;
const MAX_WARNINGS = 1000;

/** Writes what belongs to all shards: the list, the failures, and last the metrics. */
export async function finishExport(
  plan: PlanFile,
  outputs: ExportOutputs,
  outcomes: readonly ShardOutcome[],
): Promise<ExportSummary> {
  const summary = summarize(plan, outcomes);
  await writeFileAtomic(outputs.list, async (write) => {
    for (const { shard, rows, durationMicros } of outcomes) {
      const { tar, manifest } = plan.shards[shard]!;
      const line = formatShardLine({
        tarPath: path.join(outputs.folder, tar),
        manifestPath: path.join(outputs.folder, manifest),
        hours: hoursOfMicros(BigInt(durationMicros)),
        sampleCount: rows,
      });
      await write(`${line}\n`);
    }
  });
  await writeFileAtomic(outputs.failures, async (write) => {
    for (const { failures } of outcomes) {
      for (const failure of failures) await write(`${JSON.stringify(failure)}\n`);
    }
  });
  const metrics = metricsOf(plan, outcomes, summary);
  await writeFileAtomic(outputs.metrics, (write) => write(`${JSON.stringify(metrics, null, 2)}\n`));
  await clearWork(outputs.workFolder);
  return summary;
}

/**
 * The summary of an export that an earlier run finished; undefined where this plan is not finished.
 *
 * @throws {OutputError} when a shard of it is gone or changed.
 */
export async function readFinishedExport(plan: PlanFile, outputs: ExportOutputs): Promise<ExportSummary | undefined> {
  const metrics = await readFinishedMetrics<ExportMetrics>(outputs.metrics);
  if (metrics?.plan_hash !== plan.hash) return undefined;
  for (const { tar, manifest, tar_bytes, manifest_bytes } of metrics.shards) {
    await requireSize(path.join(outputs.folder, tar), tar_bytes);
    await requireSize(path.join(outputs.folder, manifest), manifest_bytes);
  }
  return {
    draws: metrics.draws,
    samples: metrics.samples,
    durationMicros: Math.round(metrics.duration_sec * MICROS),
    shards: metrics.shards.length,
    failed: metrics.failed_members,
    clippedSamples: metrics.clipped_samples,
    firstFailures: metrics.first_failures,
    warnings: metrics.warnings,
  };
}

function summarize(plan: PlanFile, outcomes: readonly ShardOutcome[]): ExportSummary {
  const summary: ExportSummary = {
    draws: plan.shards.reduce((sum, { itemCount }) => sum + itemCount, 0),
    samples: 0,
    durationMicros: 0,
    shards: outcomes.length,
    failed: {},
    clippedSamples: 0,
    firstFailures: [],
    warnings: [],
  };
  for (const outcome of outcomes) {
    summary.samples += outcome.rows;
    summary.durationMicros += outcome.durationMicros;
    summary.clippedSamples += outcome.clippedSamples;
    for (const failure of outcome.failures) {
      const { reason } = failure;
      if (summary.failed[reason] === undefined) summary.firstFailures.push(failure);
      summary.failed[reason] = (summary.failed[reason] ?? 0) + 1;
    }
    summary.warnings.push(...outcome.warnings.slice(0, MAX_WARNINGS - summary.warnings.length));
  }
  return summary;
}

function metricsOf(plan: PlanFile, outcomes: readonly ShardOutcome[], summary: ExportSummary): ExportMetrics {
  const { header } = plan;
  return {
    draws: summary.draws,
    rows_read: summary.draws,
    samples: summary.samples,
    duration_sec: summary.durationMicros / MICROS,
    duration_hours: hoursOfMicros(BigInt(summary.durationMicros)),
    failed_rows: {},
    failed_members: summary.failed,
    clipped_samples: summary.clippedSamples,
    warnings: summary.warnings,
    cutroom_version: VERSION,
    options: header.options,
    inputs: header.inputs,
    plan_hash: plan.hash,
    first_failures: summary.firstFailures,
    shards: outcomes.map(({ shard, tarBytes, manifestBytes, rows }) => ({
      tar: plan.shards[shard]!.tar,
      manifest: plan.shards[shard]!.manifest,
      tar_bytes: tarBytes,
      manifest_bytes: manifestBytes,
      samples: rows,
    })),
  };
}
