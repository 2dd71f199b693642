import type { ItemTable } from './item-table.js';

/** Upper bounds of buckets, inclusive and ascending: whole microseconds, and tokens in two dimensions. */
export interface BinBounds {
  micros: Float64Array;
  tokens: Float64Array | undefined;
}

/**
 * Bins of equal total time over all rows of a table, and in each of them bins of equal total tokens. Excerpts count by their duration once,
 * so that the last bin holds them, too.
 *
 * @returns fewer than were asked for only where there are fewer distinct values
 */
export function estimateBins(table: ItemTable, bucketCount: number, tokenBuckets: number): BinBounds {
  const excerpts = table.leaves.flatMap(({ excerpts: of, firstItem, endItem }) =>
    of === undefined || endItem === firstItem ? [] : [of.durationMicros],
  );
  const sorted = new Float64Array(table.rowCount + excerpts.length);
  sorted.set(table.durationsMicros.subarray(0, table.rowCount));
  sorted.set(excerpts, table.rowCount);
  const micros = divideEqually(sorted.sort(), bucketCount);
  if (tokenBuckets < 2) return { micros, tokens: undefined };
  return divideTokens(table, micros, tokenBuckets);
}

/**
 * Upper bounds that divide values into so many parts of equal sums, as nearly as whole runs of equal values allow. A run goes to the side
 * that comes closer; where it swallows more than one share, what is left is divided anew, so that there are as many distinct bounds as asked
 * for wherever there are as many distinct values. The last bound is the largest value.
 *
 * Lhotse's estimate cuts after the value with which a fixed share is exceeded, which repeats a bound where many values are equal and
 * gives fewer bounds than asked for.
 *
 * @param sorted ascending, none below 0
 */
export function divideEqually(sorted: Float64Array, count: number): Float64Array {
  const bounds: number[] = [];
  let valuesLeft = countDistinct(sorted);
  let sumLeft = sorted.reduce((sum, value) => sum + value, 0);
  let sum = 0;
  let bound = -1;
  for (let at = 0; at < sorted.length && bounds.length < count - 1;) {
    const value = sorted[at]!;
    const runEnd = endOfRun(sorted, at);
    const runSum = value * (runEnd - at);
    const partsLeft = count - bounds.length;
    const target = sumLeft / partsLeft;
    const isNearerBefore = sum > 0 && target - sum < sum + runSum - target;
    const mustClose = bound >= 0 && valuesLeft < partsLeft;
    if (bound >= 0 && (isNearerBefore || mustClose)) {
      bounds.push(bound);
      sumLeft -= sum;
      sum = 0;
      bound = -1;
      continue;
    }
    sum += runSum;
    bound = value;
    valuesLeft -= 1;
    at = runEnd;
    if (sum < target || valuesLeft === 0) continue;
    bounds.push(bound);
    sumLeft -= sum;
    sum = 0;
    bound = -1;
  }
  const largest = sorted.at(-1);
  if (largest !== undefined && bounds.at(-1) !== largest) bounds.push(largest);
  return Float64Array.from(bounds);
}

function countDistinct(sorted: Float64Array): number {
  let count = 0;
  for (let at = 0; at < sorted.length; at += 1) if (at === 0 || sorted[at] !== sorted[at - 1]) count += 1;
  return count;
}

/** Where the values that equal one at a place end. */
function endOfRun(sorted: Float64Array, at: number): number {
  const value = sorted[at]!;
  let end = at + 1;
  while (end < sorted.length && sorted[end] === value) end += 1;
  return end;
}

/** The first of ascending bounds that a value is not above; their number where it is above all. */
export function firstNotBelow(bounds: Float64Array, value: number): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bounds[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function divideTokens(
  { rowCount, durationsMicros, tokenCounts }: ItemTable,
  micros: Float64Array,
  count: number,
): BinBounds {
  const ends = new Uint32Array(micros.length + 1);
  for (let row = 0; row < rowCount; row += 1) ends[firstNotBelow(micros, durationsMicros[row]!) + 1]! += 1;
  for (let bin = 1; bin < ends.length; bin += 1) ends[bin]! += ends[bin - 1]!;
  const next = ends.slice();
  const byBin = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row += 1) {
    const bin = firstNotBelow(micros, durationsMicros[row]!);
    byBin[next[bin]!] = tokenCounts?.[row] ?? 0;
    next[bin]! += 1;
  }
  const flatMicros: number[] = [];
  const flatTokens: number[] = [];
  for (const [bin, bound] of micros.entries()) {
    const tokens = divideEqually(byBin.subarray(ends[bin], ends[bin + 1]).sort(), count);
    // A bin of excerpts alone has no rows, and they no tokens.
    for (const most of tokens.length === 0 ? [0] : tokens) {
      flatMicros.push(bound);
      flatTokens.push(most);
    }
  }
  return { micros: Float64Array.from(flatMicros), tokens: Float64Array.from(flatTokens) };
}
