import { UsageError } from '../errors.js';
import { BatchLimit } from './batch-limits.js';
import type { BucketBins } from './batch-options.js';
import { estimateBins, firstNotBelow, type BinBounds } from './bins.js';
import type { ItemLookup } from './item-pools.js';
import type { ItemTable } from './item-table.js';
import type { BucketBound } from './plan-report.js';
import type { PlanSettings } from './plan-settings.js';
import type { PlanWarning } from './plan-warnings.js';
import { findStaticBuckets } from './static-buckets.js';

/** What becomes of draws that no batch takes. */
export const BEYOND_BUCKETS = 0xffff;
export const OVERSIZED = 0xfffe;

/** Sorts draws into buckets. */
export interface Buckets {
  /** `none` is one bucket that nobody asked for. */
  readonly kind: 'none' | 'durations' | 'static';
  readonly count: number;
  /** Undefined where buckets are none of durations. */
  readonly bins: BucketBins | undefined;
  /** For reports. */
  readonly bounds: readonly BucketBound[];
  /** A bucket from 0 on, or `BEYOND_BUCKETS`. */
  bucketOf(micros: number, item: number): number;
  limitOf(bucket: number): BatchLimit;
}

/**
 * The buckets that options ask for: given bins, estimated ones, or those of the sources.
 *
 * @throws {UsageError} when batch sizes are of another number of buckets, or tokens are needed and not there.
 */
export function createBuckets(
  table: ItemTable,
  lookup: ItemLookup,
  settings: PlanSettings,
  warnings: PlanWarning[],
): Buckets {
  const bounds = findBounds(table, settings, warnings);
  const hasStatic = table.leaves.some((leaf) => leaf.bucket !== undefined);
  if (bounds !== undefined && bounds.micros.length > 0) {
    if (hasStatic) warnings.push(STATIC_IGNORED);
    return new DurationBuckets(bounds, settings, lookup);
  }
  if (hasStatic && settings.bins === undefined && settings.bucketCount === 1) {
    const found = findStaticBuckets(table, lookup);
    const limits = limitsOf(settings, found.count);
    return { kind: 'static', bins: undefined, ...found, limitOf: (bucket) => limits[bucket]! };
  }
  const limits = limitsOf({ ...settings, bucketBatchSizes: undefined }, 1);
  if (settings.bucketBatchSizes !== undefined && table.leaves.some((leaf) => leaf.endItem > leaf.firstItem)) {
    throw new UsageError('bucketBatchSizes is given, but there are no buckets', {
      hint: 'Give bucketCount or bins, or batchSize instead.',
    });
  }
  return { kind: 'none', count: 1, bins: undefined, bounds: [], bucketOf: () => 0, limitOf: () => limits[0]! };
}

const STATIC_IGNORED: PlanWarning = {
  code: 'static_buckets_ignored',
  message:
    'The buckets of the sources are not kept: items are sorted into the buckets of durations that were asked for',
  hint: 'Leave out bucketCount and bins to keep them.',
};

function findBounds(table: ItemTable, settings: PlanSettings, warnings: PlanWarning[]): BinBounds | undefined {
  const { bins, bucketCount, tokenBuckets } = settings;
  const needsTokens = tokenBuckets > 1 || typeof bins?.[0] === 'object';
  if (needsTokens && table.tokenCounts === undefined && table.rowCount > 0) {
    throw new UsageError('Buckets of tokens are asked for, but the tokens of the rows were not counted', {
      hint: 'Open the sources with a tokenizer.',
    });
  }
  if (bins !== undefined) return givenBounds(bins);
  if (bucketCount < 2) return undefined;
  const bounds = estimateBins(table, bucketCount, tokenBuckets);
  const wanted = bucketCount * tokenBuckets;
  const { length } = bounds.micros;
  if (length < wanted) {
    const found = length === 1 ? 'is 1 bucket' : `are ${length} buckets`;
    const values = tokenBuckets > 1 ? 'durations or tokens' : 'durations';
    warnings.push({
      code: 'fewer_buckets',
      message: `There ${found} instead of ${wanted}: the items have no more distinct ${values}`,
      hint: undefined,
    });
  }
  return bounds;
}

function givenBounds(bins: BucketBins): BinBounds {
  const pairs = bins.map((bin): readonly [number, number] => (typeof bin === 'number' ? [bin, 0] : bin));
  const micros = Float64Array.from(pairs, ([seconds]) => Math.round(seconds * 1e6));
  if (typeof bins[0] === 'number') return { micros, tokens: undefined };
  return { micros, tokens: Float64Array.from(pairs, ([, tokens]) => tokens) };
}

/** Of each bucket: a number b gives bucket i of B a batch size of (B - i) · b, as NeMo's `bucketing_batch_size` does. */
function limitsOf(settings: PlanSettings, count: number): BatchLimit[] {
  const { bucketBatchSizes: sizes } = settings;
  if (typeof sizes === 'object' && sizes.length !== count) {
    throw new UsageError(`bucketBatchSizes has ${sizes.length} sizes for ${count} buckets`, {
      hint: 'Give one for each bucket, or a single number.',
    });
  }
  const sizeOf = (bucket: number): number | undefined =>
    typeof sizes === 'number' ? (count - bucket) * sizes : sizes?.[bucket];
  return Array.from({ length: count }, (_, bucket) => new BatchLimit(settings, sizeOf(bucket)));
}

/** Buckets by duration, or by duration and tokens. */
class DurationBuckets implements Buckets {
  readonly kind = 'durations';
  readonly count: number;
  readonly bins: BucketBins;
  readonly bounds: readonly BucketBound[];
  readonly #micros: Float64Array;
  readonly #tokens: Float64Array | undefined;
  readonly #lookup: ItemLookup;
  readonly #isStrict: boolean;
  /** Estimated bins hold all items; what a low speed makes longer goes into the last. */
  readonly #holdsAll: boolean;
  readonly #limits: readonly BatchLimit[];

  constructor({ micros, tokens }: BinBounds, settings: PlanSettings, lookup: ItemLookup) {
    this.count = micros.length;
    this.#micros = micros;
    this.#tokens = tokens;
    this.#lookup = lookup;
    this.#isStrict = settings.strict2d;
    this.#holdsAll = settings.bins === undefined;
    this.#limits = limitsOf(settings, micros.length);
    const seconds = Array.from(micros, (bound) => bound / 1e6);
    this.bins = tokens === undefined ? seconds : seconds.map((bound, at) => [bound, tokens[at]!] as const);
    this.bounds = Array.from(micros, (toMicros, at) => {
      // Of sub-buckets, the duration that the ones before all are below.
      const before = firstNotBelow(micros, toMicros) - 1;
      return { fromMicros: micros[before] ?? 0, toMicros, toTokens: tokens?.[at] };
    });
  }

  bucketOf(micros: number, item: number): number {
    const found = firstNotBelow(this.#micros, micros);
    const first = found === this.count && this.#holdsAll ? firstNotBelow(this.#micros, this.#micros.at(-1)!) : found;
    if (first === this.count) return BEYOND_BUCKETS;
    return this.#tokens === undefined ? first : this.#withTokens(first, this.#lookup.tokens(item), this.#tokens);
  }

  /**
   * The first bucket from one on that has so many tokens: strictly, among those of the same duration. Estimated ones hold all tokens of their
   * duration, but not those that speed moved there: these go to the last of it.
   */
  #withTokens(first: number, count: number, tokens: Float64Array): number {
    const micros = this.#micros[first]!;
    let at = first;
    for (; at < this.count && (!this.#isStrict || this.#micros[at] === micros); at += 1) {
      if (count <= tokens[at]!) return at;
    }
    return this.#holdsAll ? at - 1 : BEYOND_BUCKETS;
  }

  limitOf(bucket: number): BatchLimit {
    return this.#limits[bucket]!;
  }
}
