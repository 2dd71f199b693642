import type { RecordingTable } from './recordings.js';
import type { SamplePlan } from './sample-plan.js';

/** A bar: what it stands for, and its height in each series of its chart. */
export interface Bar {
  label: string;
  values: readonly number[];
}

/** A chart of bars. */
export interface BarChart {
  title: string;
  /** Of the values of a bar, in their order. */
  series: readonly string[];
  /** How values are told: a share as a percentage, or a number as it is. */
  unit: 'share' | 'number';
  bars: readonly Bar[];
}

/** Lengths of files between classes, in seconds. */
const LENGTHS = [1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10_800] as const;
const LENGTH_LABELS = [
  '< 1 s',
  '1–3 s',
  '3–10 s',
  '10–30 s',
  '30–60 s',
  '1–3 min',
  '3–10 min',
  '10–30 min',
  '30–60 min',
  '1–3 h',
  '≥ 3 h',
] as const;
/** Parts of a recording whose coverage is told. */
const PARTS = 20;
/** Draws that are looked at for coverage: an error of 1 in 200 of each bar. */
const MAX_DRAWS = 100_000;

/**
 * How draws spread: over files by their length, over a second of audio by the length of its file, and over the parts of
 * a recording. The first two are what an epoch of the plan is expected to hold, the last is counted of its first draws.
 */
export function chartsOf(plan: SamplePlan): BarChart[] {
  return [...chartsByLength(plan), chartByPart(plan)];
}

function chartsByLength(plan: SamplePlan): BarChart[] {
  const files = zeros(LENGTH_LABELS.length);
  const seconds = zeros(LENGTH_LABELS.length);
  const draws = zeros(LENGTH_LABELS.length);
  const drawnSeconds = zeros(LENGTH_LABELS.length);
  const drawsOfGroup = plan.drawsOf(plan.epochLength);
  for (const [at, { recordings }] of plan.groups.entries()) {
    const { slots } = plan.plans[at]!;
    const drawsOfSlot = drawsOfGroup[at]! / slots.length;
    for (let file = 0; file < recordings.length; file += 1) {
      const length = secondsOf(recordings, file);
      const bin = lengthClass(length);
      const drawn = slots.slotsOf(file) * drawsOfSlot;
      const window = Math.min(slots.windowFrames(file), recordings.frames(file)) / recordings.sampleRate(file);
      files[bin]! += 1;
      seconds[bin]! += length;
      draws[bin]! += drawn;
      drawnSeconds[bin]! += drawn * window;
    }
  }
  const shown = LENGTH_LABELS.map((label, bin) => ({ label, bin })).filter(({ bin }) => files[bin]! > 0);
  const share = (values: readonly number[], bin: number): number =>
    values[bin]! / values.reduce((sum, value) => sum + value, 0);
  return [
    {
      title: 'files, audio and draws by length of the file',
      series: ['files', 'audio', 'draws'],
      unit: 'share',
      bars: shown.map(({ label, bin }) => ({ label, values: [files, seconds, draws].map((of) => share(of, bin)) })),
    },
    {
      title: 'draws of a second of audio in an epoch, by length of the file',
      series: ['draws'],
      unit: 'number',
      bars: shown.map(({ label, bin }) => ({ label, values: [drawnSeconds[bin]! / seconds[bin]!] })),
    },
  ];
}

/** Where in their recordings draws lie: the share of their audio in each twentieth of the recording. */
function chartByPart(plan: SamplePlan): BarChart {
  const draws = Math.min(MAX_DRAWS, plan.length);
  const parts = zeros(PARTS);
  for (let draw = 0; draw < draws; draw += 1) {
    const { group, window } = plan.at(draw);
    addOverlap(parts, window.startFrame, window.frames, plan.groups[group]!.recordings.frames(window.file));
  }
  const total = parts.reduce((sum, frames) => sum + frames, 0);
  const percent = 100 / PARTS;
  return {
    title: `where in the recording the audio of ${draws === plan.length ? 'all' : 'the first'} ${draws.toLocaleString('en-US')} draws lies`,
    series: ['audio drawn'],
    unit: 'share',
    bars: parts.map((value, part) => ({
      label: `${part * percent}–${(part + 1) * percent}%`,
      values: [value / total],
    })),
  };
}

/** Adds to each part the share of the window that lies in it. */
function addOverlap(parts: number[], startFrame: number, frames: number, totalFrames: number): void {
  const [from, to] = [(startFrame / totalFrames) * PARTS, ((startFrame + frames) / totalFrames) * PARTS];
  for (let part = Math.floor(from); part < Math.min(PARTS, Math.ceil(to)); part += 1) {
    parts[part]! += (Math.min(part + 1, to) - Math.max(part, from)) / (to - from);
  }
}

function lengthClass(seconds: number): number {
  const at = LENGTHS.findIndex((limit) => seconds < limit);
  return at < 0 ? LENGTHS.length : at;
}

function secondsOf(recordings: RecordingTable, file: number): number {
  return recordings.frames(file) / recordings.sampleRate(file);
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}
