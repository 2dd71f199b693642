import type { KeptStarts } from './kept-starts.js';
import type { SampledGroup, SamplePlan } from './sample-plan.js';
import type { WindowedPlan } from './windowed-plan.js';

/** What is drawn of one group, or of all. */
export interface GroupFigures {
  /** Empty for all, and where there are no groups. */
  name: string;
  files: number;
  /** Files that are shorter than a window: each has one, which is padded. */
  shortFiles: number;
  /** Files of which the filter leaves nothing. */
  removedFiles: number;
  /** The first five of them; `removedFilesOf` gives all. */
  firstRemoved: readonly string[];
  /** The share of the starts of windows that the filter leaves, from 0 to 1. */
  keptShare: number;
  slots: number;
  /** Seconds of all files. */
  audioSeconds: number;
  /** Seconds of audio that lie in any window. */
  reachableSeconds: number;
  /** Draws of an epoch of the plan. */
  draws: number;
  /** How often each slot is drawn in it, on average. */
  passes: number;
  /** Length of those draws together, padding among it. */
  drawnSeconds: number;
  /** The share of it that is padding. */
  paddingShare: number;
  /** How often a second that lies in any window is expected to be drawn in an epoch. */
  repeats: number;
  /** The group's share of the draws of an epoch. */
  drawnShare: number;
  /** What that share is to be. */
  weightShare: number;
}

/** A plan in figures. */
export interface SampleFigures {
  groups: readonly GroupFigures[];
  all: GroupFigures;
  /** Draws of an epoch, and of all; `Infinity` where they go on forever. */
  epochDraws: number;
  totalDraws: number;
  durationSeconds: number;
  /** False when weights are spelled so finely that they are rounded. */
  areWeightsExact: boolean;
}

/** How many of the files that the filter removes are named. */
const MAX_NAMED = 5;

/** Adds up what a plan draws; takes time for each file, and none for slots. */
export function figuresOf(plan: SamplePlan, durationSeconds: number): SampleFigures {
  const draws = plan.drawsOf(plan.epochLength);
  const weights = plan.balance?.weights ?? [1];
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  const groups = plan.groups.map((group, at) => {
    const sums = addUp(group, plan.plans[at]!, durationSeconds);
    const shares = { drawnShare: draws[at]! / plan.epochLength, weightShare: weights[at]! / weightSum };
    return { name: group.name, ...sums, ...drawnOf(sums, draws[at]!, durationSeconds), ...shares };
  });
  return {
    groups,
    all: addGroups(groups),
    epochDraws: plan.epochLength,
    totalDraws: plan.length,
    durationSeconds,
    areWeightsExact: plan.balance?.isExact ?? true,
  };
}

/** The files of which the filter leaves nothing, and the names of their groups. */
export function* removedFilesOf({ groups, plans }: SamplePlan): Generator<{ group: string; path: string }> {
  for (const [at, { name, recordings }] of groups.entries()) {
    const { slots } = plans[at]!;
    for (let file = 0; file < recordings.length; file += 1) {
      if (slots.slotsOf(file) === 0) yield { group: name, path: recordings.path(file) };
    }
  }
}

interface GroupSums {
  files: number;
  shortFiles: number;
  removedFiles: number;
  firstRemoved: string[];
  keptShare: number;
  slots: number;
  audioSeconds: number;
  reachableSeconds: number;
  /** Padding of all slots. */
  paddingSeconds: number;
}

function addUp({ recordings, kept }: SampledGroup, { slots }: WindowedPlan, durationSeconds: number): GroupSums {
  const sums: GroupSums = {
    files: recordings.length,
    shortFiles: 0,
    removedFiles: 0,
    firstRemoved: [],
    keptShare: 1,
    slots: slots.length,
    audioSeconds: 0,
    reachableSeconds: 0,
    paddingSeconds: 0,
  };
  let starts = 0;
  let keptStarts = 0;
  for (let file = 0; file < recordings.length; file += 1) {
    const frames = recordings.frames(file);
    const rate = recordings.sampleRate(file);
    const window = slots.windowFrames(file);
    const places = Math.max(0, frames - window) + 1;
    const ofFile = slots.slotsOf(file);
    sums.audioSeconds += frames / rate;
    if (frames < window) {
      sums.shortFiles += 1;
      sums.paddingSeconds += ofFile * (durationSeconds - frames / rate);
    }
    if (ofFile === 0) {
      sums.removedFiles += 1;
      if (sums.firstRemoved.length < MAX_NAMED) sums.firstRemoved.push(recordings.path(file));
    }
    const whole: readonly [number, number] = [0, places];
    const spans = kept === undefined ? [whole] : keptSpans(kept, file);
    const reached = reachOf(spans, Math.min(window, frames), slots.grid ? slots.hopFrames(file) : 1);
    starts += places / rate;
    keptStarts += reached.starts / rate;
    sums.reachableSeconds += reached.frames / rate;
  }
  sums.keptShare = kept === undefined ? 1 : keptStarts / starts;
  return sums;
}

interface Reach {
  starts: number;
  /** Frames that lie in any window. */
  frames: number;
}

/** The spans of starts, `[start, end)`, that are left of a file. */
function* keptSpans({ firstSpan, starts, ends }: KeptStarts, file: number): Generator<readonly [number, number]> {
  for (let span = firstSpan[file]!; span < firstSpan[file + 1]!; span += 1) yield [starts[span]!, ends[span]!];
}

/**
 * What windows reach whose starts lie in spans, at multiples of `step`. Windows of neighbouring spans may overlap: what
 * both reach counts once.
 */
function reachOf(spans: Iterable<readonly [number, number]>, windowFrames: number, step: number): Reach {
  const reach: Reach = { starts: 0, frames: 0 };
  let reachedEnd = 0;
  for (const [start, end] of spans) {
    reach.starts += end - start;
    const first = Math.ceil(start / step) * step;
    const last = (Math.ceil(end / step) - 1) * step;
    if (last < first) continue;
    // Windows that do not touch leave gaps.
    const gaps = ((last - first) / step) * Math.max(0, step - windowFrames);
    reach.frames += last + windowFrames - Math.max(reachedEnd, first) - gaps;
    reachedEnd = last + windowFrames;
  }
  return reach;
}

function drawnOf(
  { slots, paddingSeconds, reachableSeconds, ...shown }: GroupSums,
  draws: number,
  durationSeconds: number,
): Omit<GroupFigures, 'name' | 'drawnShare' | 'weightShare'> {
  const paddingShare = paddingSeconds / (slots * durationSeconds);
  const drawnSeconds = draws * durationSeconds;
  return {
    ...shown,
    slots,
    reachableSeconds,
    draws,
    passes: draws / slots,
    drawnSeconds,
    paddingShare,
    repeats: (drawnSeconds * (1 - paddingShare)) / reachableSeconds,
  };
}

function addGroups(groups: readonly GroupFigures[]): GroupFigures {
  const sum = (valueOf: (group: GroupFigures) => number): number =>
    groups.reduce((total, group) => total + valueOf(group), 0);
  const drawnSeconds = sum((group) => group.drawnSeconds);
  const audioDrawn = sum((group) => group.drawnSeconds * (1 - group.paddingShare));
  const reachableSeconds = sum((group) => group.reachableSeconds);
  const audioSeconds = sum((group) => group.audioSeconds);
  const slots = sum((group) => group.slots);
  const draws = sum((group) => group.draws);
  return {
    name: '',
    files: sum((group) => group.files),
    shortFiles: sum((group) => group.shortFiles),
    removedFiles: sum((group) => group.removedFiles),
    firstRemoved: groups.flatMap((group) => group.firstRemoved).slice(0, MAX_NAMED),
    keptShare: sum((group) => group.keptShare * group.audioSeconds) / audioSeconds,
    slots,
    audioSeconds,
    reachableSeconds,
    draws,
    passes: draws / slots,
    drawnSeconds,
    paddingShare: 1 - audioDrawn / drawnSeconds,
    repeats: audioDrawn / reachableSeconds,
    drawnShare: 1,
    weightShare: 1,
  };
}
