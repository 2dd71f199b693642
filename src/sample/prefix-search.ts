/** Few enough guesses to stay in the processor's cache, and few enough counts between two of them to lie side by side in memory. */
const COUNTS_A_STRETCH = 16;

/**
 * The prefix sums of counts, and which count a number falls into: a binary search, which a table of first guesses
 * narrows to a few steps where counts are of one order. 8.25 bytes a count.
 */
export class PrefixSearch {
  /** How much stands before each count; one more entry, of the sum, at the end. */
  readonly before: Float64Array;
  /** For each of equal stretches of the sum, `COUNTS_A_STRETCH` times fewer than counts: the last count that begins in a stretch before it. */
  readonly #guesses: Uint32Array;
  readonly #stretchesPerUnit: number;

  /** @param counts whole numbers from 0 on, of a sum below 2^53 */
  constructor(length: number, counts: (at: number) => number) {
    const before = new Float64Array(length + 1);
    for (let at = 0; at < length; at += 1) before[at + 1] = before[at]! + counts(at);
    this.before = before;
    const stretches = Math.ceil(length / COUNTS_A_STRETCH);
    this.#stretchesPerUnit = stretches / Math.max(1, before[length]!);
    this.#guesses = new Uint32Array(stretches + 1);
    let at = 0;
    for (let stretch = 1; stretch <= stretches; stretch += 1) {
      while (at + 1 < length && this.#stretchOf(before[at + 1]!) < stretch) at += 1;
      this.#guesses[stretch] = at;
    }
  }

  get sum(): number {
    return this.before[this.before.length - 1]!;
  }

  get sizeBytes(): number {
    return this.before.byteLength + this.#guesses.byteLength;
  }

  /** The count that a number from 0 to the sum, not including it, falls into. */
  find(number: number): number {
    // The count begins in the number's stretch or before, and what begins in a stretch before begins before the number.
    const stretch = this.#stretchOf(number);
    return lastAtMost(this.before, number, this.#guesses[stretch]!, this.#guesses[stretch + 1]! + 1);
  }

  /** Rounded, and still never falling as the number grows: all that `find` needs. */
  #stretchOf(number: number): number {
    return Math.min(this.#guesses.length - 2, Math.floor(number * this.#stretchesPerUnit));
  }
}

/** The last index in [from, to) whose value is at most `value`; `from` if there is none. Values never fall. */
export function lastAtMost(values: Float64Array, value: number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (values[middle]! <= value) low = middle;
    else high = middle;
  }
  return low;
}
