import { joinTexts } from './segment-text.js';
import type { Interval } from './overlap.js';

export interface PackLimits {
  minDurationMicros: number;
  maxDurationMicros: number;
  maxGapMicros: number;
}

/** Segments that follow each other closely enough to be cut out as one. */
export interface Pack<T extends Interval> {
  segments: T[];
  startMicros: number;
  endMicros: number;
}

/**
 * Packs segments greedily: the next one joins while the span stays within the maximum and the gap before it within the limit.
 * Segments are never split.
 *
 * @param segments sorted by time and free of overlaps
 */
export function packSegments<T extends Interval>(segments: readonly T[], limits: PackLimits): Pack<T>[] {
  const packs: Pack<T>[] = [];
  let open: Pack<T> | undefined;
  for (const segment of segments) {
    if (
      open !== undefined &&
      segment.endMicros - open.startMicros <= limits.maxDurationMicros &&
      segment.startMicros - open.endMicros <= limits.maxGapMicros
    ) {
      open.segments.push(segment);
      open.endMicros = segment.endMicros;
    } else {
      open = { segments: [segment], startMicros: segment.startMicros, endMicros: segment.endMicros };
      packs.push(open);
    }
  }
  return packs;
}

/** Why a pack cannot become a snippet, or its text. A span equal to a limit is kept; one of no length at all holds no audio. */
export function judgePack(
  pack: Pack<Interval & { text: string }>,
  limits: PackLimits,
): { dropped: 'too_long' | 'too_short' | 'no_text' } | { text: string } {
  const spanMicros = pack.endMicros - pack.startMicros;
  if (spanMicros > limits.maxDurationMicros) return { dropped: 'too_long' };
  if (spanMicros < limits.minDurationMicros || spanMicros === 0) return { dropped: 'too_short' };
  const text = joinTexts(pack.segments);
  return text === '' ? { dropped: 'no_text' } : { text };
}
