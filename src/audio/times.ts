/** Microseconds in a second. */
const MICROS = 1_000_000;

/** Seconds to the nearest whole microsecond; never -0. */
export function toMicros(seconds: number): number {
  return Math.round(seconds * MICROS) + 0;
}

/** Whole microseconds to seconds: the double next to the exact decimal. */
export function toSeconds(micros: number): number {
  return micros / MICROS;
}

/** The frame that holds the instant, 0 for instants before the audio: max(0, floor(t · rate)), exact for any time and rate. */
export function firstFrame(startMicros: number, rateHz: number): number {
  if (startMicros <= 0) return 0;
  const rest = startMicros % MICROS;
  // Split, so that no product passes 2^53: 13 hours at 192 kHz would.
  return ((startMicros - rest) / MICROS) * rateHz + Math.floor((rest * rateHz) / MICROS);
}

/** The frame before which the span ends: max(0, ceil(t · rate)), exact for any time and rate. */
export function endFrame(endMicros: number, rateHz: number): number {
  if (endMicros <= 0) return 0;
  const rest = endMicros % MICROS;
  return ((endMicros - rest) / MICROS) * rateHz + Math.ceil((rest * rateHz) / MICROS);
}
