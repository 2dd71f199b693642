import { earliestDeadlineOrder } from './fair-order.js';
import { toWholeWeights } from './weights.js';

/** When a mixture ends. */
export type StopRule =
  /** Before the first element that a group cannot give any more. */
  | 'first_exhausted'
  /** As soon as each group was given whole; those that end sooner begin anew. */
  | 'all_exhausted'
  /** Never; groups that end begin anew. */
  | 'forever';

/** An element of a mixture. */
export interface BalancedElement {
  /** Index of the group. */
  group: number;
  /** Which of the group's elements, from 0; it goes on counting where the group begins anew. */
  index: number;
}

/**
 * Which group each element of a mixture comes from. For weights that are as whole numbers w_1, …, w_G of sum W, of the
 * first k elements of any k group g has more than k · w_g / W − 1 and fewer than k · w_g / W + 1. Groups keep their own
 * order: the group's elements come as 0, 1, 2, …, whatever other groups there are.
 *
 * The order repeats after W elements, when each group has had w_g exactly, so one period is kept (about 6 bytes an
 * element, W is at most 2^22), and any k is looked up in O(1).
 */
export class Balance {
  /** Of each group, as a whole number. */
  readonly weights: readonly number[];
  /** Elements after which the order repeats. */
  readonly period: number;
  /** False when the weights were spelled too finely to be taken exactly: see `toWholeWeights`. */
  readonly isExact: boolean;
  readonly #groups: Uint16Array;
  /** Elements of the same group before each, in the period. */
  readonly #indices: Uint32Array;

  /**
   * @param weights finite, above 0, one a group: numbers, or decimals as they are spelled
   * @throws {RangeError} when there is no group, there are more than 65,536, or a weight is not above 0.
   */
  constructor(weights: readonly (number | string)[]) {
    if (weights.length === 0 || weights.length > 2 ** 16) {
      throw new RangeError(`Cannot mix ${weights.length} groups: it must be 1 to 65,536`);
    }
    const whole = toWholeWeights(weights);
    this.weights = whole.weights;
    this.period = whole.sum;
    this.isExact = whole.isExact;
    this.#groups = earliestDeadlineOrder(whole.weights);
    this.#indices = new Uint32Array(whole.sum);
    const given = new Uint32Array(weights.length);
    for (let at = 0; at < whole.sum; at += 1) {
      const group = this.#groups[at]!;
      this.#indices[at] = given[group]!;
      given[group]! += 1;
    }
  }

  /**
   * Element k of the mixture.
   *
   * @throws {RangeError} when k is no whole number from 0 on.
   */
  at(k: number): BalancedElement {
    if (!(Number.isSafeInteger(k) && k >= 0)) throw new RangeError(`There is no element ${k}`);
    const round = Math.floor(k / this.period);
    const place = k - round * this.period;
    const group = this.#groups[place]!;
    return { group, index: round * this.weights[group]! + this.#indices[place]! };
  }

  /**
   * The k at which a group gives its element `index`, from 0: the inverse of `at`.
   *
   * @throws {RangeError} when there is no such group, or the index is no whole number from 0 on.
   */
  indexOf(group: number, index: number): number {
    const weight = this.weights[group];
    if (weight === undefined || !(Number.isSafeInteger(index) && index >= 0)) {
      throw new RangeError(`There is no element ${index} of group ${group}`);
    }
    const round = Math.floor(index / weight);
    const local = index - round * weight;
    // Before it come fewer than (local + 1) · W / w elements, and more than (local − 1) · W / w.
    let place = Math.max(0, Math.floor(((local - 1) * this.period) / weight));
    while (this.#groups[place] !== group || this.#indices[place] !== local) place += 1;
    return round * this.period + place;
  }

  /**
   * How many elements a mixture of groups has.
   *
   * @param lengths of each group, in elements, 1 or more; `Infinity` where one has no end
   * @throws {RangeError} when a length is missing, or is none.
   */
  length(lengths: readonly number[], stop: StopRule): number {
    const isLength = (length: number): boolean =>
      length === Number.POSITIVE_INFINITY || (Number.isSafeInteger(length) && length >= 1);
    if (lengths.length !== this.weights.length || !lengths.every(isLength)) {
      throw new RangeError(
        `Cannot mix groups of ${lengths.join(', ')} elements: each of ${this.weights.length} needs one`,
      );
    }
    if (stop === 'forever') return Number.POSITIVE_INFINITY;
    const isFirst = stop === 'first_exhausted';
    const ends = lengths.map((length, group) => {
      if (length === Number.POSITIVE_INFINITY) return length;
      return isFirst ? this.indexOf(group, length) : this.indexOf(group, length - 1) + 1;
    });
    return isFirst ? Math.min(...ends) : Math.max(...ends);
  }
}
