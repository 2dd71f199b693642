import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { writeFailure } from '../tar/write-failure.js';
import type { SpoolPlace } from './scan-table.js';

/** Holds the loudness of windows on the disk until all files are read; it is made anew in each run, out of the journal. */
export class Spool implements Disposable {
  readonly #path: string;
  readonly #file: number;
  #endBytes = 0;

  /** @throws OutputError where it cannot be made. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, 'w+');
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot make', path });
    }
  }

  /** @throws OutputError where it cannot be written. */
  add(windows: Float32Array): SpoolPlace {
    const bytes = new Uint8Array(windows.buffer, windows.byteOffset, windows.byteLength);
    const place = { offsetBytes: this.#endBytes, count: windows.length };
    try {
      for (let written = 0; written < bytes.length;)
        written += writeSync(this.#file, bytes, written, bytes.length - written, this.#endBytes + written);
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot write', path: this.#path, neededBytes: bytes.length });
    }
    this.#endBytes += bytes.length;
    return place;
  }

  /** The bytes of what was added. */
  read({ offsetBytes, count }: SpoolPlace): Uint8Array {
    const bytes = new Uint8Array(count * 4);
    for (let got = 0; got < bytes.length;) {
      const size = readSync(this.#file, bytes, got, bytes.length - got, offsetBytes + got);
      if (size === 0) throw new Error(`"${this.#path}" is shorter than what was written to it`);
      got += size;
    }
    return bytes;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
