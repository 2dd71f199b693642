type Values = Float64Array | Uint32Array;

/** A list of numbers, a few bytes each: plans hold millions. Whole numbers below 2^32 as `uint32`, others as `float64`. */
export class Column {
  readonly #isFloat: boolean;
  #values: Values;
  length = 0;

  constructor(type: 'uint32' | 'float64') {
    this.#isFloat = type === 'float64';
    this.#values = this.#allocate(256);
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = this.#allocate(this.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  /** Entries that are passed over become 0. */
  set(index: number, value: number): void {
    while (index >= this.length) this.push(0);
    this.#values[index] = value;
  }

  /** @throws RangeError past the end */
  at(index: number): number {
    if (!(index >= 0 && index < this.length)) throw new RangeError(`no entry ${index} among ${this.length}`);
    return this.#values[index]!;
  }

  /** Adds to the entry at `index`. */
  add(index: number, value: number): void {
    this.#values[index] = this.at(index) + value;
  }

  #allocate(size: number): Values {
    return this.#isFloat ? new Float64Array(size) : new Uint32Array(size);
  }
}

/** A copy of a string that keeps nothing else alive: a slice of a line holds the whole line. */
export function detachString(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the range of Latin-1
  const encoding = /^[\u0000-\u00ff]*$/.test(text) ? 'latin1' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}
