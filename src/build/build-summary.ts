import type { AudioFormat, PackFailure } from '../shard/plan.js';
import type { ShardOutcome } from '../shard/outcome.js';
import type { PlanFile } from '../shard/plan-file.js';
import type { BuildFacts } from './plan-build.js';

/** What came of a dataset, or of the part of it that a run made. */
export interface BuildSummary {
  rowsRead: number;
  /** Of the members that are encoded. */
  format: AudioFormat;
  /** Rows of the plan. */
  rowsPlanned: number;
  /** Failures of the plan by reason, as far as they are this run's. */
  failedRows: Record<string, number>;
  /** Members that could not be made, by reason. */
  failedMembers: Record<string, number>;
  /** Shards of the plan, and those of them that this is about. */
  plannedShards: number;
  shards: number;
  samples: number;
  durationMicros: number;
  /** Members that were copied as they are. */
  copied: number;
  clippedSamples: number;
  invalidSamples: number;
  emptyTexts: number;
  flattenedIds: number;
  smallest: ShardExtent;
  largest: ShardExtent;
  /** The first failure of each reason. */
  firstFailures: PackFailure[];
  /** At most 1,000. */
  warnings: { id: string; message: string }[];
}

/** The least or the most of a shard; rows and time are not those of one and the same. */
export interface ShardExtent {
  samples: number;
  durationMicros: number;
}

const MAX_WARNINGS = 1000;

/** The summary of a plan that is not carried out: counts are what is planned. */
export function summarizePlan(plan: PlanFile): BuildSummary {
  const summary = startSummary(plan);
  for (const { itemCount, micros } of plan.shards) addShard(summary, itemCount, micros);
  for (const failure of plan.failures()) noteFirst(summary, failure);
  return summary;
}

/**
 * The summary of shards that are made.
 *
 * @param isWhole whether they are all there are: then failures of rows are counted, too
 */
export function summarizeOutcomes(plan: PlanFile, outcomes: readonly ShardOutcome[], isWhole: boolean): BuildSummary {
  const summary = startSummary(plan);
  if (!isWhole) summary.failedRows = {};
  else for (const failure of plan.failures()) noteFirst(summary, failure);
  for (const outcome of outcomes) {
    addShard(summary, outcome.rows, outcome.durationMicros);
    summary.copied += outcome.copied;
    summary.clippedSamples += outcome.clippedSamples;
    summary.invalidSamples += outcome.invalidSamples;
    for (const failure of outcome.failures) {
      summary.failedMembers[failure.reason] = (summary.failedMembers[failure.reason] ?? 0) + 1;
      noteFirst(summary, failure);
    }
    summary.warnings.push(...outcome.warnings.slice(0, MAX_WARNINGS - summary.warnings.length));
  }
  return summary;
}

/** How many rows and members failed. */
export function countFailures({ failedRows, failedMembers }: BuildSummary): number {
  return [...Object.values(failedRows), ...Object.values(failedMembers)].reduce((sum, count) => sum + count, 0);
}

function startSummary(plan: PlanFile): BuildSummary {
  const facts = plan.header.facts as unknown as BuildFacts;
  return {
    rowsRead: facts.rowsRead,
    format: plan.header.audio.format,
    rowsPlanned: facts.rowsKept,
    failedRows: { ...facts.failedRows },
    failedMembers: {},
    plannedShards: plan.shards.length,
    shards: 0,
    samples: 0,
    durationMicros: 0,
    copied: 0,
    clippedSamples: 0,
    invalidSamples: 0,
    emptyTexts: facts.emptyTexts,
    flattenedIds: facts.flattenedIds,
    smallest: { samples: 0, durationMicros: 0 },
    largest: { samples: 0, durationMicros: 0 },
    firstFailures: [],
    warnings: [],
  };
}

function addShard(summary: BuildSummary, samples: number, durationMicros: number): void {
  const { smallest, largest } = summary;
  const isFirst = summary.shards === 0;
  summary.smallest = {
    samples: isFirst ? samples : Math.min(smallest.samples, samples),
    durationMicros: isFirst ? durationMicros : Math.min(smallest.durationMicros, durationMicros),
  };
  summary.largest = {
    samples: Math.max(largest.samples, samples),
    durationMicros: Math.max(largest.durationMicros, durationMicros),
  };
  summary.shards += 1;
  summary.samples += samples;
  summary.durationMicros += durationMicros;
}

function noteFirst(summary: BuildSummary, failure: PackFailure): void {
  if (!summary.firstFailures.some(({ reason }) => reason === failure.reason)) summary.firstFailures.push(failure);
}
