import { open, type FileHandle } from 'node:fs/promises';

import { errorMessage, InputError, OutputError } from '../errors.js';
import { BLOCK_BYTES, END_OF_ARCHIVE, paddingBytes, tarHeader } from './header.js';
import { compareCodePoints } from './order.js';
import { writeFailure } from './write-failure.js';

export interface TarAppenderOptions {
  /** The tar is cut to this size before anything is appended; a member must end here. 0 (the default) starts anew. */
  resumeAtBytes?: number;
  /** True refuses a member whose name does not stand behind the one before it in code-point order. */
  sorted?: boolean;
  /** With `sorted`: the name of the last member before `resumeAtBytes`. */
  lastName?: string | undefined;
}

const CHUNK_BYTES = 1 << 20;

/**
 * Appends members to a tar, with headers that depend on names and sizes alone (see `tarHeader`).
 *
 * ```
 * ├ header ┼ payload ┼ padding ┼ header ┼ payload ┼ padding ┼ end of archive ┤
 *                              ▲ offsetBytes after one member, a place to resume at
 * ```
 *
 * Memory is bounded by one buffer of 1 MiB. One call at a time: each is awaited before the next.
 */
export class TarAppender {
  /** The tar's path. */
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #isSorted: boolean;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #bufferedBytes = 0;
  #positionBytes: number;
  #offsetBytes: number;
  #lastName: string | undefined;
  #isSyncFailed = false;
  #state: 'ready' | 'busy' | 'torn' | 'unsynced' | 'finished' | 'closed' = 'ready';

  private constructor(path: string, handle: FileHandle, options: TarAppenderOptions) {
    this.path = path;
    this.#handle = handle;
    this.#isSorted = options.sorted ?? false;
    this.#lastName = options.lastName;
    this.#offsetBytes = options.resumeAtBytes ?? 0;
    this.#positionBytes = this.#offsetBytes;
  }

  /**
   * Opens a tar for appending and cuts it to `resumeAtBytes`; makes the file where there is none and 0 is asked for.
   *
   * @throws {OutputError} when it cannot be opened, or is shorter than `resumeAtBytes`.
   */
  static async open(path: string, options: TarAppenderOptions = {}): Promise<TarAppender> {
    const { resumeAtBytes = 0 } = options;
    if (!Number.isSafeInteger(resumeAtBytes) || resumeAtBytes < 0 || resumeAtBytes % BLOCK_BYTES !== 0) {
      throw new RangeError(`Cannot resume a tar at byte ${resumeAtBytes}: members end at multiples of ${BLOCK_BYTES}`);
    }
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, resumeAtBytes === 0 ? 'w' : 'r+');
      const sizeBytes = (await handle.stat()).size;
      if (sizeBytes < resumeAtBytes) {
        throw new OutputError(
          `Cannot resume "${path}" at byte ${grouped(resumeAtBytes)}: it has ${grouped(sizeBytes)} bytes`,
          { path, hint: 'Something shortened the file since; remove it and its journal to start again.' },
        );
      }
      if (sizeBytes > resumeAtBytes) await handle.truncate(resumeAtBytes);
      return new TarAppender(path, handle, options);
    } catch (error) {
      await handle?.close();
      throw writeFailure(error, { action: 'Cannot open', path });
    }
  }

  /** Where the last whole member ends, padding included. Ends of archive are not counted. */
  get offsetBytes(): number {
    return this.#offsetBytes;
  }

  /**
   * Appends a member whose payload is `sizeBytes` bytes of another file from `startBytes` on.
   *
   * @throws {OutputError} when writing fails; the tar then ends after the last whole member, as far as the disk lets it.
   * @throws {InputError} when the other file cannot be read or ends before.
   * @throws {RangeError} when the name is unfit for a member, or out of order.
   */
  async appendFrom(source: FileHandle, startBytes: number, sizeBytes: number, name: string): Promise<void> {
    await this.#append(name, sizeBytes, () => this.#copy(source, startBytes, sizeBytes, name));
  }

  /**
   * Appends members that stand one after another in another tar of this kind, with their headers and padding.
   *
   * @param names of the first and the last of them
   * @throws as `appendFrom` does.
   */
  async appendMembers(
    source: FileHandle,
    startBytes: number,
    sizeBytes: number,
    names: { first: string; last: string },
  ): Promise<void> {
    this.#requireReady();
    this.#requireOrder(names.first);
    await this.#guard(sizeBytes, async () => {
      await this.#copy(source, startBytes, sizeBytes, names.first);
      await this.#flush();
    });
    this.#offsetBytes = this.#positionBytes;
    this.#lastName = names.last;
  }

  /**
   * Appends a member whose payload is in memory.
   *
   * @throws as `appendFrom` does.
   */
  async appendBytes(name: string, payload: Uint8Array): Promise<void> {
    await this.#append(name, payload.length, () => this.#put(payload));
  }

  /**
   * Waits until everything appended is on the disk.
   *
   * @throws {OutputError} when the disk reports a fault: what was appended since the last `sync` may then be lost.
   */
  async sync(): Promise<void> {
    this.#requireReady();
    await this.#guard(0, () => this.#syncOnce());
  }

  /**
   * Writes the end of the archive and waits until all is on the disk. Nothing can be appended afterwards.
   *
   * @returns the size of the whole tar in bytes.
   * @throws {OutputError} when that fails.
   */
  async finish(): Promise<number> {
    if (this.#state === 'finished') return this.#positionBytes;
    this.#requireReady();
    await this.#guard(END_OF_ARCHIVE.length, async () => {
      await this.#put(END_OF_ARCHIVE);
      await this.#flush();
      await this.#syncOnce();
    });
    this.#state = 'finished';
    return this.#positionBytes;
  }

  /** Closes the file as it is: without `finish` it has no end of archive, and can be resumed at `offsetBytes`. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    if (this.#state === 'busy') throw new TypeError(`Cannot close "${this.path}": an append is still running`);
    this.#state = 'closed';
    await this.#handle.close();
  }

  async #append(name: string, sizeBytes: number, writePayload: () => Promise<void>): Promise<void> {
    this.#requireReady();
    this.#requireOrder(name);
    const header = tarHeader({ name, sizeBytes });
    const padding = new Uint8Array(paddingBytes(sizeBytes));
    await this.#guard(header.length + sizeBytes + padding.length, async () => {
      await this.#put(header);
      await writePayload();
      await this.#put(padding);
      await this.#flush();
    });
    this.#offsetBytes = this.#positionBytes;
    this.#lastName = name;
  }

  #requireOrder(name: string): void {
    if (!this.#isSorted || this.#lastName === undefined || compareCodePoints(this.#lastName, name) < 0) return;
    throw new RangeError(
      `Cannot append ${JSON.stringify(name)} to a sorted tar: ${JSON.stringify(this.#lastName)} is in it`,
    );
  }

  #requireReady(): void {
    if (this.#state === 'ready' || this.#state === 'torn') return;
    const reasons = {
      busy: 'another call is still running',
      unsynced: 'the disk failed to keep what was written before',
      finished: 'it is finished',
      closed: 'it is closed',
    };
    throw new TypeError(`Cannot append to "${this.path}": ${reasons[this.#state]}`);
  }

  /** Runs one change of the file; when it fails, the file is cut back to its last whole member. */
  async #guard(neededBytes: number, change: () => Promise<void>): Promise<void> {
    const wasTorn = this.#state === 'torn';
    this.#state = 'busy';
    try {
      if (wasTorn) await this.#handle.truncate(this.#offsetBytes);
      await change();
      this.#state = 'ready';
    } catch (error) {
      this.#bufferedBytes = 0;
      this.#positionBytes = this.#offsetBytes;
      const state = await this.#cutBack();
      this.#state = this.#isSyncFailed ? 'unsynced' : state;
      throw writeFailure(error, { action: 'Cannot write', path: this.path, neededBytes });
    }
  }

  /** A failure here is not lost: the next call tries again and reports its own. */
  async #cutBack(): Promise<'ready' | 'torn'> {
    return await this.#handle.truncate(this.#offsetBytes).then(
      () => 'ready',
      () => 'torn',
    );
  }

  /** A second sync after a failed one may succeed although data is lost: the system forgets what it could not write. */
  async #syncOnce(): Promise<void> {
    this.#isSyncFailed = true;
    await this.#handle.sync();
    this.#isSyncFailed = false;
  }

  async #put(bytes: Readonly<Uint8Array>): Promise<void> {
    let takenBytes = 0;
    while (takenBytes < bytes.length) {
      if (this.#bufferedBytes === CHUNK_BYTES) await this.#flush();
      const part = bytes.subarray(takenBytes, takenBytes + CHUNK_BYTES - this.#bufferedBytes);
      this.#buffer.set(part, this.#bufferedBytes);
      this.#bufferedBytes += part.length;
      takenBytes += part.length;
    }
  }

  async #copy(source: FileHandle, startBytes: number, sizeBytes: number, name: string): Promise<void> {
    for (let copiedBytes = 0; copiedBytes < sizeBytes;) {
      if (this.#bufferedBytes === CHUNK_BYTES) await this.#flush();
      const wantedBytes = Math.min(sizeBytes - copiedBytes, CHUNK_BYTES - this.#bufferedBytes);
      copiedBytes += await this.#readInto(source, startBytes + copiedBytes, wantedBytes, name);
    }
  }

  async #readInto(source: FileHandle, positionBytes: number, wantedBytes: number, name: string): Promise<number> {
    const { bytesRead } = await source
      .read(this.#buffer, this.#bufferedBytes, wantedBytes, positionBytes)
      .catch((error: unknown) => {
        throw new InputError(`Cannot read the payload of ${JSON.stringify(name)}: ${errorMessage(error)}`, {
          offsetBytes: positionBytes,
          cause: error,
        });
      });
    if (bytesRead === 0) {
      throw new InputError(
        `Cannot read the payload of ${JSON.stringify(name)}: its file ends at byte ${grouped(positionBytes)}`,
        {
          offsetBytes: positionBytes,
        },
      );
    }
    this.#bufferedBytes += bytesRead;
    return bytesRead;
  }

  async #flush(): Promise<void> {
    let writtenBytes = 0;
    while (writtenBytes < this.#bufferedBytes) {
      const { bytesWritten } = await this.#handle.write(
        this.#buffer,
        writtenBytes,
        this.#bufferedBytes - writtenBytes,
        this.#positionBytes,
      );
      writtenBytes += bytesWritten;
      this.#positionBytes += bytesWritten;
    }
    this.#bufferedBytes = 0;
  }
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
