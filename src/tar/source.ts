import { readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import { errorMessage, InputError, systemCode } from '../errors.js';
import { BLOCK_BYTES, paddingBytes } from './header.js';
import { parseHeader, type TarHeaderBlock } from './header-parser.js';

/** One page: it costs no more to read than one block, and holds a pax header and what follows it. */
const WINDOW_BYTES = 4096;

/** Longer extended headers than this are taken for damage, so that a flipped bit cannot ask for gigabytes of memory. */
const MAX_EXTENSION_BYTES = 1 << 20;

/** A tar that is read at positions, through a small window. */
export class TarSource {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #fileBytes: number;
  readonly #isBlocking: boolean;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #windowOffsetBytes = 0;
  #windowBytes = 0;

  private constructor(path: string, handle: FileHandle, fileBytes: number, isBlocking: boolean) {
    this.#path = path;
    this.#handle = handle;
    this.#fileBytes = fileBytes;
    this.#isBlocking = isBlocking;
  }

  /** Opens a regular file for reading; where `isBlocking`, the process waits for each read. */
  static async open(path: string, isBlocking = false): Promise<TarSource> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, 'r');
      const stats = await handle.stat();
      if (!stats.isFile()) throw new InputError(`Cannot read "${path}": it is not a regular file`, { path });
      return new TarSource(path, handle, stats.size, isBlocking);
    } catch (error) {
      await handle?.close();
      throw error instanceof InputError ? error : unreadable(path, 0, error);
    }
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** The header at an offset, or `end` where the file or the archive ends there. */
  async headerAt(offsetBytes: number): Promise<TarHeaderBlock | 'end'> {
    const block = await this.#blockAt(offsetBytes);
    if (block === undefined || isZero(block)) return 'end';
    const header = parseHeader(block);
    if (typeof header !== 'string') return header;
    if (offsetBytes > 0) throw this.damaged(header, offsetBytes);
    throw new InputError(`Cannot read "${this.#path}" as a tar: ${header}`, {
      path: this.#path,
      offsetBytes,
      hint: compressionHint(block),
    });
  }

  /** The payload of an extended header that starts at an offset. */
  async extensionAt(offsetBytes: number, header: TarHeaderBlock): Promise<Buffer> {
    if (header.sizeBytes > MAX_EXTENSION_BYTES) {
      throw this.damaged(`an extended header claims ${grouped(header.sizeBytes)} bytes`, offsetBytes);
    }
    const start = offsetBytes + BLOCK_BYTES;
    if (start + header.sizeBytes + paddingBytes(header.sizeBytes) > this.#fileBytes) {
      throw this.#torn('an extended header', start, header.sizeBytes);
    }
    const payload = Buffer.alloc(header.sizeBytes);
    let filled = 0;
    while (filled < payload.length) {
      const chunk = await this.#bytesAt(start + filled);
      filled += chunk.copy(payload, filled, 0, payload.length - filled);
    }
    return payload;
  }

  /** Whether both blocks of zeros stand at an offset. */
  async isEndAt(offsetBytes: number): Promise<boolean> {
    if ((await this.#blockAt(offsetBytes)) === undefined) return false;
    const second = await this.#blockAt(offsetBytes + BLOCK_BYTES);
    if (second === undefined) return false;
    // Readers stop at a single block of zeros, and members behind it would be lost in silence.
    if (!isZero(second)) throw this.damaged('a block of zeros stands where a header should be', offsetBytes);
    return true;
  }

  /** Refuses a payload that does not lie whole in the file, padding included. */
  requirePayload(name: string, offsetBytes: number, sizeBytes: number): void {
    if (offsetBytes + sizeBytes + paddingBytes(sizeBytes) <= this.#fileBytes) return;
    throw this.#torn(`the payload of ${JSON.stringify(name)}`, offsetBytes, sizeBytes);
  }

  /** The error for bytes that make no sense at an offset. */
  damaged(what: string, offsetBytes: number): InputError {
    return new InputError(`Cannot read "${this.#path}" at byte ${grouped(offsetBytes)}: ${what}`, {
      path: this.#path,
      offsetBytes,
      hint: 'The file is damaged here; fetch it or make it again.',
    });
  }

  /** The error for a member that is whole, and stored in a way that is not read here. */
  unsupported(what: string, offsetBytes: number): InputError {
    return new InputError(`Cannot read "${this.#path}" at byte ${grouped(offsetBytes)}: ${what}`, {
      path: this.#path,
      offsetBytes,
      hint: 'Unpack it and pack it again with "tar --format=ustar", without --sparse and --multi-volume.',
    });
  }

  #torn(what: string, offsetBytes: number, sizeBytes: number): InputError {
    const endBytes = offsetBytes + sizeBytes + paddingBytes(sizeBytes);
    return new InputError(
      `Cannot read "${this.#path}" at byte ${grouped(offsetBytes)}: ${what} is truncated, ` +
        `it ends at byte ${grouped(endBytes)} with its padding and the file at byte ${grouped(this.#fileBytes)}`,
      {
        path: this.#path,
        offsetBytes,
        hint: 'The file was not written or transferred to its end; fetch it or make it again.',
      },
    );
  }

  /** The block at an offset, or undefined where the file ends there. Valid until the next read. */
  async #blockAt(offsetBytes: number): Promise<Buffer | undefined> {
    if (offsetBytes >= this.#fileBytes) return undefined;
    if (offsetBytes + BLOCK_BYTES > this.#fileBytes) throw this.#torn('a header', offsetBytes, BLOCK_BYTES);
    return (await this.#bytesAt(offsetBytes, BLOCK_BYTES)).subarray(0, BLOCK_BYTES);
  }

  /** At least `minBytes` bytes from an offset on, as many as the window holds. Valid until the next read. */
  async #bytesAt(offsetBytes: number, minBytes = 1): Promise<Buffer> {
    const isInside =
      offsetBytes >= this.#windowOffsetBytes && offsetBytes + minBytes <= this.#windowOffsetBytes + this.#windowBytes;
    if (!isInside) await this.#fillWindow(offsetBytes, minBytes);
    return this.#window.subarray(offsetBytes - this.#windowOffsetBytes, this.#windowBytes);
  }

  async #fillWindow(offsetBytes: number, minBytes: number): Promise<void> {
    this.#windowOffsetBytes = offsetBytes;
    this.#windowBytes = 0;
    while (this.#windowBytes < minBytes) {
      const position = offsetBytes + this.#windowBytes;
      const bytesRead = await this.#read(position);
      if (bytesRead === 0) throw this.damaged('the file became shorter while it was read', position);
      this.#windowBytes += bytesRead;
    }
  }

  /** Appends what stands at a position to the window; returns how many bytes there were. */
  async #read(position: number): Promise<number> {
    const free = WINDOW_BYTES - this.#windowBytes;
    try {
      if (this.#isBlocking) return readSync(this.#handle.fd, this.#window, this.#windowBytes, free, position);
      return (await this.#handle.read(this.#window, this.#windowBytes, free, position)).bytesRead;
    } catch (error) {
      throw unreadable(this.#path, position, error);
    }
  }
}

function unreadable(path: string, offsetBytes: number, cause: unknown): InputError {
  const reason = systemCode(cause) === 'ENOENT' ? 'there is no such file' : errorMessage(cause);
  return new InputError(`Cannot read "${path}": ${reason}`, { path, offsetBytes, cause });
}

function compressionHint(block: Uint8Array): string {
  const magic = Buffer.from(block.subarray(0, 4)).toString('hex');
  if (magic.startsWith('1f8b')) return 'It is compressed with gzip: decompress it with "gunzip" first.';
  if (magic === '28b52ffd') return 'It is compressed with Zstandard: decompress it with "zstd -d" first.';
  if (magic.startsWith('425a68')) return 'It is compressed with bzip2: decompress it with "bunzip2" first.';
  if (magic === 'fd377a58') return 'It is compressed with xz: decompress it with "unxz" first.';
  return 'The file is not a tar, or its start is damaged.';
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
