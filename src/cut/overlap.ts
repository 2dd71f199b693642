/** What the overlap rules look at. */
export interface Interval {
  startMicros: number;
  endMicros: number;
}

/** Drops the segments that have neither text nor words. */
export function dropEmpty<T extends { text: string; hasWords: boolean }>(segments: readonly T[]): T[] {
  return segments.filter(({ text, hasWords }) => text !== '' || hasWords);
}

/** Sorted by start, then end; equals keep their order. */
export function sortByTime<T extends Interval>(intervals: readonly T[]): T[] {
  return intervals.toSorted((a, b) => a.startMicros - b.startMicros || a.endMicros - b.endMicros);
}

/**
 * Marks both intervals of each pair that overlaps by `minOverlapMicros` or more, or of which one contains the other.
 *
 * Intervals that have ended by the start of another are out of its reach, so touching ones never overlap:
 *
 * ```
 * |--- a ---|            a and b touch: kept
 *           |--- b ---|
 *               |-- c ----|   b and c share |-----|: dropped if that is long enough
 *                 |d|         inside b and c: all three dropped
 * ```
 *
 * @param intervals sorted by `sortByTime`
 * @param minOverlapMicros at or below 0, any overlap counts
 * @returns one flag an interval
 */
export function findOverlaps(intervals: readonly Interval[], minOverlapMicros: number): boolean[] {
  const overlaps = intervals.map(() => false);
  /** Positions of the intervals that reach past the current start. */
  let active: number[] = [];
  for (const [position, current] of intervals.entries()) {
    active = active.filter((other) => intervals[other]!.endMicros > current.startMicros);
    for (const other of active) {
      const { startMicros, endMicros } = intervals[other]!;
      // The other starts no later: it contains the current one if it ends no earlier, and is contained only by one of equal start.
      const isContaining = endMicros >= current.endMicros;
      const isContained = startMicros === current.startMicros && endMicros <= current.endMicros;
      const sharedMicros = Math.min(endMicros, current.endMicros) - current.startMicros;
      if (sharedMicros >= minOverlapMicros || isContaining || isContained) {
        overlaps[position] = true;
        overlaps[other] = true;
      }
    }
    active.push(position);
  }
  return overlaps;
}
