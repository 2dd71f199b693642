import { shuffledIndices } from '../random/keyed.js';
import type { Buckets } from './buckets.js';
import type { FormedBatches } from './form-batches.js';
import type { PlanSettings } from './plan-settings.js';

/** What the order of batches depends on, besides the batches. */
export interface Arranging {
  settings: PlanSettings;
  buckets: Buckets;
  epoch: number;
  /** Batches of a step. */
  ranks: number;
  /** Told apart where ranks have orders of buckets of their own. */
  rank: number;
}

/**
 * The order in which batches are taken, as numbers of `formed`.
 *
 * Without buckets: as they were formed. Of static buckets: bucket after bucket. Of buckets of durations: in steps, each of one bucket, so that
 * ranks work on equally long audio at a time. A bucket has a step ready once it has closed as many batches as there are ranks; those that become
 * ready within one window of draws are taken in a random order, so that buckets mix. What is left at the end, fewer batches than ranks in
 * each bucket, fills steps with what is left in the buckets beside it.
 *
 * ```
 * window of draws      |        0        |        1        | end
 * steps ready          b2 b0 b1 b0        b1 b2 b0           b0+b1 b2+b0′
 * ```
 */
export function arrangeBatches(formed: FormedBatches, arranging: Arranging): Uint32Array {
  const { kind } = arranging.buckets;
  if (kind === 'none') return Uint32Array.from(formed.starts, (_, batch) => batch);
  return kind === 'static' ? arrangeStatic(formed, arranging) : arrangeInSteps(formed, arranging);
}

/** Where each bucket's batches end, for they lie side by side. */
export function bucketEnds(formedBuckets: Uint16Array, count: number): Uint32Array {
  const ends = new Uint32Array(count);
  for (const bucket of formedBuckets) ends[bucket]! += 1;
  for (let bucket = 1; bucket < count; bucket += 1) ends[bucket]! += ends[bucket - 1]!;
  return ends;
}

/** The order of static buckets in an epoch. */
export function orderStatic({ settings, buckets, epoch, rank }: Arranging): Uint32Array {
  const { seed, shuffle, bucketOrder } = settings;
  if (!shuffle || bucketOrder === 'fixed_order') return Uint32Array.from({ length: buckets.count }, (_, at) => at);
  const role = bucketOrder === 'fully_randomized' ? `load/buckets/${epoch}/rank/${rank}` : `load/buckets/${epoch}`;
  return shuffledIndices(buckets.count, seed, role);
}

function arrangeStatic(formed: FormedBatches, arranging: Arranging): Uint32Array {
  const ends = bucketEnds(formed.buckets, arranging.buckets.count);
  const arranged = new Uint32Array(formed.starts.length);
  let next = 0;
  for (const bucket of orderStatic(arranging)) {
    for (let batch = ends[bucket - 1] ?? 0; batch < ends[bucket]!; batch += 1) {
      arranged[next] = batch;
      next += 1;
    }
  }
  return arranged;
}

function arrangeInSteps(formed: FormedBatches, arranging: Arranging): Uint32Array {
  const { ranks, settings, epoch } = arranging;
  const { firstBatches, left } = findSteps(formed, arranging);
  const windowOf = (step: number): number => {
    const closedAt = formed.closedAt[firstBatches[step]! + ranks - 1]!;
    return Math.floor(closedAt / settings.bucketWindow);
  };
  const sequence = settings.shuffle
    ? shuffleWithin(
        Float64Array.from(firstBatches, (_, step) => windowOf(step)),
        settings.seed,
        `load/steps/${epoch}`,
      )
    : sortByClosing(firstBatches, formed.closedAt, ranks);
  const arranged = new Uint32Array(formed.starts.length);
  let next = 0;
  for (const step of sequence) {
    for (let rank = 0; rank < ranks; rank += 1) {
      arranged[next] = firstBatches[step]! + rank;
      next += 1;
    }
  }
  arranged.set(arrangeLeft(left, arranging), next);
  return arranged;
}

/** The first batch of each step that is of one bucket; and the batches that are in none of them. */
function findSteps(
  { buckets: formedBuckets }: FormedBatches,
  { ranks, buckets }: Arranging,
): { firstBatches: Uint32Array; left: Uint32Array } {
  const ends = bucketEnds(formedBuckets, buckets.count);
  const firstBatches = new Uint32Array(Math.floor(formedBuckets.length / ranks));
  const left = new Uint32Array(formedBuckets.length);
  let stepCount = 0;
  let leftCount = 0;
  for (const [bucket, end] of ends.entries()) {
    let batch = ends[bucket - 1] ?? 0;
    for (; batch + ranks <= end; batch += ranks) {
      firstBatches[stepCount] = batch;
      stepCount += 1;
    }
    for (; batch < end; batch += 1) {
      left[leftCount] = batch;
      leftCount += 1;
    }
  }
  return { firstBatches: firstBatches.subarray(0, stepCount), left: left.subarray(0, leftCount) };
}

/** Steps by their window, in an order of chance within each. */
function shuffleWithin(windows: Float64Array, seed: number, role: string): Uint32Array {
  const shuffled = shuffledIndices(windows.length, seed, role);
  // Stable, so that chance decides among equal windows.
  return shuffled.sort((one, other) => {
    const [a, b] = [windows[one]!, windows[other]!];
    return a === b ? 0 : a - b;
  });
}

function sortByClosing(firstBatches: Uint32Array, closedAt: Float64Array, ranks: number): Uint32Array {
  return Uint32Array.from(firstBatches, (_, step) => step).sort((one, other) => {
    const [a, b] = [closedAt[firstBatches[one]! + ranks - 1]!, closedAt[firstBatches[other]! + ranks - 1]!];
    return a === b ? one - other : a - b;
  });
}

/**
 * Batches that are left, in the order of their buckets: steps of neighbours, in an order of chance. The step that is not whole comes last; chance
 * also decides which it is, for `drop` leaves it out.
 */
function arrangeLeft(left: Uint32Array, { ranks, settings, epoch }: Arranging): Uint32Array {
  const stepCount = Math.floor(left.length / ranks);
  if (!settings.shuffle || left.length === 0) return left;
  const rest = left.length - stepCount * ranks;
  const [from = 0] = shuffledIndices(left.length, settings.seed, `load/left/${epoch}`);
  const arranged = new Uint32Array(left.length);
  const whole = new Uint32Array(stepCount * ranks);
  let next = 0;
  for (let at = 0; at < left.length; at += 1) {
    const place = (at - from + left.length) % left.length;
    if (place < rest) arranged[whole.length + place] = left[at]!;
    else whole[next++] = left[at]!;
  }
  for (const [at, step] of shuffledIndices(stepCount, settings.seed, `load/left-steps/${epoch}`).entries()) {
    arranged.set(whole.subarray(step * ranks, (step + 1) * ranks), at * ranks);
  }
  return arranged;
}
