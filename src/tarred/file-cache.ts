/** How many files are kept. */
const SLOTS = 1 << 14;

/** Keeps what was made of the files that were asked for last. A file takes the place of one whose number ends alike: memory is bounded. */
export class FileCache<T> {
  readonly #make: (file: number) => T;
  readonly #files = new Int32Array(SLOTS).fill(-1);
  readonly #values: T[] = [];

  /** @param make what is to be kept of a file, by its number */
  constructor(make: (file: number) => T) {
    this.#make = make;
  }

  get(file: number): T {
    const slot = file % SLOTS;
    if (this.#files[slot] === file) return this.#values[slot]!;
    const value = this.#make(file);
    this.#files[slot] = file;
    this.#values[slot] = value;
    return value;
  }
}
