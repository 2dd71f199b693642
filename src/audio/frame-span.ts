import type { FrameSpan } from './cut-spans.js';
import { endFrame, firstFrame } from './times.js';

/**
 * Times that are a frame's own, such as 8,001 / 16,000 s, were rounded to whole microseconds, and an end is the sum of two such: they mean
 * that frame, and neither the one before it nor one more.
 */
const START_SLACK_MICROS = 0.5;
const END_SLACK_MICROS = 1;

/**
 * A span in frames of a recording; all of it where there is none.
 *
 * @param span half-open, whole microseconds; an end of null is that of the audio, which is `Infinity` in frames.
 * @param rate Hz.
 */
export function frameSpan(span: { start: number; end: number | null } | undefined, rate: number): FrameSpan {
  const first = firstFrame((span?.start ?? 0) + START_SLACK_MICROS, rate);
  const end = span?.end ?? null;
  return {
    firstFrame: first,
    endFrame: end === null ? Infinity : Math.max(first + 1, endFrame(end - END_SLACK_MICROS, rate)),
  };
}
