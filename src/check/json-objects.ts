import type { FileHandle } from 'node:fs/promises';
import { InputError } from '../errors.js';

/** An object of a file that is not one object a line, or bytes that belong to none. */
export interface JsonPiece {
  kind: 'object' | 'other' | 'unfinished';
  /** 1-based line on which it begins. */
  line: number;
  bytes: Buffer;
}

const CHUNK_BYTES = 1024 * 1024;
const MAX_OBJECT_BYTES = 256 * 1024 * 1024;

/**
 * The objects at the top of a file, or in an array at its top, one after the other, however they are laid out over lines. Brackets, commas
 * and space between them are passed over. Holds a chunk and the longest object.
 *
 * @throws InputError where an object is too long
 */
export async function* jsonObjects(handle: FileHandle, path: string): AsyncGenerator<JsonPiece> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const splitter = new ObjectSplitter(path);
  for (let offset = 0; ;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, offset);
    if (bytesRead === 0) break;
    const start = offset === 0 && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    yield* splitter.take(chunk.subarray(start, bytesRead));
    offset += bytesRead;
  }
  yield* splitter.end();
}

/** The objects on one line. */
export function splitObjects(line: Buffer, number: number): JsonPiece[] {
  const splitter = new ObjectSplitter('', number);
  return [...splitter.take(line), ...splitter.end()];
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

class ObjectSplitter {
  readonly #path: string;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #line: number;
  #startLine: number;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOther = false;

  constructor(path: string, line = 1) {
    this.#path = path;
    this.#line = line;
    this.#startLine = line;
  }

  *take(bytes: Buffer): Generator<JsonPiece> {
    let start = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === 0x0a) this.#line += 1;
      if (this.#depth > 0) {
        if (!this.#closes(byte)) continue;
        yield this.#finish('object', bytes.subarray(start, at + 1));
        continue;
      }
      const isBetween = byte <= 0x20 || byte === 0x2c || byte === 0x5b || byte === 0x5d;
      if (this.#isOther && (byte === 0x7b || byte === 0x0a)) yield this.#finish('other', bytes.subarray(start, at));
      if (byte === 0x7b || (!isBetween && !this.#isOther)) {
        start = at;
        this.#startLine = this.#line;
      }
      if (byte === 0x7b) this.#depth = 1;
      else if (!isBetween) this.#isOther = true;
    }
    if (this.#depth > 0 || this.#isOther) this.#hold(bytes.subarray(start));
  }

  *end(): Generator<JsonPiece> {
    if (this.#depth > 0) yield this.#finish('unfinished', Buffer.alloc(0));
    else if (this.#isOther) yield this.#finish('other', Buffer.alloc(0));
  }

  /** Follows a byte inside an object; true where it ends it. */
  #closes(byte: number): boolean {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (byte === 0x5c) this.#isEscaped = true;
      else if (byte === 0x22) this.#isInString = false;
    } else if (byte === 0x22) this.#isInString = true;
    else if (byte === 0x7b || byte === 0x5b) this.#depth += 1;
    else if (byte === 0x7d || byte === 0x5d) this.#depth -= 1;
    return this.#depth === 0;
  }

  #finish(kind: JsonPiece['kind'], last: Buffer): JsonPiece {
    const bytes = this.#held.length === 0 ? Buffer.from(last) : Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldBytes = 0;
    this.#isOther = false;
    this.#depth = 0;
    return { kind, line: this.#startLine, bytes };
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > MAX_OBJECT_BYTES) {
      const message = `Cannot read "${this.#path}": the object that begins on line ${this.#startLine} does not end`;
      throw new InputError(message, { path: this.#path, line: this.#startLine, hint: 'Write one object a line.' });
    }
    this.#held.push(Buffer.from(bytes));
  }
}
