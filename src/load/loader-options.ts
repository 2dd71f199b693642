import { availableParallelism } from 'node:os';
import { UsageError } from '../errors.js';
import { MAX_COPIES } from './augment.js';
import { checkAugment } from './augment-options.js';
import type { AugmentOptions } from './augment-options.js';
import type { PlanOptions } from './batch-options.js';
import type { OnItemError } from './batch-maker.js';
import type { RowFilters } from './item-table.js';
import type { KeepMembers } from '../tar/member-file.js';
import type { Tokenizer } from '../text/types.js';
import type { GivenSource } from './source-spec.js';
import type { SourceProgress } from './open-sources.js';
import { isLimited } from './plan-settings.js';

/** What `createLoader` is asked for. */
export interface LoaderOptions extends PlanOptions {
  /** A path, or several, of which content decides what they are; or sources spelt out. */
  source: GivenSource;
  /** Rows that are kept. Default: all. */
  filters?: RowFilters | undefined;
  /** Which of `worldSize` trainer processes this is. Default 0 of 1. */
  rank?: number | undefined;
  worldSize?: number | undefined;
  /** Which of the `workers` of this rank: it takes every `workers`-th step. Default 0 of 1. */
  worker?: number | undefined;
  workers?: number | undefined;
  /** Hz that everything is brought to; null keeps each recording's, for batches of one item. Default 16,000. */
  sampleRate?: number | null | undefined;
  /** Processes that decode; 0 decodes in threads of this one, one a core, which a crash of the codec library ends. Default: one a core. */
  jobs?: number | undefined;
  /** Batches that are decoded ahead. Default 4. */
  prefetch?: number | undefined;
  /**
   * Items are taken one by one: where nothing says how large batches may be, they have up to 32 items, fewer where the longest is long, and not as many
   * of them are decoded ahead. Default false.
   */
  oneByOne?: boolean | undefined;
  /** Gives the encoded bytes, too, of items that are a whole file or member and not changed. Default false. */
  rawBytes?: boolean | undefined;
  /** Gives the lines of rows, too, as their manifests spell them: in `rows` numbers are doubles. Default false. */
  rowLines?: boolean | undefined;
  /** Volume and noise. Default: none. */
  augment?: AugmentOptions | undefined;
  /** What becomes of the place of an item that cannot be read: another item that is no longer takes it, the batch is shorter, or it is thrown. Default `replace`. */
  onItemError?: OnItemError | undefined;
  /** Failures, from the start of the loader on, above which it ends by an error. Default: none. */
  maxFailures?: number | undefined;
  /** Where indexes of tars are kept: in memory alone, beside each tar, or in a folder. Those that lie beside a tar are used anyway. Default `memory`. */
  indexes?: KeepMembers | undefined;
  /** Counts the tokens that filters and two-dimensional buckets look at. Default: characters, and no filters of tokens. */
  tokenizer?: Tokenizer | undefined;
  /** Field with a row's text. Default `text`. */
  textField?: string | undefined;
  /** Told of each warning as it is met: those of the start, and of tars that are opened later. */
  onWarning?: ((warning: LoaderWarning) => void) | undefined;
  /** Told now and then how far the manifests are read. */
  onProgress?: ((progress: SourceProgress) => void) | undefined;
  /** Ends everything. */
  signal?: AbortSignal | undefined;
}

/** Something to know that is no error. */
export interface LoaderWarning {
  /** `scatter_loses_shards`, `unfinished_tar`, `rows_left_out` … */
  code: string;
  message: string;
  hint: string | undefined;
}

/** `LoaderOptions` without those of sources and plans, with their defaults. */
export interface LoaderSettings {
  rank: number;
  worldSize: number;
  worker: number;
  workers: number;
  sampleRate: number | null;
  jobs: number;
  prefetch: number;
  oneByOne: boolean;
  rawBytes: boolean;
  rowLines: boolean;
  augment: AugmentOptions | undefined;
  onItemError: OnItemError;
  maxFailures: number;
  numCopies: number;
}

const DEFAULT_RATE = 16_000;
const MAX_RATE = 768_000;
const DEFAULT_PREFETCH = 4;

/** @throws RangeError or UsageError when an option is out of its range, or two do not go together. */
export function resolveLoaderOptions(options: LoaderOptions): LoaderSettings {
  const { rank = 0, worldSize = 1, worker = 0, workers = 1, sampleRate = DEFAULT_RATE, augment } = options;
  const { jobs = availableParallelism(), prefetch = DEFAULT_PREFETCH, rawBytes = false, rowLines = false } = options;
  const oneByOne = (options.oneByOne ?? false) && !isLimited(options);
  const { onItemError = 'replace', maxFailures = Number.POSITIVE_INFINITY, numCopies = 1, batchSize } = options;
  checkPart('rank', rank, 'worldSize', worldSize);
  checkPart('worker', worker, 'workers', workers);
  checkCount('jobs', jobs, 0);
  checkCount('prefetch', prefetch, 1);
  checkCount('numCopies', numCopies, 1, MAX_COPIES);
  if (maxFailures !== Number.POSITIVE_INFINITY) checkCount('maxFailures', maxFailures, 0);
  if (sampleRate !== null) checkCount('sampleRate', sampleRate, 1, MAX_RATE);
  if (!['replace', 'drop', 'raise'].includes(onItemError)) {
    throw new RangeError(`onItemError must be replace, drop or raise, not ${JSON.stringify(onItemError)}`);
  }
  checkIndexes(options.indexes);
  if (augment !== undefined) checkAugment(augment);
  if (sampleRate === null && batchSize !== 1 && !oneByOne) {
    throw new UsageError('Items that keep their own rates do not go into one batch', {
      hint: 'Set a sampleRate, or a batchSize of 1.',
    });
  }
  if (sampleRate === null && augment?.noise !== undefined) {
    throw new UsageError('Noise cannot be mixed into items that keep their own rates', { hint: 'Set a sampleRate.' });
  }
  return {
    ...{ rank, worldSize, worker, workers, sampleRate, jobs, prefetch, oneByOne, rawBytes, rowLines },
    ...{ augment, onItemError, maxFailures, numCopies },
  };
}

function checkIndexes(indexes: unknown = 'memory'): void {
  if (indexes === 'memory' || indexes === 'beside') return;
  const folder: unknown = typeof indexes === 'object' && indexes !== null && 'folder' in indexes && indexes.folder;
  if (typeof folder === 'string' && folder !== '') return;
  throw new RangeError(`indexes must be memory, beside or { folder }, not ${JSON.stringify(indexes)}`);
}

function checkPart(partName: string, part: number, wholeName: string, whole: number): void {
  checkCount(wholeName, whole, 1);
  if (Number.isSafeInteger(part) && part >= 0 && part < whole) return;
  throw new RangeError(`There is no ${partName} ${part} of ${whole}: they are numbered from 0`);
}

function checkCount(name: string, count: number, least: number, most = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(count) && count >= least && count <= most) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
  throw new RangeError(`${name} must be a whole number ${range}, not ${count}`);
}
