import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import type { ByteSink } from '../audio/snippet-encoder.js';
import { errorMessage, systemCode } from '../errors.js';

/** A snippet is kept in memory up to this size; the rest of a longer one goes to a file. */
const MEMORY_BYTES = 8 << 20;

/** The disk did not take the bytes of snippets: no fault of the recording. */
export class PartFault extends Error {
  override readonly name = 'PartFault';
  /** The system's code, as `ENOSPC`. */
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(errorMessage(cause), { cause });
    this.code = systemCode(cause);
  }
}

/** Runs one operation on the files of snippets. */
export function guardPart<T>(operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw new PartFault(error);
  }
}

/** The bytes of a snippet while it is being encoded: its header is completed last. */
export class SnippetBytes implements ByteSink {
  readonly #spillPath: string;
  #memory = Buffer.allocUnsafe(1 << 18);
  #sizeBytes = 0;
  #spill: number | undefined;

  /** @param spillPath names the file that a snippet too long for memory may use. */
  constructor(spillPath: string) {
    this.#spillPath = spillPath;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  write(bytes: Uint8Array): void {
    const end = this.#sizeBytes + bytes.length;
    if (end <= MEMORY_BYTES) {
      this.#grow(end);
      this.#memory.set(bytes, this.#sizeBytes);
    } else {
      this.#spillTo(bytes);
    }
    this.#sizeBytes = end;
  }

  patch(offsetBytes: number, bytes: Uint8Array): void {
    if (this.#spill === undefined) this.#memory.set(bytes, offsetBytes);
    else writeFully(this.#spill, bytes, offsetBytes);
  }

  /** The bytes in order, in pieces of bounded size; each holds until the next is asked for. */
  *pieces(): Generator<Uint8Array> {
    if (this.#spill === undefined) {
      yield this.#memory.subarray(0, this.#sizeBytes);
      return;
    }
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (let offset = 0; offset < this.#sizeBytes;) {
      const read = this.#readSpill(this.#spill, buffer, offset);
      yield buffer.subarray(0, read);
      offset += read;
    }
  }

  /** Makes room for another snippet. */
  clear(): void {
    this.#sizeBytes = 0;
    if (this.#spill === undefined) return;
    closeSync(this.#spill);
    rmSync(this.#spillPath, { force: true });
    this.#spill = undefined;
  }

  #readSpill(spill: number, buffer: Buffer, offset: number): number {
    return guardPart(() => {
      const read = readSync(spill, buffer, 0, buffer.length, offset);
      if (read === 0) throw new Error(`"${this.#spillPath}" is shorter than what was written to it`);
      return read;
    });
  }

  #grow(needed: number): void {
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafe(Math.min(MEMORY_BYTES, Math.max(needed, this.#memory.length * 2)));
    this.#memory.copy(larger, 0, 0, this.#sizeBytes);
    this.#memory = larger;
  }

  #spillTo(bytes: Uint8Array): void {
    if (this.#spill === undefined) {
      this.#spill = guardPart(() => openSync(this.#spillPath, 'w+'));
      writeFully(this.#spill, this.#memory.subarray(0, this.#sizeBytes), 0);
    }
    writeFully(this.#spill, bytes, this.#sizeBytes);
  }
}

/** A disk that is nearly full takes a part; the next try then says why. */
export function writeFully(file: number, bytes: Uint8Array, offsetBytes: number): void {
  for (let written = 0; written < bytes.length;) {
    const from = written;
    written += guardPart(() => writeSync(file, bytes, from, bytes.length - from, offsetBytes + from));
  }
}
