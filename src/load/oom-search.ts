/** How batch sizes are searched. */
export interface BatchSizeSearchOptions {
  /** Tried first for the largest bucket. Default 32. */
  startBatchSize?: number | undefined;
  /** The search of a bucket ends where the smallest size that failed is at most this share above the largest that did not. Default 0.05. */
  tolerance?: number | undefined;
  /** No larger size is tried. Default 65,536. */
  maxBatchSize?: number | undefined;
  /** Told of each trial once it is over. */
  onTrial?: ((trial: { bucketIndex: number; batchSize: number; isFitting: boolean }) => void) | undefined;
  /** Ends the search between two trials. */
  signal?: AbortSignal | undefined;
}

/** What was found for one bucket. */
export interface FoundBatchSize {
  /** The largest size that a trial succeeded with; 0 where not even a single item fits. */
  batchSize: number;
  /** The smallest that failed; undefined where even `maxBatchSize` fits. */
  smallestFailed: number | undefined;
  trialCount: number;
}

const DEFAULT_START = 32;
const DEFAULT_TOLERANCE = 0.05;
const DEFAULT_MAX = 65_536;

/**
 * The largest batch that each bucket has memory for, as a trial tells: one step of a training on made-up data of the bucket's size, which answers
 * false, or resolves to it, when memory runs out. The bucket of the largest items comes first; the next starts at twice what was found before.
 * Sizes double until one fails, or halve until one fits, then the gap is bisected. No size is tried twice for a bucket, and none takes more than
 * log2(`maxBatchSize`) + log2(1 / `tolerance`) + 4 trials, whatever the trials answer.
 *
 * Source: NeMo, `oomptimizer.py`, which does not end where a single item fails.
 *
 * @param buckets smallest items first, as bins are listed
 * @returns what was found, in the order of the buckets; within `tolerance`, or one item, of the true limit where larger batches never fit better
 * @throws {RangeError} when an option is out of range; what a trial throws; the signal's reason.
 */
export async function searchBatchSizes<Bucket>(
  buckets: readonly Bucket[],
  trial: (bucket: Bucket, batchSize: number) => Promise<boolean> | boolean,
  options: BatchSizeSearchOptions = {},
): Promise<FoundBatchSize[]> {
  const {
    startBatchSize = DEFAULT_START,
    tolerance = DEFAULT_TOLERANCE,
    maxBatchSize = DEFAULT_MAX,
    onTrial,
    signal,
  } = options;
  requireSize('startBatchSize', startBatchSize);
  requireSize('maxBatchSize', maxBatchSize);
  if (!(tolerance >= 0 && tolerance < 1))
    throw new RangeError(`tolerance must be from 0 to below 1, but is ${tolerance}`);
  const found: FoundBatchSize[] = [];
  let start = startBatchSize;
  for (const [bucketIndex, bucket] of [...buckets.entries()].toReversed()) {
    const isFitting = async (batchSize: number): Promise<boolean> => {
      signal?.throwIfAborted();
      const fits = await trial(bucket, batchSize);
      onTrial?.({ bucketIndex, batchSize, isFitting: fits });
      return fits;
    };
    const result = await searchOne(isFitting, Math.min(start, maxBatchSize), maxBatchSize, tolerance);
    found.push(result);
    start = Math.max(1, 2 * result.batchSize);
  }
  return found.toReversed();
}

async function searchOne(
  isFitting: (batchSize: number) => Promise<boolean>,
  start: number,
  maxBatchSize: number,
  tolerance: number,
): Promise<FoundBatchSize> {
  const found: FoundBatchSize = { batchSize: 0, smallestFailed: undefined, trialCount: 0 };
  for (let size = start; size > 0; size = nextSize(found, maxBatchSize, tolerance)) {
    found.trialCount += 1;
    if (await isFitting(size)) found.batchSize = size;
    else found.smallestFailed = size;
  }
  return found;
}

/** What is tried next; 0 at the end. What fits and what fails close in on the limit from both sides, so no size comes twice. */
function nextSize({ batchSize, smallestFailed }: FoundBatchSize, maxBatchSize: number, tolerance: number): number {
  if (smallestFailed === undefined) return batchSize < maxBatchSize ? Math.min(2 * batchSize, maxBatchSize) : 0;
  if (batchSize === 0) return Math.floor(smallestFailed / 2);
  const isClose = smallestFailed - batchSize <= Math.max(1, tolerance * smallestFailed);
  return isClose ? 0 : Math.floor((batchSize + smallestFailed) / 2);
}

function requireSize(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new RangeError(`${name} must be a whole number of 1 or more, but is ${value}`);
}
