import { readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { damagedTar, isGzip, unreadableTar } from './faults.js';
import { GunzipStream } from './gunzip-stream.js';

/** Where the bytes of a tar come from. */
export interface TarSource {
  readonly path: string;
  /** Size of the tar; of a stream undefined until its end is met. */
  readonly sizeBytes: number | undefined;
  /**
   * At least `minBytes` bytes from an offset on, or those up to the end; valid until the next call. Offsets do not go back by more than one page.
   *
   * @throws {InputError} when they cannot be read.
   */
  bytesAt(offsetBytes: number, minBytes: number): Buffer | Promise<Buffer>;
  close(): Promise<void>;
}

/** One page: it costs no more to read than one block, and holds a pax header and what follows it. */
const PAGE_BYTES = 4096;

/** Where headers lie close to each other, one large read is cheaper than many small ones. */
const WIDE_BYTES = 64 * 1024;
const CLOSE_BYTES = 16 * 1024;

/**
 * Opens a regular file for reading at positions.
 *
 * @param isBlocking the process waits for each read
 * @param isGunzipped a file that begins as gzip does is read through it; offsets are those of the tar
 * @throws {InputError} when it cannot be opened.
 */
export async function openTarSource(path: string, isBlocking: boolean, isGunzipped: boolean): Promise<TarSource> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, 'r');
    const stats = await handle.stat();
    if (!stats.isFile()) throw new InputError(`Cannot read "${path}": it is not a regular file`, { path });
    if (isGunzipped) {
      const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
      if (isGzip(buffer)) return new GunzipStream(path, handle);
    }
    return new FileSource(path, handle, stats.size, isBlocking);
  } catch (error) {
    await handle?.close();
    throw error instanceof InputError ? error : unreadableTar(path, 0, error);
  }
}

/** Whether a file begins as gzip does; false for one that cannot be read. */
export async function isGzipFile(path: string): Promise<boolean> {
  try {
    const handle = await open(path, 'r');
    try {
      return isGzip((await handle.read(Buffer.alloc(2), 0, 2, 0)).buffer);
    } finally {
      await handle.close();
    }
  } catch {
    // Reading it as a tar says what is wrong.
    return false;
  }
}

/** A file that is read through a small window. */
class FileSource implements TarSource {
  readonly path: string;
  readonly sizeBytes: number;
  readonly #handle: FileHandle;
  readonly #isBlocking: boolean;
  #window = Buffer.allocUnsafe(PAGE_BYTES);
  #windowOffsetBytes = 0;
  #windowBytes = 0;

  constructor(path: string, handle: FileHandle, sizeBytes: number, isBlocking: boolean) {
    this.path = path;
    this.sizeBytes = sizeBytes;
    this.#handle = handle;
    this.#isBlocking = isBlocking;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  bytesAt(offsetBytes: number, minBytes: number): Buffer | Promise<Buffer> {
    const wanted = Math.min(minBytes, this.sizeBytes - offsetBytes);
    if (wanted <= 0) return Buffer.alloc(0);
    const start = offsetBytes - this.#windowOffsetBytes;
    if (start >= 0 && start + wanted <= this.#windowBytes) return this.#window.subarray(start, this.#windowBytes);
    const room = start >= 0 && start < CLOSE_BYTES && this.#windowBytes > 0 ? WIDE_BYTES : PAGE_BYTES;
    if (this.#window.length < Math.max(room, wanted)) this.#window = Buffer.allocUnsafe(Math.max(room, wanted));
    const lengthBytes = Math.max(room, wanted);
    return this.#isBlocking
      ? this.#fillNow(offsetBytes, wanted, lengthBytes)
      : this.#fill(offsetBytes, wanted, lengthBytes);
  }

  #fillNow(offsetBytes: number, wanted: number, lengthBytes: number): Buffer {
    let filled = 0;
    while (filled < wanted) {
      try {
        const read = readSync(this.#handle.fd, this.#window, filled, lengthBytes - filled, offsetBytes + filled);
        filled = this.#count(read, filled, offsetBytes);
      } catch (error) {
        throw error instanceof InputError ? error : unreadableTar(this.path, offsetBytes + filled, error);
      }
    }
    return this.#keep(offsetBytes, filled);
  }

  async #fill(offsetBytes: number, wanted: number, lengthBytes: number): Promise<Buffer> {
    let filled = 0;
    while (filled < wanted) {
      try {
        const position = offsetBytes + filled;
        const { bytesRead } = await this.#handle.read(this.#window, filled, lengthBytes - filled, position);
        filled = this.#count(bytesRead, filled, offsetBytes);
      } catch (error) {
        throw error instanceof InputError ? error : unreadableTar(this.path, offsetBytes + filled, error);
      }
    }
    return this.#keep(offsetBytes, filled);
  }

  #count(bytesRead: number, filled: number, offsetBytes: number): number {
    if (bytesRead > 0) return filled + bytesRead;
    throw damagedTar(this.path, 'the file became shorter while it was read', offsetBytes + filled);
  }

  #keep(offsetBytes: number, filled: number): Buffer {
    this.#windowOffsetBytes = offsetBytes;
    this.#windowBytes = filled;
    return this.#window.subarray(0, filled);
  }
}
