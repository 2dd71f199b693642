import { EpochPermutations } from '../random/permutation.js';
import type { RecordingTable } from './recordings.js';
import { SlotTable, type SlotOptions } from './slots.js';
import { JitterPhases, phaseOf } from './window-offsets.js';

/** How windows are laid, ordered and placed. */
export interface WindowedPlanOptions extends SlotOptions {
  /**
   * Each window starts anywhere in its slot's part, anew each epoch. False: at `phaseOf(epoch)` of it. Default true.
   */
  jitter?: boolean | undefined;
  /** An order of its own for each epoch. False: recording by recording, in time. Default true. */
  shuffle?: boolean | undefined;
  /** A whole number. Default 0. */
  shuffleSeed?: number | undefined;
  /** Of the jitter. Default: the shuffle seed, whose numbers have another role. */
  excerptSeed?: number | undefined;
  /** From 1 on, or `null` for epochs without end. Default 1. */
  numEpochs?: number | null | undefined;
  /** Name of what is sampled: streams of different names have nothing to do with each other. Default empty. */
  group?: string | undefined;
}

/** What an index draws, with all that decides it. */
export interface PlannedWindow {
  index: number;
  epoch: number;
  /** In the order of the epoch. */
  position: number;
  slot: number;
  /** Index into the table of recordings. */
  file: number;
  slotInFile: number;
  /** First frame, at the recording's rate. */
  startFrame: number;
  /** Frames of the recording from there: those of a window, or fewer where the recording is shorter than it. */
  frames: number;
  /** Frames of a window at the recording's rate: what `frames` lacks of it is padding. */
  windowFrames: number;
  seeds: PlanSeeds;
}

/** The seeds of a plan. */
export interface PlanSeeds {
  shuffle: number;
  excerpt: number;
  group: string;
}

/**
 * Which window each index draws, without a list: index = epoch · slots + position, position → slot by the permutation
 * of the epoch, slot → recording by prefix sums, place in the slot's part by jitter or phase. All of it is a pure
 * function of options, recordings and index, so any process may ask for any index, and the state of a walk is the next
 * index.
 *
 * The seeds are hashed with role, group and epoch: seed s in epoch 1 has nothing to do with seed s + 1 in epoch 0.
 */
export class WindowedPlan {
  readonly slots: SlotTable;
  readonly recordings: RecordingTable;
  /** `null`: without end. */
  readonly numEpochs: number | null;
  readonly seeds: Readonly<PlanSeeds>;
  readonly #order: EpochPermutations | undefined;
  readonly #jitter: JitterPhases | undefined;

  /**
   * @throws {RangeError} when an option is out of its range, when there is no recording, or no place where a window may
   * start.
   * @throws {TypeError} when the number of epochs is no whole number.
   */
  constructor(recordings: RecordingTable, options: WindowedPlanOptions) {
    const { jitter = true, shuffle = true, shuffleSeed = 0, numEpochs = 1, group = '' } = options;
    const excerptSeed = options.excerptSeed ?? shuffleSeed;
    checkEpochs(numEpochs);
    if (recordings.length === 0) throw new RangeError('There is no recording to sample from');
    this.slots = new SlotTable(recordings, options);
    if (this.slots.length === 0) throw new RangeError('No recording has a place left where a window may start');
    this.recordings = recordings;
    this.numEpochs = numEpochs;
    this.seeds = Object.freeze({ shuffle: shuffleSeed, excerpt: excerptSeed, group });
    this.#order = shuffle ? new EpochPermutations(this.slots.length, shuffleSeed, `sample/order/${group}`) : undefined;
    this.#jitter = jitter ? new JitterPhases(excerptSeed, `sample/offset/${group}`) : undefined;
  }

  /** Indices that there are: slots times epochs, or `Infinity`. */
  get length(): number {
    return this.numEpochs === null ? Number.POSITIVE_INFINITY : this.slots.length * this.numEpochs;
  }

  /**
   * What an index draws.
   *
   * @throws {RangeError} when the index is none of the plan.
   */
  describe(index: number): PlannedWindow {
    if (!(Number.isSafeInteger(index) && index >= 0 && index < this.length)) {
      throw new RangeError(`There is no window ${index}: they are numbered from 0, and there are ${this.length}`);
    }
    const { slots } = this;
    const epoch = Math.floor(index / slots.length);
    const position = index - epoch * slots.length;
    const slot = this.#order === undefined ? position : this.#order.at(epoch, position);
    const file = slots.fileOf(slot);
    const slotInFile = slot - slots.firstSlot(file);
    const phase = this.#jitter === undefined ? phaseOf(epoch) : this.#jitter.at(epoch, file, slotInFile);
    const windowFrames = slots.windowFrames(file);
    return {
      index,
      epoch,
      position,
      slot,
      file,
      slotInFile,
      startFrame: slots.startFrame(file, slotInFile, phase),
      frames: Math.min(windowFrames, this.recordings.frames(file)),
      windowFrames,
      seeds: this.seeds,
    };
  }

  /**
   * The index that draws a slot in an epoch: `describe(indexOf(epoch, slot))` has both.
   *
   * @throws {RangeError} when there is no such slot or epoch.
   */
  indexOf(epoch: number, slot: number): number {
    const isEpoch = Number.isSafeInteger(epoch) && epoch >= 0 && epoch < (this.numEpochs ?? Number.POSITIVE_INFINITY);
    if (!isEpoch) throw new RangeError(`There is no epoch ${epoch}`);
    this.slots.fileOf(slot);
    const position = this.#order === undefined ? slot : this.#order.indexOf(epoch, slot);
    return epoch * this.slots.length + position;
  }
}

/** @throws when it is no number of epochs. */
export function checkEpochs(numEpochs: number | null): void {
  if (numEpochs === null) return;
  if (!Number.isInteger(numEpochs)) {
    throw new TypeError(`numEpochs must be a whole number or null, not ${String(numEpochs)}`);
  }
  if (numEpochs < 1) throw new RangeError(`numEpochs must be 1 or more, not ${numEpochs}`);
}
