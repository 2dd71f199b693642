import type { Hash } from 'node:crypto';
import { InputError, errorMessage } from '../errors.js';

/** One line of a manifest that is not blank. */
export interface ManifestLine {
  /** 1-based; blank lines count. */
  number: number;
  /** Where the line's first byte stands in the file, after a byte order mark. */
  offsetBytes: number;
  /** Without the line break and a carriage return before it. */
  lengthBytes: number;
  /** The line; valid until the next one is asked for. Undefined where it is longer than `maxLineBytes`. */
  bytes: Buffer | undefined;
}

export interface LineReaderOptions {
  /** Takes every byte of the file, line breaks and byte order mark included. */
  hash?: Hash;
  /** Longer lines are passed over without being held. Default 256 MiB. */
  maxLineBytes?: number;
  /** Bytes asked of the file at a time. Default 1 MiB. */
  chunkBytes?: number;
}

/** What is read at any place: a `FileHandle`, or one that does as it does. */
export interface PlacedReader {
  read(into: Buffer, offset: number, length: number, positionBytes: number): Promise<{ bytesRead: number }>;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The lines of a file from its first byte on, split at `\n`. A carriage return before it and a UTF-8 byte order mark at the start of the file are
 * left out; blank lines (of spaces and tabs at most) are passed over. Holds a chunk and the longest line.
 *
 * @param path names the file in errors
 * @throws InputError when the file cannot be read
 */
export async function* manifestLines(
  handle: PlacedReader,
  path: string,
  options: LineReaderOptions = {},
): AsyncGenerator<ManifestLine> {
  const { hash, maxLineBytes = 256 * 1024 * 1024, chunkBytes = 1024 * 1024 } = options;
  const chunk = Buffer.allocUnsafe(chunkBytes);
  const open = new OpenLine(maxLineBytes);
  let chunkOffset = 0;
  let number = 1;
  for (;;) {
    const size = await readAt(handle, path, chunk, chunkOffset);
    if (size === 0) break;
    const bytes = chunk.subarray(0, size);
    hash?.update(bytes);
    let start = chunkOffset === 0 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    for (;;) {
      const newline = bytes.indexOf(NEWLINE, start);
      if (newline < 0) break;
      const line = open.finish(bytes.subarray(start, newline), chunkOffset + start, number);
      if (line !== undefined) yield line;
      number += 1;
      start = newline + 1;
    }
    open.append(bytes.subarray(start), chunkOffset + start);
    chunkOffset += size;
  }
  const last = open.finish(Buffer.alloc(0), chunkOffset, number);
  if (last !== undefined) yield last;
}

/**
 * Reads a line again by its place.
 *
 * @param path names the file in errors
 * @throws InputError when the file ends before the line does, or cannot be read
 */
export async function readLineAt(
  handle: PlacedReader,
  path: string,
  offsetBytes: number,
  lengthBytes: number,
): Promise<Buffer> {
  const line = Buffer.allocUnsafe(lengthBytes);
  const size = await readAt(handle, path, line, offsetBytes);
  if (size === lengthBytes) return line;
  throw new InputError(`Cannot read "${path}" again: it is shorter than it was`, {
    path,
    offsetBytes,
    hint: 'Leave the manifest as it is while it is being worked on.',
  });
}

/** Fills the buffer from a place in the file; returns how many bytes there were before its end. */
async function readAt(handle: PlacedReader, path: string, into: Buffer, offsetBytes: number): Promise<number> {
  let filled = 0;
  try {
    while (filled < into.length) {
      const { bytesRead } = await handle.read(into, filled, into.length - filled, offsetBytes + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
  } catch (error) {
    throw new InputError(`Cannot read "${path}" at byte ${offsetBytes + filled}: ${errorMessage(error)}`, {
      path,
      offsetBytes: offsetBytes + filled,
      cause: error,
    });
  }
  return filled;
}

/** The part of a line that earlier chunks held. */
class OpenLine {
  readonly #maxBytes: number;
  #held: Buffer = Buffer.alloc(0);
  #heldBytes = 0;
  /** Where the line began, or -1 when no chunk held a part of it. */
  #offsetBytes = -1;
  /** Its size where it is too long to be held. */
  #skippedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(part: Buffer, offsetBytes: number): void {
    if (part.length === 0) return;
    if (this.#offsetBytes < 0) this.#offsetBytes = offsetBytes;
    const size = this.#heldBytes + part.length;
    if (this.#skippedBytes > 0 || size > this.#maxBytes) {
      this.#skippedBytes += this.#heldBytes + part.length;
      this.#heldBytes = 0;
      this.#held = Buffer.alloc(0);
      return;
    }
    if (size > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#maxBytes, size * 2));
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    part.copy(this.#held, this.#heldBytes);
    this.#heldBytes = size;
  }

  /** Ends the line with its last part; undefined when it is blank. */
  finish(part: Buffer, offsetBytes: number, number: number): ManifestLine | undefined {
    let bytes = part;
    let start = offsetBytes;
    if (this.#offsetBytes >= 0) {
      start = this.#offsetBytes;
      this.append(part, offsetBytes);
      this.#offsetBytes = -1;
      const skippedBytes = this.#skippedBytes;
      bytes = this.#held.subarray(0, this.#heldBytes);
      this.#heldBytes = 0;
      this.#skippedBytes = 0;
      if (skippedBytes > 0) return { number, offsetBytes: start, lengthBytes: skippedBytes, bytes: undefined };
    }
    if (bytes.length > this.#maxBytes) {
      return { number, offsetBytes: start, lengthBytes: bytes.length, bytes: undefined };
    }
    if (bytes.at(-1) === RETURN) bytes = bytes.subarray(0, -1);
    if (isBlank(bytes)) return undefined;
    return { number, offsetBytes: start, lengthBytes: bytes.length, bytes };
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== RETURN) return false;
  }
  return true;
}
