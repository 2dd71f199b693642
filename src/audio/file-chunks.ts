import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1 << 15;
/** Rooms of files that were closed, for those that are opened next: to make one anew takes as long as reading into it. */
const SPARE_ROOMS: Buffer<ArrayBuffer>[] = [];
const MAX_SPARE_ROOMS = 8;
const MAX_SPARE_BYTES = 1 << 18;

/** A file that is read forwards in small pieces, from any place on. */
export class FileChunks implements Disposable {
  /** What was read last; `placeOf` tells where in it. */
  room = Buffer.alloc(0);
  readonly #file: number;
  readonly #chunkBytes: number;
  /** How much of `room` holds bytes, and from where in the file. */
  #filled = 0;
  #start = 0;

  /** @param chunkBytes how much is read at once. */
  constructor(path: string, chunkBytes = CHUNK_BYTES) {
    this.#file = openSync(path, 'r');
    this.#chunkBytes = chunkBytes;
  }

  /** The bytes from an offset on, fewer than `length` where the file ends before; they hold until the next call. */
  bytes(offset: number, length: number): Buffer {
    const count = this.reach(offset, length);
    const at = this.placeOf(offset);
    return this.room.subarray(at, at + count);
  }

  /**
   * Reads the bytes from an offset on into `room`; answers how many of `length` there are.
   *
   * @param keepFrom from where on bytes stay in `room`, which are to be looked at again.
   */
  reach(offset: number, length: number, keepFrom = offset): number {
    const at = offset - this.#start;
    if (at < 0 || at + length > this.#filled) this.#read(keepFrom, offset - keepFrom + length);
    return Math.max(0, Math.min(length, this.#start + this.#filled - offset));
  }

  /** Where the byte of an offset that was reached stands in `room`. */
  placeOf(offset: number): number {
    return offset - this.#start;
  }

  /** Fills `room` from an offset on; what it has of that is not read again. */
  #read(from: number, length: number): void {
    const at = from - this.#start;
    const kept = at >= 0 ? Math.max(0, this.#filled - at) : 0;
    const size = Math.max(length, this.#chunkBytes);
    const old = this.room;
    if (old.length < size) this.room = takeRoom(size);
    if (kept > 0) old.copy(this.room, 0, at, at + kept);
    this.#start = from;
    for (this.#filled = kept; this.#filled < size;) {
      const read = readSync(this.#file, this.room, this.#filled, size - this.#filled, from + this.#filled);
      if (read === 0) break;
      this.#filled += read;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
    const { length } = this.room;
    if (length > 0 && length <= MAX_SPARE_BYTES && SPARE_ROOMS.length < MAX_SPARE_ROOMS) SPARE_ROOMS.push(this.room);
    this.room = Buffer.alloc(0);
    this.#filled = 0;
  }
}

function takeRoom(size: number): Buffer<ArrayBuffer> {
  const at = SPARE_ROOMS.findIndex(({ length }) => length >= size);
  return at < 0 ? Buffer.allocUnsafeSlow(size) : (SPARE_ROOMS.splice(at, 1)[0] ?? Buffer.allocUnsafeSlow(size));
}
