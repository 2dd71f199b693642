import type { Draw, SamplePlan } from './sample-plan.js';

/** A draw as a line of JSON. Without padding, of `filepath` the `duration` seconds from `offset` on. */
export interface DrawRow {
  /** Its place among all draws. */
  draw: number;
  /** The same by epochs of the plan. */
  epoch: number;
  index: number;
  /** Left out where there are no groups. */
  group?: string;
  filepath: string;
  /** Seconds. */
  offset: number;
  /** The same in frames of the file. */
  offset_frames: number;
  /** Seconds of audio: those of a window, or fewer where the file is shorter. */
  duration: number;
  frames: number;
  /** Of the file, in Hz. */
  sample_rate: number;
  /** Seconds that are filled up. */
  padding: number;
}

/** What a draw takes, as plain data. */
export function rowOfDraw(plan: SamplePlan, { draw, epoch, index, group, window }: Draw): DrawRow {
  const { name, recordings } = plan.groups[group]!;
  const { file, startFrame, frames, windowFrames } = window;
  const rate = recordings.sampleRate(file);
  return {
    draw,
    epoch,
    index,
    ...(name === '' ? {} : { group: name }),
    filepath: recordings.path(file),
    offset: startFrame / rate,
    offset_frames: startFrame,
    duration: frames / rate,
    frames,
    sample_rate: rate,
    padding: (windowFrames - frames) / rate,
  };
}
