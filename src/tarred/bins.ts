/**
 * Borders of duration between buckets that hold equal time, as Lhotse estimates them for NeMo's metadata: at most `bucketCount` - 1, fewer where
 * long rows fill whole buckets.
 *
 * Source: Lhotse, `estimate_duration_buckets`.
 *
 * @param durations seconds; those that are not known are NaN and left out
 */
export function estimateBins(durations: Float64Array, bucketCount: number): number[] {
  const sorted = durations.filter((seconds) => !Number.isNaN(seconds)).sort();
  const total = sorted.reduce((sum, seconds) => sum + seconds, 0);
  const target = total / bucketCount;
  const bins: number[] = [];
  let sum = 0;
  for (const seconds of sorted) {
    if (sum > target) {
      bins.push(seconds);
      sum = 0;
    }
    sum += seconds;
  }
  return bins;
}
