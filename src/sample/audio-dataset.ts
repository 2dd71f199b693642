import { EpochPermutations } from '../random/permutation.js';
import { InputError, UsageError } from '../errors.js';
import { framesOf } from '../random/decimal.js';
import { ExcerptLoader, refuseLongExcerpts } from './excerpt-dataset.js';
import type { Output, OutputOptions, PlannedExcerpt } from './excerpt-dataset.js';
import type { ExcerptIterator, IterateOptions } from './excerpt-iterator.js';
import type { Excerpt } from './excerpt.js';
import { checkOnReadError, withReadErrors } from './read-error.js';
import type { ReadErrorOptions } from './read-error.js';
import { listPaths } from './sampled-files.js';
import type { FileOptions } from './sampled-files.js';
import { JitterPhases } from './window-offsets.js';
import { checkEpochs } from './windowed-plan.js';

/** What `createAudioDataset` is asked for. */
export interface AudioDatasetOptions
  extends Pick<FileOptions, 'sources' | 'filepaths' | 'extensions'>, OutputOptions, ReadErrorOptions {
  /** Length of an excerpt, more than 0. Default 1. */
  durationSeconds?: number | string | undefined;
  /** An order of its own for each epoch. Default true. */
  shuffle?: boolean | undefined;
  /** A whole number. Default 0. */
  shuffleSeed?: number | undefined;
  /** Of the places of excerpts. Default: the shuffle seed, whose numbers have another role. */
  excerptSeed?: number | undefined;
  /** From 1 on, or `null` for epochs without end. Default 1. */
  numEpochs?: number | null | undefined;
}

/** What an index draws, before the file is opened. */
export interface AudioDescription {
  index: number;
  epoch: number;
  /** In the order of the epoch. */
  position: number;
  file: number;
  filepath: string;
  source: string;
  /** From 0 to 1: where among all its starts the excerpt begins. */
  phase: number;
  seeds: { shuffle: number; excerpt: number; group: string };
}

/**
 * Makes a dataset that draws one excerpt of each file an epoch, at a place of its own each time. Nothing is read before it is drawn, so files that
 * cannot be read may be passed over.
 *
 * @throws UsageError, RangeError or TypeError when options are wrong or do not go together.
 * @throws InputError when there is no file.
 */
export async function createAudioDataset(options: AudioDatasetOptions): Promise<AudioDataset> {
  const loader = new ExcerptLoader(options);
  try {
    return new AudioDataset(await FileSource.create(options, loader.output, ''), loader, options);
  } catch (error) {
    await loader[Symbol.asyncDispose]();
    throw error;
  }
}

/** One excerpt a file and epoch, at random access. Its processes and open files are given back by `close`, or at the end of `await using`. */
export class AudioDataset implements AsyncIterable<Excerpt>, AsyncDisposable {
  readonly #files: FileSource;
  readonly #loader: ExcerptLoader;
  readonly #readErrors: ReadErrorOptions;

  /** @see createAudioDataset */
  constructor(files: FileSource, loader: ExcerptLoader, readErrors: ReadErrorOptions) {
    this.#files = files;
    this.#loader = loader;
    this.#readErrors = readErrors;
  }

  /** Excerpts of all epochs; `Infinity` where they have no end. */
  get length(): number {
    return this.#files.length;
  }

  /** What an index draws. @throws {RangeError} when there is no such index. */
  describe(index: number): AudioDescription {
    return this.#files.describe(index);
  }

  /**
   * Decodes the excerpt of an index.
   *
   * @returns undefined for a file that cannot be read, where these are passed over.
   * @throws {RangeError} when there is no such index.
   * @throws AudioError when the file cannot be read, and `onReadError` is `raise`.
   */
  async get(index: number): Promise<Excerpt | undefined> {
    const planned = this.#files.planExcerpt(index);
    return await withReadErrors(() => this.#loader.load(planned, index), this.#readErrors);
  }

  /**
   * Takes back the memory of an excerpt that nobody looks at any more, for one of the next: its `waveform` is empty from then on, and what else
   * looks at that memory sees other samples later. Spares a tenth of the work where decoding is done in this process.
   */
  recycle(excerpt: Pick<Excerpt, 'waveform'>): void {
    this.#loader.recycle(excerpt);
  }

  /** Walks over the excerpts, or over those of one rank and worker. */
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

/** Files, each of which gives one excerpt an epoch. */
export class FileSource {
  /** Excerpts of an epoch. */
  readonly epochLength: number;
  readonly length: number;
  readonly #paths: readonly string[];
  readonly #sourceOf: (file: number) => string;
  readonly #output: Output;
  readonly #durationSeconds: number | string;
  readonly #seeds: AudioDescription['seeds'];
  readonly #order: EpochPermutations | undefined;
  readonly #phases: JitterPhases;

  /** @param group name that the order and the places hang on. */
  static async create(options: AudioDatasetOptions, output: Output, group: string): Promise<FileSource> {
    const { sources, filepaths } = options;
    if ((sources === undefined) === (filepaths === undefined)) {
      const state =
        sources === undefined ? 'No files are given to sample from' : 'Files are given in more than one way';
      throw new UsageError(state, { hint: 'Give one of sources and filepaths.' });
    }
    checkOnReadError(options);
    const { groups, paths, groupOf } = await listPaths(options);
    if (paths.length === 0) throw new InputError('There is no file to sample from');
    return new FileSource(paths, (file) => groups[groupOf(file)] ?? '', options, output, group);
  }

  private constructor(
    paths: readonly string[],
    sourceOf: (file: number) => string,
    options: AudioDatasetOptions,
    output: Output,
    group: string,
  ) {
    const { durationSeconds = 1, shuffle = true, shuffleSeed = 0, numEpochs = 1 } = options;
    const excerptSeed = options.excerptSeed ?? shuffleSeed;
    checkEpochs(numEpochs);
    if (framesOf(durationSeconds, output.sampleRate ?? 1_000_000) < 1) {
      throw new RangeError(`The duration must be more than 0 seconds, not ${durationSeconds}`);
    }
    if (output.sampleRate !== null) refuseLongExcerpts(durationSeconds, [output.sampleRate]);
    this.epochLength = paths.length;
    this.length = numEpochs === null ? Number.POSITIVE_INFINITY : paths.length * numEpochs;
    this.#paths = paths;
    this.#sourceOf = sourceOf;
    this.#output = output;
    this.#durationSeconds = durationSeconds;
    this.#seeds = Object.freeze({ shuffle: shuffleSeed, excerpt: excerptSeed, group });
    this.#order = shuffle ? new EpochPermutations(paths.length, shuffleSeed, `sample/files/${group}`) : undefined;
    this.#phases = new JitterPhases(excerptSeed, `sample/place/${group}`);
  }

  describe(index: number): AudioDescription {
    if (!(Number.isSafeInteger(index) && index >= 0 && index < this.length)) {
      throw new RangeError(`There is no excerpt ${index}: they are numbered from 0, and there are ${this.length}`);
    }
    const epoch = Math.floor(index / this.epochLength);
    const position = index - epoch * this.epochLength;
    const file = this.#order === undefined ? position : this.#order.at(epoch, position);
    const filepath = this.#paths[file] ?? '';
    const phase = this.#phases.at(epoch, file, 0);
    return { index, epoch, position, file, filepath, source: this.#sourceOf(file), phase, seeds: this.#seeds };
  }

  planExcerpt(index: number): PlannedExcerpt {
    const { filepath, source, phase } = this.describe(index);
    const { padMode, lufs } = this.#output;
    const known = { sizeBytes: Number.NaN, mtimeMicros: Number.NaN };
    const job = { path: filepath, place: { phase }, durationSeconds: this.#durationSeconds, padMode, lufs, known };
    return { job, filepath, source };
  }
}
