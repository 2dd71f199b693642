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
  for (const failure of plan.failures()) noteFirst(summary, failure);
  const extents = plan.shards.map(({ itemCount, micros }) => ({ samples: itemCount, durationMicros: micros }));
  return { ...summary, ...extentsOf(extents) };
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
    summary.copied += outcome.copied;
    summary.clippedSamples += outcome.clippedSamples;
    summary.invalidSamples += outcome.invalidSamples;
    for (const failure of outcome.failures) {
      summary.failedMembers[failure.reason] = (summary.failedMembers[failure.reason] ?? 0) + 1;
      noteFirst(summary, failure);
    }
    summary.warnings.push(...outcome.warnings.slice(0, MAX_WARNINGS - summary.warnings.length));
  }
  return { ...summary, ...extentsOf(outcomes.map(({ rows, durationMicros }) => ({ samples: rows, durationMicros }))) };
}

/** Sums and limits of shards. */
export function extentsOf(
  shards: readonly ShardExtent[],
): Pick<BuildSummary, 'shards' | 'samples' | 'durationMicros' | 'smallest' | 'largest'> {
  const none = { samples: 0, durationMicros: 0 };
  const sum = { ...none };
  const smallest = { ...(shards[0] ?? none) };
  const largest = { ...smallest };
  for (const { samples, durationMicros } of shards) {
    sum.samples += samples;
    sum.durationMicros += durationMicros;
    smallest.samples = Math.min(smallest.samples, samples);
    smallest.durationMicros = Math.min(smallest.durationMicros, durationMicros);
    largest.samples = Math.max(largest.samples, samples);
    largest.durationMicros = Math.max(largest.durationMicros, durationMicros);
  }
  return { shards: shards.length, ...sum, smallest, largest };
}

/** The sum of counts by reason. */
export function sumCounts(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
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
    ...extentsOf([]),
    copied: 0,
    clippedSamples: 0,
    invalidSamples: 0,
    emptyTexts: facts.emptyTexts,
    flattenedIds: facts.flattenedIds,
    firstFailures: [],
    warnings: [],
  };
}

function noteFirst(summary: BuildSummary, failure: PackFailure): void {
  if (!summary.firstFailures.some(({ reason }) => reason === failure.reason)) summary.firstFailures.push(failure);
}
