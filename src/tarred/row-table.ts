import { fstatSync, readSync } from 'node:fs';
import { InputError } from '../errors.js';
import { JsonObject, parseJsonObject } from '../manifest/json-object.js';
import type { FileTable } from './file-table.js';
import type { ManifestInput } from './inputs.js';

/** What is known of a row without reading it again. */
export interface TableRow {
  /** 0-based, of the inputs. */
  input: number;
  /** 1-based. */
  line: number;
  /** Where it stands in its input's file. */
  offsetBytes: number;
  lengthBytes: number;
  /** In the table of files. */
  file: number;
  /** NaN where the row says null: all of the audio. */
  durationSeconds: number;
  /** NaN where the row says nothing. */
  offsetSeconds: number;
}

/** The rows that are kept, 60 bytes each. The rest of a row is read again when it is needed. */
export class RowTable {
  readonly files: FileTable;
  /** NaN where the row says null. */
  readonly durations: number[] = [];
  /** NaN where the row says nothing. */
  readonly offsets: number[] = [];
  /** In the table of files. */
  readonly fileNumbers: number[] = [];
  readonly #inputs: readonly ManifestInput[];
  readonly #maxHeldBytes: number;
  readonly #input: number[] = [];
  readonly #line: number[] = [];
  readonly #offsetBytes: number[] = [];
  readonly #lengthBytes: number[] = [];
  /** Whole manifests by input, as far as memory allows; undefined for those that are read row by row. */
  readonly #held: (Buffer | undefined)[] = [];
  #heldBytes = 0;
  #buffer = Buffer.alloc(1 << 16);

  /** @param maxHeldBytes manifests of so many bytes in all are held in memory once rows are read again */
  constructor(inputs: readonly ManifestInput[], files: FileTable, maxHeldBytes = MAX_HELD_BYTES) {
    this.#inputs = inputs;
    this.#maxHeldBytes = maxHeldBytes;
    this.files = files;
  }

  get length(): number {
    return this.#line.length;
  }

  push(row: TableRow): void {
    this.#input.push(row.input);
    this.#line.push(row.line);
    this.#offsetBytes.push(row.offsetBytes);
    this.#lengthBytes.push(row.lengthBytes);
    this.fileNumbers.push(row.file);
    this.durations.push(row.durationSeconds);
    this.offsets.push(row.offsetSeconds);
  }

  inputOf(row: number): number {
    return this.#input[row] ?? 0;
  }

  lineOf(row: number): number {
    return this.#line[row] ?? 0;
  }

  /** Path of the row's manifest, as it was named. */
  manifestOf(row: number): string {
    return this.#inputs[this.inputOf(row)]?.path ?? '';
  }

  /**
   * Reads a row again. The process waits for it: a million reads through the thread pool would take half a minute, and a million system calls
   * for rows of a shuffled order take four seconds.
   *
   * @throws InputError when the manifest changed since
   */
  read(row: number): JsonObject {
    const input = this.#inputs[this.inputOf(row)];
    const lengthBytes = this.#lengthBytes[row];
    if (input === undefined || lengthBytes === undefined) throw new RangeError(`There is no row ${row}`);
    const text = this.#readText(this.inputOf(row), input, this.#offsetBytes[row] ?? 0, lengthBytes);
    const found = text === undefined ? undefined : parseJsonObject(text);
    if (found instanceof JsonObject) return found;
    throw new InputError(`Cannot read line ${this.lineOf(row)} of "${input.path}" again: the file has changed`, {
      path: input.path,
      line: this.lineOf(row),
      hint: 'Leave the manifest as it is while it is being worked on.',
    });
  }

  /** The text of a line; undefined where the file ends before it. */
  #readText(number: number, { handle }: ManifestInput, offset: number, length: number): string | undefined {
    const held = this.#hold(number, handle);
    if (held !== undefined)
      return offset + length > held.length ? undefined : held.toString('utf8', offset, offset + length);
    if (length > this.#buffer.length) this.#buffer = Buffer.alloc(length * 2);
    const size = readSync(handle.fd, this.#buffer, 0, length, offset);
    return size === length ? this.#buffer.toString('utf8', 0, length) : undefined;
  }

  #hold(number: number, { fd }: ManifestInput['handle']): Buffer | undefined {
    if (number in this.#held) return this.#held[number];
    const { size } = fstatSync(fd);
    const mayHold = this.#heldBytes + size <= this.#maxHeldBytes;
    this.#held[number] = mayHold ? readWhole(fd, size) : undefined;
    if (mayHold) this.#heldBytes += size;
    return this.#held[number];
  }
}

const MAX_HELD_BYTES = 256 * 1024 * 1024;

function readWhole(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const count = readSync(fd, bytes, filled, size - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
