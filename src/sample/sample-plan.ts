import { InputError } from '../errors.js';
import { Balance, type StopRule } from '../random/balance.js';
import type { KeptStarts } from './kept-starts.js';
import type { RecordingTable } from './recordings.js';
import { WindowedPlan, type PlannedWindow, type WindowedPlanOptions } from './windowed-plan.js';

/** Recordings that are sampled together. */
export interface SampledGroup {
  /** Empty where there are no groups. */
  name: string;
  /** Above 0. */
  weight: number | string;
  recordings: RecordingTable;
  /** Where windows may start; undefined is wherever they fit. */
  kept: KeptStarts | undefined;
}

/** How all groups are sampled. */
export interface SamplePlanOptions extends Omit<WindowedPlanOptions, 'group' | 'kept'> {
  /** When a mixture ends. Default `forever` for epochs without end, else `first_exhausted`. */
  stop?: StopRule | undefined;
}

/** What is drawn: a window of a recording, and its place. */
export interface Draw {
  /** Its place among all draws, from 0. */
  draw: number;
  /** The same by epochs of the plan, as `SamplePlan.epochLength` counts them, and the place in one. */
  epoch: number;
  index: number;
  /** Index into the groups. */
  group: number;
  /** In the group; its own index and epoch count the draws of the group alone. */
  window: PlannedWindow;
}

/**
 * Which window of which recording each draw takes: those of one group, or of several that are mixed by weight. Nothing
 * is decoded, and no list is kept: each draw is a pure function of recordings, options and its number.
 *
 * ```
 * draw         0  1  2  3  4  5  6  7  8  9 …
 * speech, 0.7  0     1  2     3  4     5  6       windows of each group, in its own order
 * music, 0.3      0        1        2
 * ```
 */
export class SamplePlan {
  readonly groups: readonly SampledGroup[];
  /** Of each group. */
  readonly plans: readonly WindowedPlan[];
  /** Undefined with one group, whose windows come one after the other. */
  readonly balance: Balance | undefined;
  readonly stop: StopRule;
  /**
   * Draws of an epoch: with one group its slots, each once; of a mixture those until each group was given whole, or, if
   * it stops at the first that is exhausted, until one was.
   */
  readonly epochLength: number;
  /** All draws there are; `Infinity` where they go on forever. */
  readonly length: number;

  /**
   * @param numEpochs of the options: of each group on its own
   * @throws {InputError} when a group has no recording, or none with a place for a window.
   * @throws {RangeError} when an option is out of its range.
   */
  constructor(groups: readonly SampledGroup[], options: SamplePlanOptions) {
    const { numEpochs = 1 } = options;
    const { stop = numEpochs === null ? 'forever' : 'first_exhausted' } = options;
    const isMixed = groups.length > 1;
    this.groups = groups;
    this.stop = stop;
    this.plans = groups.map((group) => planGroup(group, { ...options, numEpochs: isMixed ? null : numEpochs }));
    const slots = this.plans.map((plan) => plan.slots.length);
    if (!isMixed) {
      this.epochLength = slots[0] ?? 0;
      this.length = this.plans[0]?.length ?? 0;
      return;
    }
    this.balance = new Balance(groups.map(({ weight }) => weight));
    this.epochLength = this.balance.length(slots, stop === 'first_exhausted' ? stop : 'all_exhausted');
    const lengths = slots.map((count) => (numEpochs === null ? Infinity : count * numEpochs));
    this.length = this.balance.length(lengths, stop);
  }

  /**
   * What a draw takes.
   *
   * @throws {RangeError} when there is no such draw.
   */
  at(draw: number): Draw {
    if (!(Number.isSafeInteger(draw) && draw >= 0 && draw < this.length)) {
      throw new RangeError(`There is no draw ${draw}: they are numbered from 0, and there are ${this.length}`);
    }
    const { group, index: own } = this.balance?.at(draw) ?? { group: 0, index: draw };
    const epoch = Math.floor(draw / this.epochLength);
    return { draw, epoch, index: draw - epoch * this.epochLength, group, window: this.plans[group]!.describe(own) };
  }

  /** How many of the first `draws` draws are of each group. */
  drawsOf(draws: number): number[] {
    const { balance } = this;
    if (balance === undefined) return [draws];
    const rounds = Math.floor(draws / balance.period);
    const counts = balance.weights.map((weight) => weight * rounds);
    for (let draw = rounds * balance.period; draw < draws; draw += 1) counts[balance.at(draw).group]! += 1;
    return counts;
  }
}

function planGroup(group: SampledGroup, options: WindowedPlanOptions): WindowedPlan {
  const { name, recordings, kept } = group;
  if (recordings.length === 0) throw new InputError(`There is no recording to sample from${ofGroup(name)}`);
  if (kept?.starts.length === 0) {
    const names = Array.from({ length: Math.min(recordings.length, 3) }, (_, file) => `"${recordings.path(file)}"`);
    const all = recordings.length > names.length ? `${names.join(', ')}, …` : names.join(', ');
    throw new InputError(`The loudness filter leaves no place for a window${ofGroup(name)}: ${all}`, {
      hint: 'Give a lower --lufs-cutoff.',
    });
  }
  return new WindowedPlan(recordings, { ...options, group: name, kept });
}

function ofGroup(name: string): string {
  return name === '' ? '' : ` in group "${name}"`;
}
