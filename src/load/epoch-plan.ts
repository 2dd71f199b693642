/** Where a training stands: plain JSON. Holds on any number of ranks and workers. */
export interface LoaderState {
  seed: number;
  epoch: number;
  /** Batches of the epoch's list that all ranks have taken together. */
  batch: number;
  /** Ranks that the list was made for: its steps have equal buckets on so many. */
  ranks: number;
}

/** A batch before anything is decoded. */
export interface PlannedBatch {
  epoch: number;
  /** Of this rank, from 0 at the start of the epoch (or of the restored state). */
  step: number;
  rank: number;
  /** From 0, in the order of the bins; undefined without buckets. */
  bucket: number | undefined;
  /** Items of the table, in order. Empty where there are fewer items than ranks. */
  items: Float64Array;
  /**
   * Of each item: which of its leaf's passes over itself this draw belongs to, counted from the first epoch on. Augmentation is keyed by it,
   * so that a repeated item is augmented anew.
   */
  passes: Float64Array;
  /** So many items at the end are repeated to make steps equal (`lastBatch: 'pad'`). */
  padCount: number;
}

/** All batches of an epoch, for all ranks. A pure function of the table, the options, the epoch and the state. */
export interface EpochPlan {
  readonly epoch: number;
  readonly worldSize: number;
  /** The same on each rank. */
  readonly stepCount: number;
  /** @throws {RangeError} when there is no such rank or step. */
  batchAt(rank: number, step: number): PlannedBatch;
  /** The state once all ranks have taken the batches of steps below `step`; at the end of the epoch the start of the next. */
  stateAt(step: number): LoaderState;
  /** Counted over all batches when it is first asked for. */
  report(): PlanReport;
}

/** A plan in figures. */
export interface PlanReport {
  /** Draws that ranks get, and distinct items among them; without those that are repeated to make steps equal. */
  draws: number;
  distinctItems: number;
  /** Items of all sources; Infinity where one has no end. */
  items: number;
  /** Hours of audio of the draws, at their speed; copies are not counted. */
  hours: number;
  stepCount: number;
  batchCount: number;
  /** 1 - audio / (longest · count) over all batches. */
  paddingShare: number;
  /** Items that no rank gets in this epoch, and hours of them, by reason: `oversized`, `beyond_buckets`, `last_batch`, `scatter`, `first_exhausted`, `epoch_items`. */
  lost: Readonly<Record<string, { items: number; hours: number }>>;
  /** Draws that repeat an item to make steps equal. */
  padDraws: number;
  buckets: readonly BucketReport[];
  /** Hours over all ranks of each step, with what is repeated; for histograms. */
  hoursOfSteps: Float64Array;
  leaves: readonly { name: string; share: number; draws: number; passes: number }[];
}

/** What one bucket holds. */
export interface BucketReport {
  /** Seconds, above the bucket before and up to and with. */
  fromSeconds: number;
  toSeconds: number;
  toTokens: number | undefined;
  items: number;
  hours: number;
  batches: number;
  smallestBatch: number;
  largestBatch: number;
  paddingShare: number;
}
