import { readFile } from 'node:fs/promises';
import { errorMessage, InputError, systemCode } from '../errors.js';
import type { LoudnessSettings } from './scan-types.js';

const FORMAT = 'cutroom-scan';
const FORMAT_VERSION = 1;

/** What a scan was made of: another scan of the same folder has to be made of the same. */
export interface ScanIdentity {
  /** Absolute. */
  sources: readonly string[];
  /** Absolute path of a list, or null. */
  filepaths: string | null;
  extensions: readonly string[];
  /** What relative paths of the scan are joined to, seen from the scan's folder; null where paths are absolute. */
  base: string | null;
  loudness: LoudnessSettings | null;
}

/** What a scan found. */
export interface ScanSummary {
  files: number;
  /** Sum of the files' lengths. */
  seconds: number;
  sizeBytes: number;
  /** Files by reason. */
  failed: Record<string, number>;
  /** Files by container and codec, as `ogg vorbis`. */
  codecs: Record<string, number>;
  /** Files by rate in Hz. */
  sampleRates: Record<string, number>;
  channels: Record<string, number>;
  /** Windows whose loudness was measured; undefined where it was not asked for. */
  windows: number | undefined;
  /** Files in which nothing passes the gates of the standard; undefined as `windows`. */
  silentFiles: number | undefined;
}

/** What `metrics.json` holds. */
export interface ScanMetrics {
  identity: ScanIdentity;
  summary: ScanSummary;
}

/** The text of `metrics.json`. */
export function formatMetrics({ identity, summary }: ScanMetrics): string {
  const { sources, filepaths, extensions, base, loudness } = identity;
  const metrics = {
    format: FORMAT,
    format_version: FORMAT_VERSION,
    sources,
    filepaths,
    extensions,
    base,
    loudness:
      loudness === null
        ? null
        : { window_sec: loudness.windowSeconds, sample_rate: loudness.sampleRate, mono: loudness.mono },
    ...summaryAsJson(summary),
  };
  return `${JSON.stringify(metrics, undefined, 2)}\n`;
}

/** A summary as plain data, with the keys of `metrics.json`. */
export function summaryAsJson(summary: ScanSummary): Record<string, unknown> {
  return {
    files: summary.files,
    duration_sec: Number(summary.seconds.toFixed(6)),
    duration_hours: Number((summary.seconds / 3600).toFixed(6)),
    size_bytes: summary.sizeBytes,
    failed: summary.failed,
    codecs: summary.codecs,
    sample_rates: summary.sampleRates,
    channels: summary.channels,
    lufs_windows: summary.windows ?? null,
    silent_files: summary.silentFiles ?? null,
  };
}

/**
 * Reads `metrics.json`.
 *
 * @returns undefined where there is none.
 * @throws InputError where it is another program's, of another version, or damaged.
 */
export async function readMetrics(file: string): Promise<ScanMetrics | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  });
  if (text === undefined) return undefined;
  const read = parse(text);
  if (read?.['format'] !== FORMAT) refuse(file, 'it is not that of a scan');
  if (read['format_version'] !== FORMAT_VERSION)
    refuse(file, `its version is ${JSON.stringify(read['format_version'])}, and ${FORMAT_VERSION} is read here`);
  const loudness = read['loudness'] as { window_sec: number; sample_rate: number | null; mono: boolean } | null;
  return {
    identity: {
      sources: read['sources'] as string[],
      filepaths: read['filepaths'] as string | null,
      extensions: read['extensions'] as string[],
      base: read['base'] as string | null,
      loudness:
        loudness === null
          ? null
          : { windowSeconds: loudness.window_sec, sampleRate: loudness.sample_rate, mono: loudness.mono },
    },
    summary: {
      files: read['files'] as number,
      seconds: read['duration_sec'] as number,
      sizeBytes: read['size_bytes'] as number,
      failed: read['failed'] as Record<string, number>,
      codecs: read['codecs'] as Record<string, number>,
      sampleRates: read['sample_rates'] as Record<string, number>,
      channels: read['channels'] as Record<string, number>,
      windows: (read['lufs_windows'] as number | null) ?? undefined,
      silentFiles: (read['silent_files'] as number | null) ?? undefined,
    },
  };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Told by the caller: what is no JSON is no metrics of a scan.
    return undefined;
  }
}

function refuse(file: string, state: string): never {
  throw new InputError(`Cannot read "${file}": ${state}`, { path: file });
}
