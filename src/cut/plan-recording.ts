import { dropEmpty, findOverlaps, sortByTime } from './overlap.js';
import { judgePack, packSegments } from './pack.js';
import type { DropCounts, DropReason } from './types.js';
import type { Segment, SegmentList } from './segments.js';
import type { PlanLimits } from './settings.js';

/** A pack that becomes a snippet unless its text loops. */
export interface Candidate {
  /** 0-based position among the candidates of the recording. */
  ordinal: number;
  segments: Segment[];
  startMicros: number;
  endMicros: number;
  /** Joined from the segments. */
  text: string;
}

/** What planning makes of the segments of one recording. */
export interface CandidateList {
  /** In time order. */
  candidates: Candidate[];
  dropped: DropCounts;
  /** The same in segments. */
  droppedSegments: DropCounts;
}

/** Drops empty and overlapping segments and packs the others. A pure function: planning a row again gives the same. */
export function planCandidates(list: SegmentList, limits: PlanLimits): CandidateList {
  const dropped = zeroCounts();
  const droppedSegments = zeroCounts();
  const drop = (reason: DropReason, count: number, segmentCount: number): void => {
    dropped[reason] += count;
    droppedSegments[reason] += segmentCount;
  };
  drop('bad_times', list.badTimes, list.badTimes);
  const spoken = dropEmpty(list.segments);
  drop('empty', list.segments.length - spoken.length, list.segments.length - spoken.length);
  const sorted = sortByTime(spoken);
  const overlaps = findOverlaps(sorted, limits.minOverlapMicros);
  const apart = sorted.filter((_, position) => !overlaps[position]);
  drop('overlap', sorted.length - apart.length, sorted.length - apart.length);
  const candidates: Candidate[] = [];
  for (const pack of packSegments(apart, limits)) {
    const verdict = judgePack(pack, limits);
    if ('dropped' in verdict) drop(verdict.dropped, 1, pack.segments.length);
    else candidates.push({ ordinal: candidates.length, ...pack, text: verdict.text });
  }
  return { candidates, dropped, droppedSegments };
}

export function zeroCounts(): DropCounts {
  return { empty: 0, overlap: 0, too_long: 0, too_short: 0, no_text: 0, repetition: 0, bad_times: 0, past_end: 0 };
}
