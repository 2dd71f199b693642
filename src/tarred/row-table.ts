import { readSync } from 'node:fs';
import { InputError } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { parseRowLine } from '../manifest/row-line.js';
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
  readonly #input: number[] = [];
  readonly #line: number[] = [];
  readonly #offsetBytes: number[] = [];
  readonly #lengthBytes: number[] = [];
  #buffer = Buffer.alloc(1 << 16);

  constructor(inputs: readonly ManifestInput[], files: FileTable) {
    this.#inputs = inputs;
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
   * Reads a row again. The process waits for it: a million reads through the thread pool would take half a minute.
   *
   * @throws InputError when the manifest changed since
   */
  read(row: number): JsonObject {
    const input = this.#inputs[this.inputOf(row)];
    const lengthBytes = this.#lengthBytes[row];
    if (input === undefined || lengthBytes === undefined) throw new RangeError(`There is no row ${row}`);
    if (lengthBytes > this.#buffer.length) this.#buffer = Buffer.alloc(lengthBytes * 2);
    const size = readSync(input.handle.fd, this.#buffer, 0, lengthBytes, this.#offsetBytes[row] ?? 0);
    const found = size === lengthBytes ? parseRowLine({ bytes: this.#buffer.subarray(0, lengthBytes) }) : undefined;
    if (found instanceof JsonObject) return found;
    throw new InputError(`Cannot read line ${this.lineOf(row)} of "${input.path}" again: the file has changed`, {
      path: input.path,
      line: this.lineOf(row),
      hint: 'Leave the manifest as it is while it is being worked on.',
    });
  }
}
