import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { hoursOfMicros } from '../manifest/shard-list.js';
import { removeFile, writeFileAtomic } from '../run/atomic-file.js';
import type { TaskOutcome } from '../run/task.js';
import { readFinishedMetrics, requireSize } from '../shard/finished-dataset.js';
import { clearWork, readOutcomes } from '../shard/outcome-file.js';
import { salvagedListPath, writeShardList } from '../shard/made-shards.js';
import type { ShardOutcome } from '../shard/outcome.js';
import type { PackFailure } from '../shard/plan.js';
import type { PlanFile } from '../shard/plan-file.js';
import { withBuildLock, type BuildLockContext } from './build-lock.js';
import { extentsOf, summarizeOutcomes, summarizePlan, type BuildSummary } from './build-summary.js';
import type { BuildOutputs } from './options.js';

/** The file that says that a dataset is whole. */
export interface BuildMetrics {
  plan_hash: string;
  rows_read: number;
  samples: number;
  duration_sec: number;
  duration_hours: number;
  failed_rows: Record<string, number>;
  failed_members: Record<string, number>;
  empty_texts: number;
  flattened_ids: number;
  copied: number;
  clipped_samples: number;
  invalid_samples: number;
  shards: {
    tar: string;
    manifest: string;
    tar_bytes: number;
    manifest_bytes: number;
    samples: number;
    failed_members: number;
    duration_sec: number;
  }[];
  warnings: { id: string; message: string }[];
  cutroom_version: string;
  audio_architecture: string;
  inputs: PlanFile['header']['inputs'];
  options: PlanFile['header']['options'];
  /** One of each reason. */
  first_failures: PackFailure[];
}

const MICROS = 1e6;

/** Whether the metrics say that an earlier run finished the dataset of a plan. */
export async function isFinished(plan: PlanFile, outputs: BuildOutputs): Promise<boolean> {
  return (await readFinishedMetrics<BuildMetrics>(outputs.metrics))?.plan_hash === plan.hash;
}

/** A dataset that an earlier run finished. */
export interface FinishedBuild {
  summary: BuildSummary;
  /** Members of each shard that could not be made. */
  failedMembers: readonly number[];
  /** What came of the shards [first, end). */
  outcomeOf(first: number, end: number): TaskOutcome;
}

/**
 * What came of a dataset that an earlier run finished, or undefined where none of this plan is finished.
 *
 * @throws {OutputError} when a shard of it is gone or changed.
 */
export async function readFinished(plan: PlanFile, outputs: BuildOutputs): Promise<FinishedBuild | undefined> {
  const metrics = await readFinishedMetrics<BuildMetrics>(outputs.metrics);
  if (metrics?.plan_hash !== plan.hash) return undefined;
  for (const { tar, manifest, tar_bytes, manifest_bytes } of metrics.shards) {
    await requireSize(path.join(outputs.folder, tar), tar_bytes);
    await requireSize(path.join(outputs.folder, manifest), manifest_bytes);
  }
  return {
    summary: summarizeMetrics(metrics, plan),
    failedMembers: metrics.shards.map(({ failed_members: failed }) => failed),
    outcomeOf: (first, end) => sumShards(metrics.shards.slice(first, end)),
  };
}

function sumShards(shards: BuildMetrics['shards']): TaskOutcome {
  const sums = { audioSeconds: 0, bytes: 0 };
  let failed = 0;
  for (const { duration_sec: seconds, tar_bytes: tarBytes, manifest_bytes: manifestBytes, failed_members } of shards) {
    sums.audioSeconds += seconds;
    sums.bytes += tarBytes + manifestBytes;
    failed += failed_members;
  }
  // The metrics count failures of a shard, and tell their reasons of all shards alone.
  return { units: shards.length, ...sums, failures: failed === 0 ? {} : { failed_members: failed } };
}

function summarizeMetrics(metrics: BuildMetrics, plan: PlanFile): BuildSummary {
  const summary = summarizePlan(plan);
  const extents = metrics.shards.map(({ samples, duration_sec }) => ({
    samples,
    durationMicros: Math.round(duration_sec * MICROS),
  }));
  return {
    ...summary,
    ...extentsOf(extents),
    failedRows: metrics.failed_rows,
    failedMembers: metrics.failed_members,
    copied: metrics.copied,
    clippedSamples: metrics.clipped_samples,
    invalidSamples: metrics.invalid_samples,
    firstFailures: metrics.first_failures,
    warnings: metrics.warnings,
  };
}

/** The list of the shards of one run among several. */
export function partListPath({ folder }: BuildOutputs, start: number, end: number): string {
  return path.join(folder, `data.${start}-${end}.lst`);
}

/** Removes the lists of all runs among several. */
export async function removePartLists({ folder }: BuildOutputs): Promise<void> {
  for (const name of await readdir(folder)) {
    if (/^data\.\d+-\d+\.lst$/u.test(name)) await removeFile(path.join(folder, name));
  }
}

/**
 * Ends a dataset whose shards are all there: list, failures, and last the metrics, which say that it is whole.
 *
 * @param how `listedFolder` is how the list names the output folder, where that is another name
 * @returns the summary; undefined while shards are missing
 */
export async function finishBuild(
  plan: PlanFile,
  outputs: BuildOutputs,
  { noLst, listedFolder = outputs.folder }: { noLst: boolean; listedFolder?: string | undefined },
  context: BuildLockContext,
): Promise<BuildSummary | undefined> {
  return await withBuildLock('finish.lock', context, async () => {
    // Another run may have done so while this one waited.
    const finished = await readFinished(plan, outputs);
    if (finished !== undefined) return finished.summary;
    const found = await readOutcomes(plan, outputs.workFolder);
    const outcomes = found.filter((outcome) => outcome !== undefined);
    if (outcomes.length < found.length) return undefined;
    if (!noLst) await writeShardList(outputs.list, plan, listedFolder, outcomes);
    await removeFile(salvagedListPath(outputs.folder));
    await writeFileAtomic(outputs.failures, async (write) => {
      for (const failure of plan.failures()) await write(`${JSON.stringify(failure)}\n`);
      for (const { failures } of outcomes) {
        for (const failure of failures) await write(`${JSON.stringify(failure)}\n`);
      }
    });
    const summary = summarizeOutcomes(plan, outcomes, true);
    const metrics = metricsOf(plan, outcomes, summary);
    await writeFileAtomic(outputs.metrics, (write) => write(`${JSON.stringify(metrics, null, 2)}\n`));
    await clearBuildWork(outputs);
    return summary;
  });
}

/** Removes what the planning and the making of shards left in the work folder. */
async function clearBuildWork({ workFolder }: BuildOutputs): Promise<void> {
  for (const name of ['input', 'rows', 'refused']) await removeFile(path.join(workFolder, name));
  await clearWork(workFolder);
}

function metricsOf(plan: PlanFile, outcomes: readonly ShardOutcome[], summary: BuildSummary): BuildMetrics {
  const { header } = plan;
  return {
    rows_read: summary.rowsRead,
    samples: summary.samples,
    duration_sec: summary.durationMicros / MICROS,
    duration_hours: hoursOfMicros(BigInt(summary.durationMicros)),
    failed_rows: summary.failedRows,
    failed_members: summary.failedMembers,
    empty_texts: summary.emptyTexts,
    flattened_ids: summary.flattenedIds,
    copied: summary.copied,
    clipped_samples: summary.clippedSamples,
    invalid_samples: summary.invalidSamples,
    warnings: summary.warnings,
    cutroom_version: header.cutroom_version,
    audio_architecture: header.audio_architecture,
    options: header.options,
    inputs: header.inputs,
    plan_hash: plan.hash,
    first_failures: summary.firstFailures,
    shards: outcomes.map(({ shard, tarBytes, manifestBytes, rows, durationMicros, failures }) => ({
      tar: plan.shards[shard]!.tar,
      manifest: plan.shards[shard]!.manifest,
      tar_bytes: tarBytes,
      manifest_bytes: manifestBytes,
      samples: rows,
      failed_members: failures.length,
      duration_sec: durationMicros / MICROS,
    })),
  };
}
