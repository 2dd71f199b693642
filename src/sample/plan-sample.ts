import path from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { framesOf } from '../random/decimal.js';
import { resolveOutput, type Output } from './excerpt-dataset.js';
import type { KeptStarts } from './kept-starts.js';
import { filterByLoudness } from './loudness-filter.js';
import { openLufsCache, type LufsCache } from './lufs-cache.js';
import type { RecordingTable } from './recordings.js';
import { findSampleFiles, type SampleFiles } from './sample-files.js';
import { checkSampleOptions, type SampleContext, type SampleOptions } from './sample-options.js';
import { SamplePlan } from './sample-plan.js';
import { placeInCache } from './sampled-files.js';
import { placesOf } from './scan-files.js';
import { readMetrics } from './scan-metrics.js';
import type { ScanFailure } from './scan-types.js';
import { weightsOf } from '../random/weights.js';
import { refuseMismatch } from './windowed-dataset.js';

/** A plan of what is drawn, and what it was made of. */
export interface PlannedSample {
  plan: SamplePlan;
  options: SampleOptions;
  /** Of a window. */
  durationSeconds: number;
  output: Output;
  /** The loudness that windows must have, in LUFS; undefined where it is not looked at. */
  lufsCutoff: number | undefined;
  /** Files that are left out, as they cannot be read. */
  leftOut: readonly ScanFailure[];
  /** Bytes of a file when it was read. */
  sizeBytesOf: (path: string) => number | undefined;
}

const DEFAULT_CUTOFF = -40;
const MAX_NAMED = 5;

/**
 * Plans which windows are drawn: those of `createWindowedDataset`, or with groups of `createBalancedDataset`, of the
 * same files and options. Nothing but the lengths of files is read.
 *
 * @throws UsageError or RangeError when options are wrong or do not go together.
 * @throws InputError when there is no file, files cannot be read or have changed since they were scanned, or the filter
 *   leaves nothing.
 */
export async function planSample(options: SampleOptions, context: SampleContext = {}): Promise<PlannedSample> {
  checkSampleOptions(options);
  const output = resolveOutput(options);
  const { groups, weights, durationSeconds } = options;
  const names = groups === undefined ? [''] : Object.keys(groups);
  const weightOf = groups === undefined ? [1] : weightsOf(names, weights);
  using cache = await openCache(options, output);
  const files = await findSampleFiles(options, context);
  const filter = cache === undefined ? undefined : await LoudnessFilter.create(cache, files, options);
  const plan = new SamplePlan(
    files.recordings.map((recordings, at) => {
      const name = names[at]!;
      return { name, weight: weightOf[at]!, recordings, kept: filter?.keep(recordings) };
    }),
    { ...options, numEpochs: options.numEpochs === undefined && groups !== undefined ? null : options.numEpochs },
  );
  return {
    plan,
    options,
    durationSeconds: Number(durationSeconds),
    output,
    lufsCutoff: filter?.cutoffLufs,
    leftOut: files.leftOut,
    sizeBytesOf: (file) => sizeOf(files, file),
  };
}

function sizeOf({ table }: SampleFiles, file: string): number | undefined {
  return table.factsOf(table.find(file) ?? -1)?.sizeBytes;
}

async function openCache(options: SampleOptions, output: Output): Promise<LufsCache | undefined> {
  const { lufsCache, lufsCutoff, scan } = options;
  const folder = lufsCache ?? (lufsCutoff === undefined ? undefined : scan);
  if (folder === undefined) return undefined;
  const cache = await openLufsCache(folder);
  try {
    refuseMismatch(cache, output);
    return cache;
  } catch (error) {
    cache[Symbol.dispose]();
    throw error;
  }
}

/** Tells by a cache where windows are loud enough. */
class LoudnessFilter {
  readonly cutoffLufs: number;
  readonly #cache: LufsCache;
  readonly #durationSeconds: number | string;
  /** What relative paths of the cache are joined to, where it belongs to a scan. */
  readonly #base: string | undefined;

  private constructor(cache: LufsCache, base: string | undefined, { lufsCutoff, durationSeconds }: SampleOptions) {
    this.cutoffLufs = lufsCutoff ?? DEFAULT_CUTOFF;
    if (Number.isNaN(this.cutoffLufs)) throw new UsageError('The loudness cutoff is no number');
    this.#cache = cache;
    this.#base = base;
    this.#durationSeconds = durationSeconds;
  }

  /** @throws {InputError} when files are not those that were measured. */
  static async create(cache: LufsCache, files: SampleFiles, options: SampleOptions): Promise<LoudnessFilter> {
    const metrics = await readMetrics(placesOf(cache.folder).metrics);
    const base = metrics?.identity.base ?? undefined;
    const filter = new LoudnessFilter(
      cache,
      base === undefined ? undefined : path.resolve(cache.folder, base),
      options,
    );
    filter.#refuseOthers(files);
    return filter;
  }

  keep(recordings: RecordingTable): KeptStarts {
    const windows = recordings.rates.map((rate) => framesOf(this.#durationSeconds, rate));
    return filterByLoudness(
      recordings,
      (file) => windows[recordings.rateIndex(file)]!,
      this.#cache,
      (file) => this.#cache.values(this.#placeOf(recordings.path(file))!),
      this.cutoffLufs,
    ).kept;
  }

  #placeOf(file: string): number | undefined {
    const place = placeInCache(this.#cache, file);
    if (place !== undefined || this.#base === undefined) return place;
    return this.#cache.indexOf(path.relative(this.#base, file));
  }

  #refuseOthers(files: SampleFiles): void {
    const { fileSizes, folder } = this.#cache;
    const others: string[] = [];
    let count = 0;
    for (const ofGroup of files.recordings) {
      for (let file = 0; file < ofGroup.length; file += 1) {
        const name = ofGroup.path(file);
        const place = this.#placeOf(name);
        const known = place === undefined ? undefined : (fileSizes?.[place] ?? undefined);
        const size = sizeOf(files, name);
        if (place !== undefined && (known === undefined || known === size)) continue;
        count += 1;
        const state = place === undefined ? 'not measured' : `it had ${known} bytes, and has ${size}`;
        if (others.length < MAX_NAMED) others.push(`"${name}" (${state})`);
      }
    }
    if (count === 0) return;
    const more = count > others.length ? ` and ${count - others.length} more` : '';
    throw new InputError(`The loudness cache "${folder}" is not of these files: ${others.join(', ')}${more}`, {
      path: folder,
      hint: 'Measure them: cutroom scan PATH --out DIR --lufs; an unchanged file is not read again.',
    });
  }
}
