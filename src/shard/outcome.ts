import type { PackFailure } from './plan.js';

/** What came of a shard: the state file that is written once its tar and manifest are in place. */
export interface ShardOutcome {
  /** Hash of the plan that it was made by. */
  plan: string;
  /** 0-based, in the plan. */
  shard: number;
  tarBytes: number;
  manifestBytes: number;
  members: number;
  rows: number;
  /** Sum of the rows' durations, each to the nearest microsecond. */
  durationMicros: number;
  /** Members that were copied as they are; the others were encoded. */
  copied: number;
  clippedSamples: number;
  /** Samples that are not numbers and became silence. */
  invalidSamples: number;
  failures: readonly PackFailure[];
  /** What is worth knowing and no fault, at most 1,000 of them. */
  warnings: readonly { id: string; message: string }[];
}
