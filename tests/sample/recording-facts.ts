import { KeptStarts } from '#cutroom/sample/kept-starts.js';
import { RecordingTable } from '#cutroom/sample/recordings.js';

/** A table of recordings of so many frames each. */
export function tableOf(frames: readonly number[], sampleRate = 16_000): RecordingTable {
  return RecordingTable.from(
    [''],
    frames.map((count, at) => ({
      path: `${at}.wav`,
      group: 0,
      frames: count,
      sampleRate,
      channels: 1,
    })),
  );
}

/** Spans that keep every start. */
export function keptWhole(frames: readonly number[], windowFrames: number): KeptStarts {
  return KeptStarts.from(frames.map((count) => [0, Math.max(0, count - windowFrames) + 1]));
}
