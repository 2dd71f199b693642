import { InputError, UsageError } from '../errors.js';
import { framesOf } from '../random/decimal.js';
import { ExcerptLoader, refuseLongExcerpts } from './excerpt-dataset.js';
import type { Output, OutputOptions, PlannedExcerpt } from './excerpt-dataset.js';
import type { ExcerptIterator, IterateOptions } from './excerpt-iterator.js';
import type { Excerpt } from './excerpt.js';
import { filterByLoudness } from './loudness-filter.js';
import type { FilteredStarts } from './loudness-filter.js';
import { LufsCache, openLufsCache } from './lufs-cache.js';
import { findSampledFiles, placeInCache } from './sampled-files.js';
import type { FileOptions, SampledFiles } from './sampled-files.js';
import { placesOf } from './scan-files.js';
import { WindowedPlan } from './windowed-plan.js';
import type { PlannedWindow, WindowedPlanOptions } from './windowed-plan.js';

/** Drops quiet windows. */
export interface LoudnessOptions {
  /** A loudness cache of the files, or its folder; it supplies their lengths too. Where a scan is given, its own by default. */
  lufsCache?: string | LufsCache | undefined;
  /** LUFS that each part of a window must have. Default -40 where a cache is given. */
  lufsCutoff?: number | undefined;
}

/** What `createWindowedDataset` is asked for. */
export interface WindowedDatasetOptions
  extends FileOptions, OutputOptions, LoudnessOptions, Omit<WindowedPlanOptions, 'kept' | 'group'> {}

/** What an index draws, before anything is decoded. */
export interface WindowDescription extends PlannedWindow {
  filepath: string;
  source: string;
  offsetSeconds: number;
  /** Of the recording, from there: less than a window where the recording is shorter. */
  audioSeconds: number;
}

/** What the loudness filter has left of the files. */
export interface LoudnessReport {
  cutoffLufs: number;
  /** Of each file, in the order of `plan.recordings`: the share of the places at which a window may start that is left. */
  keptShares: Float32Array;
  /** Files of which nothing is left. */
  removedFiles: readonly string[];
}

const DEFAULT_CUTOFF = -40;

/**
 * Makes a dataset of windows of recordings: all windows of all files in one index, in an order that mixes files, drawn with jitter.
 *
 * @throws UsageError, RangeError or TypeError when options are wrong or do not go together.
 * @throws InputError when there is no file, files have changed since they were measured, or the filter leaves nothing.
 */
export async function createWindowedDataset(options: WindowedDatasetOptions): Promise<WindowedDataset> {
  const { scan } = options;
  const folder = typeof scan === 'string' ? scan : scan?.folder;
  const ofScan = folder === undefined ? undefined : placesOf(folder).indexes;
  const loader = new ExcerptLoader({ ...options, indexFolder: options.indexFolder ?? ofScan });
  try {
    const windows = await WindowSource.create(options, loader.output, '');
    return new WindowedDataset(windows, loader);
  } catch (error) {
    await loader[Symbol.asyncDispose]();
    throw error;
  }
}

/** Windows of recordings, at random access. Its processes and open files are given back by `close`, or at the end of `await using`. */
export class WindowedDataset implements AsyncIterable<Excerpt>, AsyncDisposable {
  readonly plan: WindowedPlan;
  /** What the loudness filter has left; undefined where there is none. */
  readonly loudness: LoudnessReport | undefined;
  readonly #windows: WindowSource;
  readonly #loader: ExcerptLoader;

  /** @see createWindowedDataset */
  constructor(windows: WindowSource, loader: ExcerptLoader) {
    this.#windows = windows;
    this.#loader = loader;
    this.plan = windows.plan;
    this.loudness = windows.loudness;
  }

  /** Windows of all epochs; `Infinity` where they have no end. */
  get length(): number {
    return this.plan.length;
  }

  /** What an index draws, without decoding. @throws {RangeError} when there is no such index. */
  describe(index: number): WindowDescription {
    return this.#windows.describe(index);
  }

  /**
   * Decodes the window of an index.
   *
   * @throws {RangeError} when there is no such index.
   * @throws AudioError when its file changed, or its audio is not to be had.
   */
  async get(index: number): Promise<Excerpt> {
    return await this.#loader.load(this.#windows.planExcerpt(index), index);
  }

  /**
   * Takes back the memory of an excerpt that nobody looks at any more, for one of the next: its `waveform` is empty from then on, and what else
   * looks at that memory sees other samples later. Spares a tenth of the work where decoding is done in this process.
   */
  recycle(excerpt: Pick<Excerpt, 'waveform'>): void {
    this.#loader.recycle(excerpt);
  }

  /** Walks over the windows, or over those of one rank and worker. */
  iterate(options: IterateOptions = {}): ExcerptIterator {
    return this.#loader.iterate(this, options);
  }

  [Symbol.asyncIterator](): ExcerptIterator {
    return this.iterate();
  }

  /** Gives back processes and open files; what is being decoded rejects. The same as leaving the scope of `await using`. */
  async close(): Promise<void> {
    await this.#loader[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The windows of files: their plan, and what is known of the files. */
export class WindowSource {
  readonly plan: WindowedPlan;
  readonly loudness: LoudnessReport | undefined;
  readonly #files: SampledFiles;
  readonly #output: Output;
  readonly #durationSeconds: number | string;

  /** @param group name that the order and the jitter hang on. */
  static async create(options: WindowedDatasetOptions, output: Output, group: string): Promise<WindowSource> {
    const cache = await openCache(options, output);
    try {
      const files = await findSampledFiles(options, { cache, sampleRate: output.sampleRate, jobs: output.jobs });
      return new WindowSource(files, options, output, group, cache);
    } finally {
      if (cache !== options.lufsCache) cache?.[Symbol.dispose]();
    }
  }

  private constructor(
    files: SampledFiles,
    options: WindowedDatasetOptions,
    output: Output,
    group: string,
    cache: LufsCache | undefined,
  ) {
    const { lufsCutoff = DEFAULT_CUTOFF, durationSeconds } = options;
    refuseLongExcerpts(durationSeconds, output.sampleRate === null ? files.recordings.rates : [output.sampleRate]);
    // The records of a scan's own cache stand in the order of its files.
    const isOwn = options.scan !== undefined && options.lufsCache === undefined;
    const filtered = cache && filterFiles(files, cache, isOwn, durationSeconds, lufsCutoff);
    this.plan = new WindowedPlan(files.recordings, { ...options, group, kept: filtered?.kept });
    this.loudness = filtered && reportOf(files, filtered, lufsCutoff);
    this.#files = files;
    this.#output = output;
    this.#durationSeconds = durationSeconds;
  }

  describe(index: number): WindowDescription {
    const { epoch, position, slot, file, slotInFile, startFrame, frames, windowFrames, seeds } =
      this.plan.describe(index);
    const { recordings } = this.#files;
    const rate = recordings.sampleRate(file);
    // Written out: copying the fields of another object takes seven times as long as all else.
    return {
      index,
      epoch,
      position,
      slot,
      file,
      slotInFile,
      startFrame,
      frames,
      windowFrames,
      seeds,
      filepath: recordings.path(file),
      source: recordings.groups[recordings.group(file)] ?? '',
      offsetSeconds: startFrame / rate,
      audioSeconds: frames / rate,
    };
  }

  planExcerpt(index: number): PlannedExcerpt {
    const { file, filepath, source, startFrame, frames } = this.describe(index);
    const frameRate = this.#files.recordings.sampleRate(file);
    const { padMode, lufs } = this.#output;
    const known = this.#files.stateOf(file);
    const place = { startFrame, frames, frameRate };
    return {
      job: { path: filepath, place, durationSeconds: this.#durationSeconds, padMode, lufs, known },
      filepath,
      source,
    };
  }
}

/** @throws UsageError where it was measured of another signal than the one that is loaded. */
async function openCache(options: WindowedDatasetOptions, output: Output): Promise<LufsCache | undefined> {
  const { lufsCache, lufsCutoff, scan } = options;
  if (lufsCutoff !== undefined && Number.isNaN(lufsCutoff))
    throw new RangeError('lufsCutoff must be a number, not NaN');
  const own = lufsCutoff === undefined ? undefined : typeof scan === 'string' ? scan : scan?.folder;
  const given = lufsCache ?? own;
  if (given === undefined) {
    if (lufsCutoff === undefined) return undefined;
    throw new UsageError('A lufsCutoff is given without a loudness cache', { hint: 'Give lufsCache too.' });
  }
  const cache = given instanceof LufsCache ? given : await openLufsCache(given);
  try {
    refuseMismatch(cache, output);
  } catch (error) {
    if (cache !== lufsCache) cache[Symbol.dispose]();
    throw error;
  }
  return cache;
}

export function refuseMismatch({ sampleRate, mono, folder }: LufsCache, output: Output): void {
  const hint =
    'The cutoff would be applied to another signal: measure it as it is loaded, or load it as it was measured.';
  if (sampleRate !== null && sampleRate !== output.sampleRate) {
    const loaded = output.sampleRate === null ? 'the rate of each file' : `${output.sampleRate} Hz`;
    throw new UsageError(
      `The loudness in "${folder}" was measured at ${sampleRate} Hz, and the dataset has ${loaded}`,
      {
        hint,
      },
    );
  }
  if (mono !== output.mono) {
    const text = (isMono: boolean): string => (isMono ? 'of all channels mixed to one' : 'of the channels as they are');
    throw new UsageError(
      `The loudness in "${folder}" was measured ${text(mono)}, and the dataset is ${text(output.mono)}`,
      { hint },
    );
  }
}

function filterFiles(
  { recordings }: SampledFiles,
  cache: LufsCache,
  isInOrder: boolean,
  durationSeconds: number | string,
  cutoffLufs: number,
): FilteredStarts {
  const windows = recordings.rates.map((rate) => framesOf(durationSeconds, rate));
  const filtered = filterByLoudness(
    recordings,
    (file) => windows[recordings.rateIndex(file)] ?? 0,
    cache,
    (file) => {
      if (isInOrder) return cache.values(file);
      const name = recordings.path(file);
      return cache.values(placeInCache(cache, name) ?? name);
    },
    cutoffLufs,
  );
  if (filtered.kept.starts.length > 0) return filtered;
  throw new InputError(`No window of ${recordings.length} files is left at or above the cutoff of ${cutoffLufs} LUFS`, {
    hint: 'Give a lower lufsCutoff, or shorter windows.',
  });
}

function reportOf(
  { recordings }: SampledFiles,
  { kept, keptShares }: FilteredStarts,
  cutoffLufs: number,
): LoudnessReport {
  const removedFiles: string[] = [];
  for (let file = 0; file < recordings.length; file += 1) {
    if (kept.firstSpan[file] === kept.firstSpan[file + 1]) removedFiles.push(recordings.path(file));
  }
  return { cutoffLufs, keptShares, removedFiles };
}
