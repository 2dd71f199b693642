/** A repeatable source of chance: the finalizer of MurmurHash3 over a counter. */
export class Dice {
  #seed;
  #count = 0;

  constructor(seed) {
    this.#seed = seed;
  }

  /** A number in [0, 1). */
  uniform() {
    let h = (this.#count++ ^ Math.imul(this.#seed, 0x9e3779b1)) | 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
  }

  /** A number in [-1, 1). */
  signed() {
    return this.uniform() * 2 - 1;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least, most) {
    return least + Math.floor(this.uniform() * (most - least + 1));
  }

  pick(choices) {
    return choices[Math.floor(this.uniform() * choices.length)];
  }
}
