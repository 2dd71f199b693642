import type { FileHandle } from 'node:fs/promises';
import { errorMessage, InputError } from '../errors.js';
import { readLineAt } from '../manifest/lines.js';

const WINDOW_BYTES = 1 << 18;
/** Rows are asked for in two places that move through the file side by side: where recordings are begun, and where their members are due. */
const WINDOWS = 2;

interface Window {
  startBytes: number;
  bytes: Promise<Buffer>;
}

/** Reads rows that are asked for nearly in the order of their file: many at once, instead of one with each call of the system. */
export class RowWindows {
  readonly #handle: FileHandle;
  readonly #path: string;
  /** The one that was made last comes last. */
  readonly #windows: Window[] = [];

  /** @param path names the file in errors */
  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /**
   * The bytes of a row; not to be changed.
   *
   * @throws {InputError} when the file cannot be read, or is shorter.
   */
  async read(offsetBytes: number, lengthBytes: number): Promise<Buffer> {
    const { startBytes, bytes } = this.#windowAt(offsetBytes, lengthBytes);
    const start = offsetBytes - startBytes;
    const row = (await bytes).subarray(start, start + lengthBytes);
    // Longer than a window, at the end of a file that is shorter than it was, or a file system that reads less than it is asked for.
    return row.length === lengthBytes ? row : await readLineAt(this.#handle, this.#path, offsetBytes, lengthBytes);
  }

  #windowAt(offsetBytes: number, lengthBytes: number): Window {
    const known = this.#windows.find(
      ({ startBytes }) => startBytes <= offsetBytes && offsetBytes + lengthBytes <= startBytes + WINDOW_BYTES,
    );
    if (known !== undefined) return known;
    const window = { startBytes: offsetBytes, bytes: this.#fill(offsetBytes) };
    if (this.#windows.length === WINDOWS) this.#windows.shift();
    this.#windows.push(window);
    return window;
  }

  async #fill(offsetBytes: number): Promise<Buffer> {
    // Never filled again: rows that were given out lie in it.
    const bytes = Buffer.allocUnsafe(WINDOW_BYTES);
    try {
      const { bytesRead } = await this.#handle.read(bytes, 0, WINDOW_BYTES, offsetBytes);
      return bytes.subarray(0, bytesRead);
    } catch (error) {
      throw new InputError(`Cannot read "${this.#path}" at byte ${offsetBytes}: ${errorMessage(error)}`, {
        path: this.#path,
        offsetBytes,
        cause: error,
      });
    }
  }
}
