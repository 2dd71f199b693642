/** Which signal loudness is measured of, and in which windows. */
export interface LoudnessSettings {
  /** Length of a window in seconds, 0.4 at least. */
  windowSeconds: number;
  /** Hz that each recording is brought to; null keeps its own. */
  sampleRate: number | null;
  /** Mixes all channels to one before; else each counts as its place says. */
  mono: boolean;
}

/** Loudness of a whole file, of the signal that the settings tell; -Infinity where it is silence. */
export interface FileLoudness {
  /** Gated, in LUFS (ITU-R BS.1770-4). */
  integratedLufs: number;
  /** In LU (EBU Tech 3342); undefined for less than 3 s of sound. */
  rangeLu: number | undefined;
  maxMomentaryLufs: number;
  maxShortTermLufs: number;
  /** In dB of full scale. */
  truePeakDb: number;
}

/** What is known of a file by its contents. */
export interface FileFacts {
  /** Exact length, in frames at `sampleRate`. */
  frames: number;
  /** Hz. */
  sampleRate: number;
  channels: number;
  container: string;
  codec: string;
  sizeBytes: number;
  /** Microseconds since 1970. */
  mtimeMicros: number;
}

/** A file of a scan. */
export interface ScannedFile extends FileFacts {
  /** As the scan holds it: relative to its base, where it has one, or absolute. */
  path: string;
  /** Absolute. */
  filepath: string;
  loudness: FileLoudness | undefined;
}

/** A file that could not be scanned; a line of `failures.jsonl`. */
export interface ScanFailure {
  /** As in `ScannedFile`. */
  path: string;
  /** What it is counted under. */
  reason: string;
  message: string;
  hint?: string | undefined;
}
