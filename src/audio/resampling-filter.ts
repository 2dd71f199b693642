/** Kaiser-windowed sinc; its limits are in docs/performance.md. Taps count at the lower of the two rates. */
const FILTER_TAPS = 48;
/** Towards a higher rate the codec library keeps the whole band whatever the cutoff, so the slope has to be steeper. */
const FILTER_TAPS_UPWARDS = 72;
export const FILTER_CUTOFF = 0.96;
export const KAISER_BETA = 10;

/** How many taps the filter between two rates has, at the lower of them. */
export function filterTaps(sourceRate: number, targetRate: number): number {
  return targetRate > sourceRate ? FILTER_TAPS_UPWARDS : FILTER_TAPS;
}

/** Frames of context that a span needs on each side to be brought from one rate to another. */
export function contextFramesOf(sourceRate: number, targetRate: number): number {
  if (sourceRate === targetRate) return 0;
  const widening = Math.max(1, sourceRate / targetRate);
  return Math.ceil((filterTaps(sourceRate, targetRate) * widening) / 2 / FILTER_CUTOFF) + 2;
}
