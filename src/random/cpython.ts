/** Words of the state, and how far apart those stand that one step mixes. */
const WORDS = 624;
const SHIFT = 397;

/**
 * CPython's `random.Random(seed)` for whole seeds: the Mersenne Twister MT19937, seeded by its `init_by_array`.
 *
 * Source: Matsumoto and Nishimura, "Mersenne Twister" (ACM TOMACS 8, 1998), and CPython's documentation of `random`.
 */
export class CPythonRandom {
  readonly #state = new Uint32Array(WORDS);
  #next = WORDS;

  /** @throws {RangeError} when the seed is no safe integer. As in Python, its sign does not count. */
  constructor(seed: number) {
    if (!Number.isSafeInteger(seed)) throw new RangeError(`The seed must be a whole number, not ${seed}`);
    const size = Math.abs(seed);
    const high = Math.floor(size / 2 ** 32);
    this.#seedByArray(high === 0 ? [size] : [size % 2 ** 32, high]);
  }

  /** A number of so many random bits, from 1 to 32. */
  getrandbits(bits: number): number {
    if (!(Number.isInteger(bits) && bits >= 1 && bits <= 32)) {
      throw new RangeError(`1 to 32 bits can be drawn, not ${bits}`);
    }
    return this.#draw() >>> (32 - bits);
  }

  /** A uniform whole number below `bound`, which is from 1 to 2^32 - 1: also Python's `randrange(bound)`. */
  randbelow(bound: number): number {
    if (!(Number.isInteger(bound) && bound >= 1 && bound < 2 ** 32)) {
      throw new RangeError(`The bound must be a whole number from 1 to 2^32 - 1, not ${bound}`);
    }
    const bits = 32 - Math.clz32(bound);
    for (;;) {
      const drawn = this.getrandbits(bits);
      if (drawn < bound) return drawn;
    }
  }

  /** Shuffles in place, into the order that Python's `shuffle` gives a list. */
  shuffle(items: Uint32Array): void {
    for (let last = items.length - 1; last > 0; last -= 1) {
      const other = this.randbelow(last + 1);
      const kept = items[last]!;
      items[last] = items[other]!;
      items[other] = kept;
    }
  }

  #seedByArray(key: readonly number[]): void {
    const state = this.#state;
    state[0] = 19_650_218;
    for (let i = 1; i < WORDS; i += 1) {
      const before = state[i - 1]!;
      state[i] = Math.imul(1_812_433_253, before ^ (before >>> 30)) + i;
    }
    let i = 1;
    const advance = (): void => {
      i += 1;
      if (i < WORDS) return;
      state[0] = state[WORDS - 1]!;
      i = 1;
    };
    for (let k = 0; k < WORDS; k += 1) {
      const before = state[i - 1]!;
      const place = k % key.length;
      state[i] = (state[i]! ^ Math.imul(before ^ (before >>> 30), 1_664_525)) + key[place]! + place;
      advance();
    }
    for (let k = 1; k < WORDS; k += 1) {
      const before = state[i - 1]!;
      state[i] = (state[i]! ^ Math.imul(before ^ (before >>> 30), 1_566_083_941)) - i;
      advance();
    }
    state[0] = 0x8000_0000;
  }

  #draw(): number {
    if (this.#next === WORDS) this.#twist();
    let word = this.#state[this.#next]!;
    this.#next += 1;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c_5680;
    word ^= (word << 15) & 0xefc6_0000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  #twist(): void {
    const state = this.#state;
    for (let i = 0; i < WORDS; i += 1) {
      const mixed = (state[i]! & 0x8000_0000) | (state[(i + 1) % WORDS]! & 0x7fff_ffff);
      state[i] = state[(i + SHIFT) % WORDS]! ^ (mixed >>> 1) ^ (mixed % 2 === 0 ? 0 : 0x9908_b0df);
    }
    this.#next = 0;
  }
}
