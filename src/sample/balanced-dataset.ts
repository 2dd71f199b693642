import { UsageError } from '../errors.js';
import { FileSource } from './audio-dataset.js';
import type { AudioDescription } from './audio-dataset.js';
import { Balance } from '../random/balance.js';
import type { BalancedElement, StopRule } from '../random/balance.js';
import { ExcerptLoader } from './excerpt-dataset.js';
import type { OutputOptions, PlannedExcerpt } from './excerpt-dataset.js';
import type { ExcerptIterator, IterateOptions } from './excerpt-iterator.js';
import type { Excerpt } from './excerpt.js';
import { checkNamed } from './path-list.js';
import { checkOnReadError, withReadErrors } from './read-error.js';
import type { ReadErrorOptions } from './read-error.js';
import type { FileOptions } from './sampled-files.js';
import { weightsOf } from '../random/weights.js';
import { WindowSource } from './windowed-dataset.js';
import type { LoudnessOptions, WindowDescription } from './windowed-dataset.js';
import { checkEpochs } from './windowed-plan.js';
import type { SlotOptions } from './slots.js';

/** How windows are laid within each group. */
export interface WindowConfig extends Partial<Omit<SlotOptions, 'kept'>>, LoudnessOptions {
  /** Each window starts anywhere in its slot's part, anew each epoch. Default true. */
  jitter?: boolean | undefined;
}

/** What `createBalancedDataset` is asked for. */
export interface BalancedDatasetOptions
  extends OutputOptions, ReadErrorOptions, Pick<FileOptions, 'extensions' | 'durations' | 'checkFiles'> {
  /** Files, folders and patterns of each group, by its name. */
  sources: Readonly<Record<string, string | readonly string[]>>;
  /** What each group counts for; 1 where none is given. Decimals are taken as they are spelled. */
  weights?: Readonly<Record<string, number | string>> | undefined;
  /** Draws windows within each group; else one excerpt a file and epoch. */
  window?: WindowConfig | undefined;
  /** Length of an excerpt where there is no `window`. Default 1. */
  durationSeconds?: number | string | undefined;
  /** When the mixture ends. Default `forever` for epochs without end, else `first_exhausted`. */
  stop?: StopRule | undefined;
  /** An order of its own for each epoch of a group. Default true. */
  shuffle?: boolean | undefined;
  /** A whole number. Default 0. */
  shuffleSeed?: number | undefined;
  /** Of the places of excerpts. Default: the shuffle seed, whose numbers have another role. */
  excerptSeed?: number | undefined;
  /** Epochs of each group, from 1 on, or `null`, the default, for epochs without end. */
  numEpochs?: number | null | undefined;
}

/** What an index draws, before anything is decoded. */
export interface BalancedDescription {
  index: number;
  group: string;
  /** Which of the group's own elements, from 0, and what it is. */
  drawn: WindowDescription | AudioDescription;
}

const STOP_RULES: readonly StopRule[] = ['first_exhausted', 'all_exhausted', 'forever'];

/** One group: what an index of its own draws. */
type GroupSource = WindowSource | FileSource;

/**
 * Makes a dataset that mixes groups of files by weights: the share of each over any stretch from the start is within one element of its weight.
 * A group's own stream hangs on its name and the seeds alone: adding another changes nothing in it.
 *
 * @throws UsageError, RangeError or TypeError when options are wrong or do not go together.
 * @throws InputError when a group has no file, files have changed since they were measured, or the filter leaves nothing of a group.
 */
export async function createBalancedDataset(options: BalancedDatasetOptions): Promise<BalancedDataset> {
  checkNamed('sources', options.sources);
  const names = Object.keys(options.sources);
  const balance = new Balance(weightsOf(names, options.weights));
  refuseConflicts(options);
  const loader = new ExcerptLoader(options);
  try {
    const groups: GroupSource[] = [];
    for (const name of names) groups.push(await openGroup(name, options, loader));
    return new BalancedDataset(names, groups, balance, loader, options);
  } catch (error) {
    await loader[Symbol.asyncDispose]();
    throw error;
  }
}

/** A mixture of groups, at random access. Its processes and open files are given back by `close`, or at the end of `await using`. */
export class BalancedDataset implements AsyncIterable<Excerpt>, AsyncDisposable {
  /** Names of the groups. */
  readonly groups: readonly string[];
  readonly balance: Balance;
  /** Elements of the mixture; `Infinity` where it has no end. */
  readonly length: number;
  /** Elements of an epoch of each group. */
  readonly epochLengths: readonly number[];
  readonly #sources: readonly GroupSource[];
  readonly #loader: ExcerptLoader;
  readonly #readErrors: ReadErrorOptions;

  /** @see createBalancedDataset */
  constructor(
    groups: readonly string[],
    sources: readonly GroupSource[],
    balance: Balance,
    loader: ExcerptLoader,
    options: BalancedDatasetOptions,
  ) {
    const { numEpochs = null } = options;
    this.groups = groups;
    this.balance = balance;
    this.#sources = sources;
    this.#loader = loader;
    this.#readErrors = options;
    this.epochLengths = sources.map((source) => epochLength(source));
    const lengths = this.epochLengths.map((length) =>
      numEpochs === null ? Number.POSITIVE_INFINITY : length * numEpochs,
    );
    this.length = balance.length(lengths, options.stop ?? (numEpochs === null ? 'forever' : 'first_exhausted'));
  }

  /** What an index draws, without decoding. @throws {RangeError} when there is no such index. */
  describe(index: number): BalancedDescription {
    const { group, index: own } = this.#elementOf(index);
    return { index, group: this.groups[group] ?? '', drawn: this.#source(group).describe(own) };
  }

  /**
   * Decodes the excerpt of an index.
   *
   * @returns undefined for a file that cannot be read, where these are passed over.
   * @throws {RangeError} when there is no such index.
   * @throws AudioError when the file cannot be read, and `onReadError` is `raise`.
   */
  async get(index: number): Promise<Excerpt | undefined> {
    const { group, index: own } = this.#elementOf(index);
    const planned: PlannedExcerpt = { ...this.#source(group).planExcerpt(own), source: this.groups[group] ?? '' };
    return await withReadErrors(() => this.#loader.load(planned, index), this.#readErrors);
  }

  /**
   * Takes back the memory of an excerpt that nobody looks at any more, for one of the next: its `waveform` is empty from then on, and what else
   * looks at that memory sees other samples later. Spares a tenth of the work where decoding is done in this process.
   */
  recycle(excerpt: Pick<Excerpt, 'waveform'>): void {
    this.#loader.recycle(excerpt);
  }

  /** Walks over the mixture, or over the part of one rank and worker. */
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

  #elementOf(index: number): BalancedElement {
    if (Number.isSafeInteger(index) && index >= 0 && index < this.length) return this.balance.at(index);
    throw new RangeError(`There is no element ${index}: they are numbered from 0, and there are ${this.length}`);
  }

  #source(group: number): GroupSource {
    const source = this.#sources[group];
    if (source === undefined) throw new RangeError(`There is no group ${group}`);
    return source;
  }
}

function refuseConflicts({
  window,
  durationSeconds,
  onReadError,
  numEpochs = null,
  stop,
}: BalancedDatasetOptions): void {
  checkOnReadError({ onReadError });
  checkEpochs(numEpochs);
  if (stop !== undefined && !STOP_RULES.includes(stop)) {
    throw new RangeError(`stop must be one of ${STOP_RULES.join(', ')}, not ${JSON.stringify(stop)}`);
  }
  if (window !== undefined && durationSeconds !== undefined) {
    throw new UsageError('Both window and durationSeconds are given', { hint: 'Give the duration within window.' });
  }
  if (window !== undefined && (onReadError ?? 'raise') !== 'raise') {
    throw new UsageError(`onReadError "${onReadError}" cannot be combined with window`, {
      hint: 'Windows need the length of every file beforehand: leave files out that cannot be read, with cutroom scan --on-error skip.',
    });
  }
  if (numEpochs === null && stop !== undefined && stop !== 'forever') {
    throw new UsageError(`A mixture of epochs without end cannot stop by "${stop}"`, { hint: 'Give numEpochs too.' });
  }
}

/** Groups go on for as long as the mixture does, so their epochs have no end. */
async function openGroup(name: string, options: BalancedDatasetOptions, loader: ExcerptLoader): Promise<GroupSource> {
  const { window } = options;
  const group = { ...options, sources: options.sources[name], numEpochs: null };
  if (window === undefined) return await FileSource.create(group, loader.output, name);
  return await WindowSource.create({ ...group, durationSeconds: 1, ...window }, loader.output, name);
}

function epochLength(source: GroupSource): number {
  return source instanceof WindowSource ? source.plan.slots.length : source.epochLength;
}
