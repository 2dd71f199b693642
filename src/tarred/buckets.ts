import { toMicros } from '../audio/times.js';

/** A range of durations that becomes a dataset of its own. */
export interface Bucket {
  /** From 1 on. */
  number: number;
  /** As NeMo's converter computes them, for the metadata. */
  minSeconds: number;
  maxSeconds: number;
  /** Whole microseconds: rows from `startMicros` on and below `endMicros` are in it. */
  startMicros: number;
  endMicros: number;
}

/** The last bucket takes rows of the longest duration, too. */
const LAST_EXTRA_SECONDS = 1e-5;

/** Ranges of equal width between two durations. They leave no gap: each ends where the next one starts, to the microsecond. */
export function planBuckets(count: number, minSeconds: number, maxSeconds: number): Bucket[] {
  const width = (maxSeconds - minSeconds) / count;
  const [minMicros, maxMicros] = [toMicros(minSeconds), toMicros(maxSeconds)];
  const borderOf = (index: number): number => minMicros + Math.ceil(((maxMicros - minMicros) * index) / count);
  return Array.from({ length: count }, (_, index) => {
    const start = minSeconds + index * width;
    const isLast = index === count - 1;
    return {
      number: index + 1,
      minSeconds: start,
      maxSeconds: isLast ? start + width + LAST_EXTRA_SECONDS : start + width,
      startMicros: borderOf(index),
      endMicros: isLast ? maxMicros + toMicros(LAST_EXTRA_SECONDS) : borderOf(index + 1),
    };
  });
}
