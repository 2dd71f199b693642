import type { EpochOrder } from './batch-list.js';
import { BEYOND_BUCKETS, OVERSIZED } from './buckets.js';
import { classifyItem } from './check-items.js';
import type { PlanContext } from './plan-context.js';
import type { LostDraws } from './plan-report.js';
import { sortWindows } from './sort-windows.js';
import { atSpeed } from './speed-of.js';

/** Batches of an epoch in the order in which buckets close them, bucket after bucket. */
export interface FormedBatches {
  /** The draws by bucket, and then as they came. */
  order: EpochOrder;
  /** Batch i is positions [starts[i], ends[i]) of `order`. */
  starts: Uint32Array;
  ends: Uint32Array;
  buckets: Uint16Array;
  /** Of each batch, the draw of the epoch that it was complete with; `Infinity` where the epoch ended before it was full. */
  closedAt: Float64Array;
  /** Draws that are in no batch, by reason. */
  lost: LostDraws[];
}

/**
 * Deals draws out to buckets, in order; each bucket fills one batch after the other and closes it before an item that would break a limit.
 *
 * @param order kept as lists, for it is read several times
 */
export function formBatches(order: EpochOrder, context: PlanContext): FormedBatches {
  const { buckets } = context;
  const drawMicros = new Float64Array(order.length);
  const drawBuckets = new Uint16Array(order.length);
  classifyDraws(order, context, drawMicros, drawBuckets);
  const { sorted, ends } = sortByBucket(drawBuckets, buckets.count);
  const kept = ends[buckets.count - 1]!;
  if (buckets.kind === 'durations') {
    const { bucketWindow: window, shuffle: isShuffled } = context.settings;
    sortWindows(sorted.subarray(0, kept), { drawBuckets, drawMicros, window, isShuffled });
  }
  const closing = new BatchClosing(kept);
  for (let bucket = 0; bucket < buckets.count; bucket += 1) {
    closing.closeBucket(bucket, ends[bucket - 1] ?? 0, ends[bucket]!, sorted, drawMicros, context);
  }
  const oversizedEnd = ends[buckets.count]!;
  const lost: LostDraws[] = [
    { reason: 'oversized', order: pickDraws(order, sorted.subarray(kept, oversizedEnd)) },
    { reason: 'beyond_buckets', order: pickDraws(order, sorted.subarray(oversizedEnd)) },
  ];
  return closing.finish(pickDraws(order, sorted.subarray(0, kept)), lost);
}

function classifyDraws(
  order: EpochOrder,
  context: PlanContext,
  drawMicros: Float64Array,
  drawBuckets: Uint16Array,
): void {
  const { lookup, speedOf, rowBuckets } = context;
  for (let position = 0; position < order.length; position += 1) {
    const item = order.itemAt(position);
    const speed = speedOf === undefined ? 1 : speedOf(item, order.passAt(position));
    const micros = atSpeed(lookup.durationMicros(item), speed);
    drawMicros[position] = micros;
    drawBuckets[position] = rowBuckets?.[item] ?? classifyItem(item, micros, context);
  }
}

/** Positions by bucket, in order: those that are oversized and beyond all buckets come last. `ends` has both of them too. */
function sortByBucket(drawBuckets: Uint16Array, bucketCount: number): { sorted: Uint32Array; ends: Uint32Array } {
  const slotOf = (bucket: number): number => {
    if (bucket === OVERSIZED) return bucketCount;
    return bucket === BEYOND_BUCKETS ? bucketCount + 1 : bucket;
  };
  const ends = new Uint32Array(bucketCount + 2);
  for (const bucket of drawBuckets) ends[slotOf(bucket)]! += 1;
  let total = 0;
  for (let slot = 0; slot < ends.length; slot += 1) {
    total += ends[slot]!;
    ends[slot] = total;
  }
  const sorted = new Uint32Array(drawBuckets.length);
  const next = new Uint32Array(ends.length);
  next.set(ends.subarray(0, -1), 1);
  for (let position = 0; position < drawBuckets.length; position += 1) {
    const slot = slotOf(drawBuckets[position]!);
    sorted[next[slot]!] = position;
    next[slot]! += 1;
  }
  return { sorted, ends };
}

/** The draws at some positions of an order. */
export function pickDraws(order: EpochOrder, positions: ArrayLike<number>): EpochOrder {
  return {
    length: positions.length,
    itemAt: (position) => order.itemAt(positions[position]!),
    passAt: (position) => order.passAt(positions[position]!),
  };
}

/** Batches as they are closed. */
class BatchClosing {
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #buckets: Uint16Array;
  readonly #closedAt: Float64Array;
  /** Positions of batches that are left out. */
  readonly #left: number[] = [];
  #count = 0;

  /** @param most batches: not more than there are draws */
  constructor(most: number) {
    this.#starts = new Uint32Array(most);
    this.#ends = new Uint32Array(most);
    this.#buckets = new Uint16Array(most);
    this.#closedAt = new Float64Array(most);
  }

  closeBucket(
    bucket: number,
    from: number,
    end: number,
    sorted: Uint32Array,
    drawMicros: Float64Array,
    { buckets, settings }: PlanContext,
  ): void {
    const limit = buckets.limitOf(bucket);
    let start = from;
    let longestMicros = 0;
    for (let at = from; at < end; at += 1) {
      const micros = drawMicros[sorted[at]!]!;
      const longest = Math.max(longestMicros, micros);
      if (at > start && !limit.fits(at - start + 1, longest)) {
        this.#close(start, at, bucket, sorted[at - 1]!);
        start = at;
        longestMicros = micros;
      } else {
        longestMicros = longest;
      }
    }
    if (end === start) return;
    const isFull = !limit.fits(end - start + 1, longestMicros);
    const hasSize = settings.batchSize !== undefined || settings.bucketBatchSizes !== undefined;
    if (!isFull && hasSize && settings.lastBatch === 'drop') {
      for (let at = start; at < end; at += 1) this.#left.push(at);
    } else {
      this.#close(start, end, bucket, isFull ? sorted[end - 1]! : Infinity);
    }
  }

  #close(start: number, end: number, bucket: number, closedAt: number): void {
    this.#starts[this.#count] = start;
    this.#ends[this.#count] = end;
    this.#buckets[this.#count] = bucket;
    this.#closedAt[this.#count] = closedAt;
    this.#count += 1;
  }

  finish(order: EpochOrder, lost: readonly LostDraws[]): FormedBatches {
    return {
      order,
      starts: this.#starts.slice(0, this.#count),
      ends: this.#ends.slice(0, this.#count),
      buckets: this.#buckets.slice(0, this.#count),
      closedAt: this.#closedAt.slice(0, this.#count),
      lost: [...lost, { reason: 'last_batch', order: pickDraws(order, this.#left) }],
    };
  }
}
