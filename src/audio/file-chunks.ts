import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1 << 15;

/** A file that is read forwards in small pieces, from any place on. */
export class FileChunks implements Disposable {
  readonly #file: number;
  #room = Buffer.alloc(0);
  /** How much of `#room` holds bytes, and from where in the file. */
  #filled = 0;
  #start = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** The bytes from an offset on, fewer than `length` where the file ends before; they hold until the next call. */
  bytes(offset: number, length: number): Buffer {
    const at = offset - this.#start;
    if (at >= 0 && at + length <= this.#filled) return this.#room.subarray(at, at + length);
    const size = Math.max(length, CHUNK_BYTES);
    if (this.#room.length < size) this.#room = Buffer.allocUnsafeSlow(size);
    this.#start = offset;
    for (this.#filled = 0; this.#filled < size;) {
      const read = readSync(this.#file, this.#room, this.#filled, size - this.#filled, offset + this.#filled);
      if (read === 0) break;
      this.#filled += read;
    }
    return this.#room.subarray(0, Math.min(length, this.#filled));
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
