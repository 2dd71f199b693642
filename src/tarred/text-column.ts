/** A list of texts in one block of memory: a few bytes each beside their UTF-8, where strings in an array take fifty. */
export class TextColumn {
  #bytes = Buffer.alloc(1 << 16);
  /** Where each text ends; it begins where the one before it ends. */
  readonly #ends: number[] = [];

  /** How many there are. */
  get length(): number {
    return this.#ends.length;
  }

  push(text: string): void {
    const start = this.#ends.at(-1) ?? 0;
    const end = start + Buffer.byteLength(text);
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, start);
      this.#bytes = grown;
    }
    this.#bytes.write(text, start);
    this.#ends.push(end);
  }

  /** @throws {RangeError} past the end. */
  at(index: number): string {
    const end = this.#ends[index];
    if (end === undefined) throw new RangeError(`There is no text ${index} among ${this.length}`);
    return this.#bytes.toString('utf8', this.#ends[index - 1] ?? 0, end);
  }
}
