import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { InputError } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';

const BUFFER_BYTES = 1 << 20;

/** Records on disk that are appended one after the other, and read again by place. What they hold is gone with the process. */
export class Spool {
  readonly #path: string;
  readonly #file: number;
  #pending: string[] = [];
  #pendingLength = 0;
  #writtenBytes = 0;
  #sizeBytes = 0;
  #buffer = Buffer.allocUnsafe(64 * 1024);

  /** @throws {OutputError} when the file cannot be made. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, 'w+');
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot make', path });
    }
  }

  /** How many bytes were appended: the place of the next record. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Appends a record.
   *
   * @returns its size in bytes
   * @throws {OutputError} when the disk does not take it.
   */
  append(record: string): number {
    const size = Buffer.byteLength(record);
    this.#pending.push(record);
    this.#pendingLength += size;
    this.#sizeBytes += size;
    if (this.#pendingLength >= BUFFER_BYTES) this.#flush();
    return size;
  }

  /** Reads a record again. */
  read(offsetBytes: number, sizeBytes: number): string {
    this.#flush();
    if (this.#buffer.length < sizeBytes) this.#buffer = Buffer.allocUnsafe(sizeBytes * 2);
    let filled = 0;
    while (filled < sizeBytes) {
      const got = readSync(this.#file, this.#buffer, filled, sizeBytes - filled, offsetBytes + filled);
      if (got === 0)
        throw new InputError(`Cannot read "${this.#path}" again: it is shorter than it was`, { path: this.#path });
      filled += got;
    }
    return this.#buffer.toString('utf8', 0, sizeBytes);
  }

  /** Closes the file and removes it. */
  close(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }

  #flush(): void {
    if (this.#pendingLength === 0) return;
    const bytes = Buffer.from(this.#pending.join(''));
    this.#pending = [];
    this.#pendingLength = 0;
    try {
      for (let written = 0; written < bytes.length;) {
        written += writeSync(this.#file, bytes, written, bytes.length - written, this.#writtenBytes + written);
      }
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot write', path: this.#path, neededBytes: bytes.length });
    }
    this.#writtenBytes += bytes.length;
  }
}

/** Numbers that are appended one by one. */
export class GrowingArray<A extends Float64Array | Uint32Array> {
  #values: A;
  #length = 0;
  readonly #make: (length: number) => A;

  /** @param make an array of so many zeros. */
  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#values = make(1024);
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = this.#make(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}
