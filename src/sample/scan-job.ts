import type { FileFacts, FileLoudness, LoudnessSettings } from './scan-types.js';

/** What a process is given to read. */
export interface ScanJob {
  files: readonly JobFile[];
  loudness: LoudnessSettings | undefined;
}

export interface JobFile {
  /** Absolute. */
  filepath: string;
  /** Set where the file was read before; if both are still so it is not read again. */
  known: { sizeBytes: number; mtimeMicros: number } | undefined;
}

/** What became of a file of a job; there may be fewer of them than files, where those took long. */
export type FileOutcome =
  | { kind: 'unchanged' }
  | { kind: 'read'; facts: FileFacts; loudness: FileLoudness | undefined; windows: Float32Array | undefined }
  | { kind: 'failed'; reason: string; message: string; hint: string | undefined };

/** The time of change of a file, in whole microseconds: a number holds no more. */
export function mtimeMicrosOf({ mtimeMs }: { mtimeMs: number }): number {
  return Math.round(mtimeMs * 1000);
}
