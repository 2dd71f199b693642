import type { FileFacts, FileLoudness, LoudnessSettings } from './scan-types.js';

/** What a process is given to read. */
export interface ScanJob {
  files: readonly JobFile[];
  loudness: LoudnessSettings | undefined;
  /** Where indexes of long files are kept; undefined for nowhere. */
  indexFolder: string | undefined;
}

export interface JobFile {
  /** Absolute. */
  filepath: string;
  /** What the scan names it, where that is another path than this machine has. */
  name?: string | undefined;
  /** Set where the file was read before; if both are still so it is not read again. */
  known: KnownFile | undefined;
}

export interface KnownFile {
  sizeBytes: number;
  mtimeMicros: number;
  /** Its length, where it is of a kind that is read by an index. */
  indexedFrames: number | undefined;
}

/** What became of the index of a file. */
export interface IndexOutcome {
  /** Whether one was made now. */
  isMade: boolean;
  /** What is to be said: that an earlier one was of no use, or that it cannot be kept. */
  notices: readonly string[];
}

/** What became of a file of a job; there may be fewer of them than files, where those took long. */
export type FileOutcome =
  | { kind: 'unchanged'; index?: IndexOutcome }
  | {
      kind: 'read';
      facts: FileFacts;
      loudness: FileLoudness | undefined;
      windows: Float32Array | undefined;
      index?: IndexOutcome;
    }
  | { kind: 'failed'; reason: string; message: string; hint: string | undefined };

/** The time of change of a file, in whole microseconds: a number holds no more. */
export function mtimeMicrosOf({ mtimeMs }: { mtimeMs: number }): number {
  return Math.round(mtimeMs * 1000);
}
