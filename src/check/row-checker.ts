import type { AudioUse } from './audio-files.js';
import type { ScannedRow } from './scanned-row.js';

/** Looks at the rows of a manifest of one kind, in order. */
export interface RowChecker {
  /** Reports what is wrong with a row, and returns the audio that it means where that can be told. */
  check(row: ScannedRow, line: number): AudioUse | undefined;
  /** Sum of durations so far. */
  readonly seconds: number;
  /** What is worth knowing of all rows and no problem. */
  notes(): string[];
}
