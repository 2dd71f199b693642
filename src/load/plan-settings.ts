import { UsageError } from '../errors.js';
import type { BucketBins, PlanOptions } from './batch-options.js';

/** Options of a planner. */
export interface PlannerOptions extends PlanOptions {
  /** Ranks, 1 or more. */
  worldSize: number;
}

/** Options that were looked at, with their defaults. Durations are whole microseconds. */
export interface PlanSettings {
  worldSize: number;
  seed: number;
  shuffle: boolean;
  strategy: 'exact' | 'scatter' | 'replicate';
  strict: boolean;
  lastBatch: 'partial' | 'pad' | 'drop';
  oversized: 'error' | 'drop' | 'alone';
  stop: 'first_exhausted' | 'all_exhausted';
  epochItems: number | undefined;
  numCopies: number;
  speeds: readonly number[];
  maxMicros: number;
  batchMicros: number;
  quadraticMicros: number;
  batchSize: number | undefined;
  maxSamples: number;
  bucketCount: number;
  tokenBuckets: number;
  bins: BucketBins | undefined;
  bucketBatchSizes: readonly number[] | number | undefined;
  bucketWindow: number;
  bucketOrder: 'synced_randomized' | 'fixed_order' | 'fully_randomized';
  strict2d: boolean;
}

/** Buckets are numbered in 16 bits. */
const MAX_BUCKETS = 2 ** 15;
/** Batches of one step are kept as a list. */
export const MAX_RANKS = 2 ** 20;

/**
 * Looks at options and fills in defaults.
 *
 * @throws {RangeError} when a number is out of its range.
 * @throws {UsageError} when there is no limit, or options contradict each other.
 */
export function settlePlanOptions(options: PlannerOptions): PlanSettings {
  const { seed = 0, numCopies = 1, bucketWindow = 10_000, bucketCount = 1, tokenBuckets = 1 } = options;
  if (!Number.isSafeInteger(seed)) throw new RangeError(`seed must be a whole number, not ${seed}`);
  checkCount('worldSize', options.worldSize, MAX_RANKS);
  checkCount('numCopies', numCopies, 1000);
  checkCount('bucketWindow', bucketWindow);
  checkCount('bucketCount', bucketCount, MAX_BUCKETS);
  checkCount('tokenBuckets', tokenBuckets, MAX_BUCKETS);
  if (bucketCount * tokenBuckets > MAX_BUCKETS) {
    throw new RangeError(`There can be ${MAX_BUCKETS} buckets at most, not ${bucketCount} · ${tokenBuckets}`);
  }
  if (options.batchSize !== undefined) checkCount('batchSize', options.batchSize);
  if (options.maxSamples !== undefined) checkCount('maxSamples', options.maxSamples);
  if (options.epochItems !== undefined) checkCount('epochItems', options.epochItems);
  checkSpeeds(options.speeds);
  checkLimits(options, numCopies);
  checkBuckets(options);
  return {
    worldSize: options.worldSize,
    seed,
    shuffle: options.shuffle ?? true,
    strategy: oneOf('strategy', options.strategy ?? 'exact', ['exact', 'scatter', 'replicate']),
    strict: options.strict ?? false,
    lastBatch: oneOf('lastBatch', options.lastBatch ?? 'partial', ['partial', 'pad', 'drop']),
    oversized: oneOf('oversized', options.oversized ?? 'error', ['error', 'drop', 'alone']),
    stop: oneOf('stop', options.stop ?? 'all_exhausted', ['first_exhausted', 'all_exhausted']),
    epochItems: options.epochItems,
    numCopies,
    speeds: options.speeds ?? [],
    maxMicros: toMicros('maxDuration', options.maxDuration),
    batchMicros: toMicros('batchDuration', options.batchDuration),
    quadraticMicros: toMicros('quadraticDuration', options.quadraticDuration),
    batchSize: options.batchSize,
    maxSamples: options.maxSamples ?? Number.POSITIVE_INFINITY,
    bucketCount,
    tokenBuckets,
    bins: options.bins,
    bucketBatchSizes: options.bucketBatchSizes,
    bucketWindow,
    bucketOrder: oneOf('bucketOrder', options.bucketOrder ?? 'synced_randomized', [
      'synced_randomized',
      'fixed_order',
      'fully_randomized',
    ]),
    strict2d: options.strict2d ?? true,
  };
}

function checkCount(name: string, value: number, most = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return;
  const bound = most === Number.MAX_SAFE_INTEGER ? '1 or more' : `from 1 to ${most}`;
  throw new RangeError(`${name} must be a whole number ${bound}, not ${value}`);
}

function oneOf<T extends string>(name: string, value: T, choices: readonly T[]): T {
  if (choices.includes(value)) return value;
  throw new RangeError(`${name} must be ${choices.join(', ')}, not ${value}`);
}

/** Without a limit, Infinity. */
function toMicros(name: string, seconds: number | undefined): number {
  if (seconds === undefined) return Number.POSITIVE_INFINITY;
  if (!(Number.isFinite(seconds) && seconds > 0 && seconds < 1e9)) {
    throw new RangeError(`${name} must be seconds above 0, not ${seconds}`);
  }
  return Math.round(seconds * 1e6);
}

function checkSpeeds(speeds: readonly number[] | undefined): void {
  if (speeds === undefined) return;
  if (speeds.length === 0) throw new RangeError('speeds must name one factor or more');
  const wrong = speeds.find((speed) => !(Number.isFinite(speed) && speed >= 0.1 && speed <= 10));
  if (wrong !== undefined) throw new RangeError(`speeds must be factors from 0.1 to 10, not ${wrong}`);
}

/** Whether anything says how large a batch may be. */
export function isLimited(options: PlanOptions): boolean {
  const { maxDuration, batchDuration, batchSize, maxSamples, bucketBatchSizes } = options;
  return [maxDuration, batchDuration, batchSize, maxSamples, bucketBatchSizes].some((limit) => limit !== undefined);
}

function checkLimits(options: PlannerOptions, numCopies: number): void {
  const { batchDuration, quadraticDuration, batchSize, maxSamples } = options;
  if (!isLimited(options)) {
    throw new UsageError('Cannot plan batches: nothing says how large they may be', {
      hint: 'Give maxDuration (seconds of padded audio), batchDuration, batchSize, maxSamples or bucketBatchSizes.',
    });
  }
  if (quadraticDuration !== undefined && batchDuration === undefined) {
    throw new UsageError('quadraticDuration is given without batchDuration, which it belongs to', {
      hint: 'Give batchDuration, or leave quadraticDuration out.',
    });
  }
  for (const [name, limit] of Object.entries({ batchSize, maxSamples })) {
    if (limit !== undefined && limit < numCopies) {
      throw new UsageError(`${name} is ${limit}, fewer than the ${numCopies} copies of one item`, {
        hint: `Limits count all copies: make ${name} a multiple of numCopies.`,
      });
    }
  }
}

function checkBuckets(options: PlannerOptions): void {
  const { bins, bucketCount, tokenBuckets, bucketBatchSizes, numCopies = 1 } = options;
  if (bins !== undefined && (bucketCount !== undefined || tokenBuckets !== undefined)) {
    throw new UsageError('Both bins and a number of buckets are given', { hint: 'Leave out one of them.' });
  }
  if (tokenBuckets !== undefined && tokenBuckets > 1 && (bucketCount ?? 1) < 2) {
    throw new UsageError('tokenBuckets divides buckets of durations, but there are none', {
      hint: 'Give bucketCount, 2 or more.',
    });
  }
  if (bins !== undefined) checkBins(bins);
  const sizes = typeof bucketBatchSizes === 'number' ? [bucketBatchSizes] : (bucketBatchSizes ?? []);
  for (const size of sizes) {
    checkCount('bucketBatchSizes', size);
    if (size < numCopies) {
      throw new UsageError(`A bucket's batch size is ${size}, fewer than the ${numCopies} copies of one item`, {
        hint: 'Limits count all copies.',
      });
    }
  }
}

/** Ascending and distinct: by seconds, and in pairs by tokens among those of the same seconds. */
function checkBins(bins: BucketBins): void {
  if (bins.length === 0 || bins.length > MAX_BUCKETS) {
    throw new RangeError(`bins must be 1 to ${MAX_BUCKETS} bounds, not ${bins.length}`);
  }
  const pairs = bins.map((bin): readonly [number, number] => (typeof bin === 'number' ? [bin, 0] : bin));
  const isMixed = bins.some((bin) => typeof bin !== typeof bins[0]);
  if (isMixed) throw new RangeError('bins must be seconds, or pairs of seconds and tokens: not both');
  for (const [at, [seconds, tokens]] of pairs.entries()) {
    if (!(Number.isFinite(seconds) && seconds > 0 && Number.isSafeInteger(tokens) && tokens >= 0)) {
      throw new RangeError(`Bin ${at} is ${JSON.stringify(bins[at])}: it must be seconds above 0, and whole tokens`);
    }
    const [earlierSeconds, earlierTokens] = pairs[at - 1] ?? [0, 0];
    const difference = Math.round(seconds * 1e6) - Math.round(earlierSeconds * 1e6);
    if (at > 0 && (difference < 0 || (difference === 0 && tokens <= earlierTokens))) {
      throw new RangeError(
        `Bin ${at} is ${JSON.stringify(bins[at])}, after ${JSON.stringify(bins[at - 1])}: bins must ascend`,
      );
    }
  }
}
