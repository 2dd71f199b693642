import { LOWEST_WEIGHTED_RATE } from '../audio/k-weighting.js';
import { UsageError } from '../errors.js';
import { framesOf } from '../random/decimal.js';
import { ExcerptDecoder } from './excerpt-decoder.js';
import type { ExcerptJob } from './excerpt-job.js';
import { ExcerptIterator } from './excerpt-iterator.js';
import type { ExcerptSource, IterateOptions } from './excerpt-iterator.js';
import { PAD_MODES } from './excerpt.js';
import type { Excerpt, PadMode } from './excerpt.js';

/** How excerpts come out. */
export interface OutputOptions {
  /** Hz; null keeps each recording's. Default 44,100. */
  sampleRate?: number | null | undefined;
  /** Averages all channels; else they are kept. Default true. */
  mono?: boolean | undefined;
  /** How a window is filled up that its recording is too short for. Default `constant`: by zeros. */
  padMode?: PadMode | undefined;
  /** Measures the loudness of each excerpt. Default false. */
  lufs?: boolean | undefined;
  /** Processes that decode; 0 or 1 decodes in this one, which blocks it for the time of each excerpt. Default 0. */
  jobs?: number | undefined;
  /** Recordings that each of them keeps open. Default 64. */
  openFiles?: number | undefined;
  /** Bytes that each of them remembers of where packets lie in compressed files. Default 64 MiB. */
  indexBytes?: number | undefined;
  /**
   * A folder where that is kept for the next process, each long file's once a first pass over it was made. Default: `indexes` in the folder of
   * the scan, where one is given, which `cutroom scan` has filled; else nothing is kept.
   */
  indexFolder?: string | undefined;
  /** Takes what is to be said: of what is kept there, that it is of no use and made anew, or cannot be kept; of files that are given twice. */
  onNotice?: ((message: string) => void) | undefined;
  /** Stops what is being decoded; that, and what is asked for later, rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** `OutputOptions` with their defaults. */
export interface Output {
  sampleRate: number | null;
  mono: boolean;
  padMode: PadMode;
  lufs: boolean;
  jobs: number;
}

const DEFAULT_RATE = 44_100;
const MAX_RATE = 768_000;

/** @throws {RangeError} when an option is out of its range. */
export function resolveOutput(options: OutputOptions): Output {
  const { sampleRate = DEFAULT_RATE, mono = true, padMode = 'constant', lufs = false, jobs = 0 } = options;
  if (sampleRate !== null && !(Number.isSafeInteger(sampleRate) && sampleRate >= 1 && sampleRate <= MAX_RATE)) {
    throw new RangeError(`sampleRate must be a whole number of Hz up to ${MAX_RATE}, or null, not ${sampleRate}`);
  }
  if (!PAD_MODES.includes(padMode)) {
    throw new RangeError(`padMode must be one of ${PAD_MODES.join(', ')}, not ${JSON.stringify(padMode)}`);
  }
  if (lufs && sampleRate !== null && sampleRate < LOWEST_WEIGHTED_RATE) {
    throw new UsageError(`Loudness cannot be measured at ${sampleRate} Hz`, {
      hint: `Its weighting needs ${LOWEST_WEIGHTED_RATE} Hz.`,
    });
  }
  const { openFiles = 1, indexBytes = 0 } = options;
  if (!(Number.isSafeInteger(openFiles) && openFiles >= 1)) {
    throw new RangeError(`openFiles must be a whole number from 1 on, not ${openFiles}`);
  }
  if (!(Number.isSafeInteger(indexBytes) && indexBytes >= 0)) {
    throw new RangeError(`indexBytes must be a whole number from 0 on, not ${indexBytes}`);
  }
  return { sampleRate, mono, padMode, lufs, jobs };
}

/** 4 GiB of floats. */
const MAX_SAMPLES = 2 ** 30;

/** @throws {RangeError} when excerpts of one of the rates, in Hz, are longer than an array can be. */
export function refuseLongExcerpts(durationSeconds: number | string, rates: readonly number[]): void {
  const rate = Math.max(0, ...rates);
  if (framesOf(durationSeconds, rate) <= MAX_SAMPLES) return;
  throw new RangeError(
    `The duration must be ${Math.floor(MAX_SAMPLES / rate)} seconds or less at ${rate} Hz, not ${durationSeconds}`,
  );
}

/** What decoding an element of a dataset takes, and what is told of it beside its audio. */
export interface PlannedExcerpt {
  job: ExcerptJob;
  filepath: string;
  source: string;
}

/** The decoder of a dataset, which datasets that are mixed share. */
export class ExcerptLoader implements AsyncDisposable {
  readonly output: Output;
  readonly #decoder: ExcerptDecoder;

  /** @throws {RangeError} when an option is out of its range. */
  constructor(options: OutputOptions) {
    this.output = resolveOutput(options);
    const { sampleRate, mono, jobs } = this.output;
    const { openFiles, indexBytes, indexFolder, onNotice, signal } = options;
    this.#decoder = new ExcerptDecoder({
      sampleRate,
      mono,
      jobs,
      ...(openFiles === undefined ? {} : { openFiles }),
      ...(indexBytes === undefined ? {} : { indexBytes }),
      ...(indexFolder === undefined ? {} : { indexFolder }),
      onNotice,
      signal,
    });
  }

  /** @throws AudioError where the audio is not to be had. */
  async load({ job, filepath, source }: PlannedExcerpt, index: number): Promise<Excerpt> {
    const { waveform, channels, samples, audioSamples, sampleRate, offsetSeconds, lufs } =
      await this.#decoder.decode(job);
    const excerpt = { waveform, channels, samples, audioSamples, sampleRate, filepath, source, offsetSeconds, index };
    return lufs === undefined ? excerpt : { ...excerpt, lufs };
  }

  /** Takes back the waveform of an excerpt, which is left without samples, for one of the next. */
  recycle(excerpt: Pick<Excerpt, 'waveform'>): void {
    const { waveform } = excerpt;
    if (waveform.length === 0) return;
    excerpt.waveform = new Float32Array(0);
    this.#decoder.recycle(waveform);
  }

  /** @throws {RangeError} when an option is out of its range. */
  iterate(source: ExcerptSource, options: IterateOptions): ExcerptIterator {
    const { jobs } = this.output;
    return new ExcerptIterator(source, options, jobs <= 1 ? 1 : 4 * jobs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#decoder[Symbol.asyncDispose]();
  }
}
