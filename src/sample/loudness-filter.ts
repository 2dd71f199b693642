import { measuredRateOf, windowSamplesOf } from '../audio/loudness.js';
import { KeptStarts } from './kept-starts.js';
import type { RecordingTable } from './recordings.js';

/** Loudness of the cells of a recording, and how long they are. */
export interface LoudnessCells {
  /** Seconds of a cell, as they were asked for when the cache was made. */
  windowSeconds: number;
  /** Hz that was measured at; null for each recording's own. */
  sampleRate: number | null;
}

/** What a loudness filter leaves. */
export interface FilteredStarts {
  kept: KeptStarts;
  /** Of each recording, the share of its starts that is left, from 0 to 1. */
  keptShares: Float32Array;
}

/**
 * Finds where windows may start so that each cell they touch, from their first frame to their last, is as loud as the cutoff or louder.
 *
 * ```
 * cells    │ loud │ loud │ quiet│ loud │ loud │ loud │··│   ·· what is left behind the last whole cell counts as part of it
 * window   [────────)
 * starts   ├───┤                ├────────────────────┤      so that the whole window lies in loud cells
 * ```
 *
 * A recording of no cells, as one shorter than a cell has, is kept; one shorter than a window is kept if all its cells are. Cells of
 * -Infinity and NaN are quiet.
 *
 * @param windowFramesOf length of a window, in frames of the recording
 * @param valuesOf the cells of the recording with that index, in LUFS
 */
export function filterByLoudness(
  recordings: RecordingTable,
  windowFramesOf: (file: number) => number,
  cells: LoudnessCells,
  valuesOf: (file: number) => Float32Array,
  cutoffLufs: number,
): FilteredStarts {
  const keptShares = new Float32Array(recordings.length);
  function* spans(): Generator<number[]> {
    for (let file = 0; file < recordings.length; file += 1) {
      const rate = recordings.sampleRate(file);
      const measuredRate = measuredRateOf(cells.sampleRate, rate);
      const cellSamples = windowSamplesOf(cells.windowSeconds, measuredRate);
      const frames = recordings.frames(file);
      const windowFrames = windowFramesOf(file);
      // The first frame that begins in a cell or behind it, and the last one that ends before it, exactly: products stay below 2^53.
      const firstFrameOf = (cell: number): number => Math.ceil((cell * cellSamples * rate) / measuredRate);
      const endFrameOf = (cell: number): number => Math.floor((cell * cellSamples * rate) / measuredRate);
      const kept = keptSpans(valuesOf(file), cutoffLufs, frames, windowFrames, firstFrameOf, endFrameOf);
      let count = 0;
      for (let at = 0; at < kept.length; at += 2) count += (kept[at + 1] ?? 0) - (kept[at] ?? 0);
      keptShares[file] = count / (Math.max(0, frames - windowFrames) + 1);
      yield kept;
    }
  }
  return { kept: KeptStarts.from(spans()), keptShares };
}

/** The starts that are left of a recording, as `[start, end, start, end, …]`. */
function keptSpans(
  values: Float32Array,
  cutoffLufs: number,
  frames: number,
  windowFrames: number,
  firstFrameOf: (cell: number) => number,
  endFrameOf: (cell: number) => number,
): number[] {
  const lastStart = Math.max(0, frames - windowFrames);
  if (values.length === 0) return [0, lastStart + 1];
  const isLoud = (cell: number): boolean => (values[cell] ?? Number.NaN) >= cutoffLufs && values[cell] !== -Infinity;
  const spans: number[] = [];
  for (let cell = 0; cell < values.length; cell += 1) {
    if (!isLoud(cell)) continue;
    const first = cell === 0 ? 0 : firstFrameOf(cell);
    while (cell + 1 < values.length && isLoud(cell + 1)) cell += 1;
    const isAtEnd = cell + 1 === values.length;
    const last = isAtEnd ? lastStart : endFrameOf(cell + 1) - Math.min(windowFrames, frames);
    if (last >= first && first <= lastStart) spans.push(first, Math.min(last, lastStart) + 1);
  }
  return spans;
}
