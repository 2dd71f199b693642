import { availableParallelism } from 'node:os';
import path from 'node:path';
import { LOWEST_WEIGHTED_RATE } from '../audio/k-weighting.js';
import { UsageError } from '../errors.js';
import { AUDIO_EXTENSIONS } from './find-audio.js';
import { checkListPath, checkPaths } from './path-list.js';
import type { LoudnessSettings } from './scan-types.js';

/** What `scan` is asked for. */
export interface ScanOptions {
  /** Files, folders, which are searched with all below them, and patterns with `*`, `?`, `[…]`, `{…}` and `**`. */
  sources?: readonly string[] | undefined;
  /** A list of files beside them or in their place: a path a line, or a manifest of JSON objects. */
  filepaths?: string | undefined;
  /** The folder that the results go to. */
  out: string;
  /**
   * Where it is given, paths are held relative to it, and relative ones in `filepaths` lie under it. Default: paths are absolute, and those of a
   * list lie under its folder.
   */
  base?: string | undefined;
  /** Extensions of the files that are taken from folders and patterns. Default: all that are known of audio. */
  extensions?: readonly string[] | undefined;
  /** Measures loudness too, in windows. */
  loudness?: Partial<LoudnessSettings> | undefined;
  /** Files read at once. Default: one a core. */
  jobs?: number | undefined;
  /** A file whose decoder is silent for so long fails. Default 300. */
  recordingTimeoutSeconds?: number | undefined;
  /** Scans everything anew, in place of a scan of other sources or options. Default false. */
  overwrite?: boolean | undefined;
}

/** `ScanOptions` with every default filled in; the paths are absolute. */
export interface ResolvedScanOptions {
  sources: readonly string[];
  filepaths: string | undefined;
  out: string;
  base: string | undefined;
  extensions: readonly string[];
  loudness: LoudnessSettings | undefined;
  jobs: number;
  silenceMs: number;
  overwrite: boolean;
}

/** Gated loudness needs a block of 400 ms. */
export const MIN_WINDOW_SECONDS = 0.4;
const DEFAULT_LOUDNESS: LoudnessSettings = { windowSeconds: 1, sampleRate: 44_100, mono: true };
const DEFAULT_TIMEOUT_SECONDS = 300;

/**
 * Fills in the defaults and checks what can be checked without looking at a file.
 *
 * @throws UsageError when nothing is to be scanned, or a value makes no sense.
 * @throws TypeError when paths are none.
 * @throws RangeError when `jobs` or the timeout is out of its range.
 */
export function resolveScanOptions(options: ScanOptions): ResolvedScanOptions {
  const { sources = [], filepaths, out, base, jobs = availableParallelism() } = options;
  const { recordingTimeoutSeconds: timeout = DEFAULT_TIMEOUT_SECONDS } = options;
  checkPaths('sources', sources);
  checkListPath('filepaths', filepaths);
  if (sources.length === 0 && filepaths === undefined) {
    throw new UsageError('There is nothing to scan', { hint: 'Give files, folders or patterns, or --filepaths LIST.' });
  }
  if (out === '') throw new UsageError('The folder of the results is empty');
  if (!Number.isSafeInteger(jobs) || jobs < 1)
    throw new RangeError(`jobs must be a whole number from 1 on, not ${jobs}`);
  if (!(timeout > 0)) throw new RangeError(`recordingTimeoutSeconds must be a number greater than 0, not ${timeout}`);
  return {
    sources,
    filepaths: filepaths === undefined ? undefined : path.resolve(filepaths),
    out: path.resolve(out),
    base: base === undefined ? undefined : path.resolve(base),
    extensions: (options.extensions ?? AUDIO_EXTENSIONS).map(cleanExtension),
    loudness: options.loudness === undefined ? undefined : resolveLoudness(options.loudness),
    jobs,
    silenceMs: timeout * 1000,
    overwrite: options.overwrite ?? false,
  };
}

function resolveLoudness(asked: Partial<LoudnessSettings>): LoudnessSettings {
  const settings = { ...DEFAULT_LOUDNESS, ...asked };
  const { windowSeconds, sampleRate } = settings;
  if (!(windowSeconds >= MIN_WINDOW_SECONDS && Number.isFinite(windowSeconds))) {
    throw new UsageError(`Loudness cannot be measured in windows of ${windowSeconds} s`, {
      hint: `BS.1770 gates blocks of 0.4 s: give a window of ${MIN_WINDOW_SECONDS} s or more.`,
    });
  }
  if (
    sampleRate !== null &&
    !(Number.isSafeInteger(sampleRate) && sampleRate >= LOWEST_WEIGHTED_RATE && sampleRate <= MAX_RATE)
  ) {
    throw new UsageError(`Loudness cannot be measured at ${sampleRate} Hz`, {
      hint: `Give a whole number from ${LOWEST_WEIGHTED_RATE} to ${MAX_RATE}, or "native".`,
    });
  }
  return settings;
}

const MAX_RATE = 768_000;

function cleanExtension(text: string): string {
  const extension = text.trim().replace(/^\./u, '').toLowerCase();
  if (extension === '' || extension.includes('/')) throw new UsageError(`"${text}" is no extension of a file`);
  return extension;
}
