import { keyedRandom, type KeyedRandom } from './keyed.js';

/** Four rounds with good mixers already look random (see the tests); twice as many leave a margin. */
const ROUNDS = 8;
/**
 * A few cells take more rounds until each order is as likely as any other: of 5 or 6 items, 200,000 keys tell 16 rounds
 * from chance, and not 24; from 16 items on they do not tell 8.
 */
const ROUNDS_OF_FEW = 24;
const FEW = 1024;
const WORD = 2 ** 32;
/** Indices are doubles that hold whole numbers; the proofs below need no more than this. */
const MAX_LENGTH = 2 ** 53 - 1;

/** A permutation of [0, length): call it for the value at an index. */
export interface Permutation {
  (index: number): number;
  /** The index at which a value stands. */
  inverse(value: number): number;
}

/**
 * A permutation of [0, `length`) that is computed per index, without a list. See `EpochPermutations`.
 *
 * @throws {RangeError} when the length is no whole number from 1 to 2^53 - 1, or the seed or the epoch is no safe
 * integer.
 */
export function createPermutation(length: number, seed: number, role: string, epoch: number): Permutation {
  const permutations = new EpochPermutations(length, seed, role);
  return Object.assign((index: number) => permutations.at(epoch, index), {
    inverse: (value: number) => permutations.indexOf(epoch, value),
  });
}

/**
 * One permutation of [0, `length`) for every epoch, each a pure function of (seed, role, epoch). Nothing but the keys
 * of the epoch asked for last is kept.
 *
 * A generalised Feistel network over the grid of `columns` × `rows` cells, the smallest near-square one that holds [0,
 * length): an index is the cell (x, y), and by turns x moves by a keyed hash of y, modulo the columns, and y by one of
 * x, modulo the rows. Each round can be taken back, so the network permutes the cells. An index that lands on a cell
 * from `length` on walks on through the network until it lands inside, which is a bijection of [0, length) (it leaves
 * out the cells outside from each cycle). Fewer than `rows` cells are outside, so of one index in about √length a
 * second pass is needed, at every length: there is no least width.
 *
 * Sources: Black and Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002), its cycle-walking cipher and its
 * generalised-Feistel cipher. The hash is the 32-bit finaliser of MurmurHash3 (Appleby) over the number and the round's
 * key.
 */
export class EpochPermutations {
  readonly length: number;
  readonly #columns: number;
  readonly #rows: number;
  readonly #random: KeyedRandom;
  readonly #keys: Int32Array;
  #epoch = Number.NaN;

  /** @throws {RangeError} when the length is no whole number from 1 to 2^53 - 1, or the seed is no safe integer. */
  constructor(length: number, seed: number, role: string) {
    if (!(Number.isSafeInteger(length) && length >= 1 && length <= MAX_LENGTH)) {
      throw new RangeError(`Cannot permute ${length} items: it must be a whole number from 1 to 2^53 - 1`);
    }
    this.length = length;
    this.#rows = Math.ceil(Math.sqrt(length));
    this.#columns = Math.ceil(length / this.#rows);
    this.#keys = new Int32Array(length < FEW ? ROUNDS_OF_FEW : ROUNDS);
    this.#random = keyedRandom(seed, `${role}/permutation`);
  }

  /**
   * The value at an index, in an epoch.
   *
   * @throws {RangeError} when the index is not in [0, length), or the epoch is no safe integer from 0 on.
   */
  at(epoch: number, index: number): number {
    this.#check(index);
    this.#takeEpoch(epoch);
    let value = this.#pass(index);
    while (value >= this.length) value = this.#pass(value);
    return value;
  }

  /**
   * The index at which a value stands, in an epoch: `at(epoch, indexOf(epoch, value))` is `value`.
   *
   * @throws {RangeError} when the value is not in [0, length), or the epoch is no safe integer from 0 on.
   */
  indexOf(epoch: number, value: number): number {
    this.#check(value);
    this.#takeEpoch(epoch);
    let index = this.#passBack(value);
    while (index >= this.length) index = this.#passBack(index);
    return index;
  }

  #check(index: number): void {
    if (!(Number.isSafeInteger(index) && index >= 0 && index < this.length)) {
      throw new RangeError(`${index} is not among the ${this.length} that are permuted`);
    }
  }

  /** Keys are numbers of `keyedRandom`, whose index is 32 bits wide: the rest of the epoch goes into the lane. */
  #takeEpoch(epoch: number): void {
    if (epoch === this.#epoch) return;
    if (!(Number.isSafeInteger(epoch) && epoch >= 0)) {
      throw new RangeError(`The epoch must be a whole number from 0 on, not ${epoch}`);
    }
    const rounds = this.#keys.length;
    const lane = Math.floor(epoch / WORD) * rounds;
    for (let round = 0; round < rounds; round += 1) this.#keys[round] = this.#random(epoch % WORD, lane + round);
    this.#epoch = epoch;
  }

  // Both sides are below 2^26.6, so they and their sums fit 32 bits. A quotient of numbers below 2^53 is rounded to a
  // whole number only if it is one: it lies 1/rows or more from the next, which is more than half a unit in its last
  // place.
  #pass(index: number): number {
    const rows = this.#rows;
    const columns = this.#columns;
    const keys = this.#keys;
    let x = Math.floor(index / rows) | 0;
    let y = (index - x * rows) | 0;
    for (let round = 0; round < keys.length; round += 2) {
      x = (x + hashBelow(columns, y, keys[round]!)) | 0;
      if (x >= columns) x = (x - columns) | 0;
      y = (y + hashBelow(rows, x, keys[round + 1]!)) | 0;
      if (y >= rows) y = (y - rows) | 0;
    }
    return x * rows + y;
  }

  #passBack(value: number): number {
    const rows = this.#rows;
    const columns = this.#columns;
    const keys = this.#keys;
    let x = Math.floor(value / rows) | 0;
    let y = (value - x * rows) | 0;
    for (let round = keys.length - 2; round >= 0; round -= 2) {
      y = (y - hashBelow(rows, x, keys[round + 1]!)) | 0;
      if (y < 0) y = (y + rows) | 0;
      x = (x - hashBelow(columns, y, keys[round]!)) | 0;
      if (x < 0) x = (x + columns) | 0;
    }
    return x * rows + y;
  }
}

/** A hash of number and key, scaled to [0, bound): its high bits count, so no remainder is taken. */
function hashBelow(bound: number, value: number, key: number): number {
  let mixed = value ^ key;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  mixed ^= mixed >>> 16;
  return Math.floor(((mixed >>> 0) * bound) / WORD) | 0;
}
