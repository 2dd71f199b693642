import type { FileFacts, FileLoudness, ScannedFile } from './scan-types.js';

/** A line of `scan.jsonl`. */
export interface ScanRow {
  path: string;
  frames: number;
  sample_rate: number;
  channels: number;
  /** Seconds. */
  duration: number;
  container: string;
  codec: string;
  size_bytes: number;
  /** Microseconds since 1970. */
  mtime_us: number;
  loudness?: LoudnessRow;
}

/** Null stands for what there is none of: silence has no loudness. */
interface LoudnessRow {
  integrated_lufs: number | null;
  range_lu: number | null;
  max_momentary_lufs: number | null;
  max_short_term_lufs: number | null;
  true_peak_db: number | null;
}

/** A row of a file. */
export function rowOf(path: string, facts: FileFacts, loudness: FileLoudness | undefined): ScanRow {
  const { frames, sampleRate, channels, container, codec, sizeBytes, mtimeMicros } = facts;
  return {
    path,
    frames,
    sample_rate: sampleRate,
    channels,
    duration: frames / sampleRate,
    container,
    codec,
    size_bytes: sizeBytes,
    mtime_us: mtimeMicros,
    ...(loudness === undefined ? {} : { loudness: loudnessRow(loudness) }),
  };
}

/** What a row says. */
export function factsOfRow(row: ScanRow): Omit<ScannedFile, 'filepath'> {
  const { path, frames, channels, container, codec, loudness } = row;
  return {
    path,
    frames,
    sampleRate: row.sample_rate,
    channels,
    container,
    codec,
    sizeBytes: row.size_bytes,
    mtimeMicros: row.mtime_us,
    loudness: loudness === undefined ? undefined : loudnessOfRow(loudness),
  };
}

/** Tells whether an object has what every row has. */
export function isScanRow(value: unknown): value is ScanRow {
  if (typeof value !== 'object' || value === null) return false;
  const row = value as Record<string, unknown>;
  const isCount = (key: string, least: number): boolean =>
    Number.isSafeInteger(row[key]) && (row[key] as number) >= least;
  const areTexts = ['path', 'container', 'codec'].every((key) => typeof row[key] === 'string');
  return (
    areTexts &&
    isCount('frames', 1) &&
    isCount('sample_rate', 1) &&
    isCount('channels', 1) &&
    isCount('size_bytes', 0) &&
    Number.isSafeInteger(row['mtime_us'])
  );
}

function loudnessRow(loudness: FileLoudness): LoudnessRow {
  return {
    integrated_lufs: written(loudness.integratedLufs),
    range_lu: written(loudness.rangeLu),
    max_momentary_lufs: written(loudness.maxMomentaryLufs),
    max_short_term_lufs: written(loudness.maxShortTermLufs),
    true_peak_db: written(loudness.truePeakDb),
  };
}

function loudnessOfRow(row: LoudnessRow): FileLoudness {
  return {
    integratedLufs: row.integrated_lufs ?? -Infinity,
    rangeLu: row.range_lu ?? undefined,
    maxMomentaryLufs: row.max_momentary_lufs ?? -Infinity,
    maxShortTermLufs: row.max_short_term_lufs ?? -Infinity,
    truePeakDb: row.true_peak_db ?? -Infinity,
  };
}

/** To a thousandth, far below what is heard. */
function written(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Math.round(value * 1000) / 1000;
}
