/** What a batch may hold. Every limit is hard: it is looked at before an item is added. */
export interface BatchLimits {
  /** Seconds of padded audio: longest · count. */
  maxDuration?: number | undefined;
  /** Seconds: count · max(d + d²/quadraticDuration), as Lhotse has it. */
  batchDuration?: number | undefined;
  quadraticDuration?: number | undefined;
  /** Items of a batch, exactly but for the last of a bucket. */
  batchSize?: number | undefined;
  /** Items at most, beside a limit of duration. */
  maxSamples?: number | undefined;
}

/** Upper bounds of buckets, inclusive, ascending and distinct: seconds, or pairs of seconds and tokens. */
export type BucketBins = readonly number[] | readonly (readonly [number, number])[];

/** How items are grouped by duration. */
export interface BucketOptions {
  /** Estimates so many bins from all items; of two dimensions where `tokenBuckets` is set. Default 1: no buckets. */
  bucketCount?: number | undefined;
  /** Buckets of tokens in each bucket of durations. */
  tokenBuckets?: number | undefined;
  /** The bins themselves, instead. */
  bins?: BucketBins | undefined;
  /** Batch size of each bucket; a single number b gives bucket i of B a size of (B - i) · b, as NeMo does. */
  bucketBatchSizes?: readonly number[] | number | undefined;
  /** Items of the permuted epoch that buckets are filled from at a time. Default 10,000. */
  bucketWindow?: number | undefined;
  /** Of static buckets: one order for all ranks, as they are listed, or one for each rank. Default `synced_randomized`. */
  bucketOrder?: 'synced_randomized' | 'fixed_order' | 'fully_randomized' | undefined;
  /** In two dimensions: items must fit the tokens of the first bucket of their duration (strict), or go to the first that has both. Default true. */
  strict2d?: boolean | undefined;
}

/** How the plan of an epoch is made. */
export interface PlanOptions extends BatchLimits, BucketOptions {
  seed?: number | undefined;
  /** A new order for each epoch. Default true. */
  shuffle?: boolean | undefined;
  /** `exact` deals batches of all items out to the ranks; the others deal out shards, as WebDataset and NeMo do. Default `exact`. */
  strategy?: 'exact' | 'scatter' | 'replicate' | undefined;
  /** Refuses a strategy that loses or repeats items. Default false. */
  strict?: boolean | undefined;
  /**
   * What makes the number of steps equal on all ranks: `partial` splits batches of the last step, so that each item is there exactly once;
   * `pad` repeats items (marked); `drop` leaves items out (counted). Default `partial`.
   */
  lastBatch?: 'partial' | 'pad' | 'drop' | undefined;
  /** An item that is alone above a limit: refuses the plan, is left out (counted), or makes a batch of its own. Default `error`. */
  oversized?: 'error' | 'drop' | 'alone' | undefined;
  /** When an epoch of weighted sources ends. Default `all_exhausted`; needs `epochItems` where a source has no end. */
  stop?: 'first_exhausted' | 'all_exhausted' | undefined;
  /** Draws of an epoch, instead. */
  epochItems?: number | undefined;
  /** Each item so many times in its batch, each augmented for itself: limits count all of them. Default 1. */
  numCopies?: number | undefined;
  /** Factors that one is drawn from for each item: durations are divided by it before limits are looked at. Default none. */
  speeds?: readonly number[] | undefined;
}
