import path from 'node:path';
import type { PackFailure, PlannedItem } from '../shard/plan.js';
import { IdIndex } from '../shard/id-index.js';
import type { RowRefusal } from '../shard/utterance-row.js';
import { GrowingArray, Spool } from './spool.js';

const floats = (length: number): Float64Array => new Float64Array(length);
const words = (length: number): Uint32Array => new Uint32Array(length);

/**
 * The rows of an input while they are planned: items and failures lie on disk, and a row takes 40 bytes of memory, its id and its file as much
 * again where they are new.
 */
export class RowTable {
  readonly #items: Spool;
  readonly #refused: Spool;
  readonly #offsets = new GrowingArray(floats);
  readonly #sizes = new GrowingArray(words);
  readonly #inputs = new GrowingArray(words);
  readonly #lines = new GrowingArray(words);
  readonly #files = new GrowingArray(words);
  readonly #micros = new GrowingArray(floats);
  readonly #refusedSizes = new GrowingArray(words);
  readonly #ids = new IdIndex();
  readonly #paths = new IdIndex();
  /** By file: the first of its rows. */
  readonly #fileRows = new GrowingArray(words);
  #lastPath: string | undefined;
  readonly #inputNames: readonly string[];
  /** Rows that turned out to be unusable, and why. */
  readonly #spoilt = new Map<number, RowRefusal>();

  /** @param workFolder where the records lie; @param inputNames by the inputs' numbers. */
  constructor(workFolder: string, inputNames: readonly string[]) {
    this.#items = new Spool(path.join(workFolder, 'rows'));
    this.#refused = new Spool(path.join(workFolder, 'refused'));
    this.#inputNames = inputNames;
  }

  /** Rows that became items, spoilt ones included. */
  get count(): number {
    return this.#offsets.length;
  }

  get keptCount(): number {
    return this.count - this.#spoilt.size;
  }

  get fileCount(): number {
    return this.#fileRows.length;
  }

  /** Adds an item. Returns false where its id was there before: then it is a failure. */
  add(item: PlannedItem): boolean {
    const row = this.count;
    const first = this.#ids.firstShardOf(item.id, row);
    if (first !== row) {
      const place = this.#placeOf(first, item.input);
      const refusal = {
        reason: 'duplicate_id',
        message: `the id ${JSON.stringify(item.id)} is that of ${place}, too`,
        hint: 'give each utterance an id of its own',
        id: item.id,
      };
      this.refuse(item.input, item.line, refusal);
      return false;
    }
    this.#offsets.push(this.#items.sizeBytes);
    this.#sizes.push(this.#items.append(JSON.stringify(item)));
    this.#inputs.push(item.input);
    this.#lines.push(item.line);
    this.#micros.push(plannedMicros(item));
    // Rows of one file mostly stand together.
    const isSame = item.path === this.#lastPath;
    const file = isSame ? this.#files.at(row - 1) : this.#paths.firstShardOf(item.path, this.fileCount);
    if (file === this.fileCount) this.#fileRows.push(row);
    this.#files.push(file);
    this.#lastPath = item.path;
    return true;
  }

  /** Notes a line that became no item. */
  refuse(input: number, line: number, refusal: RowRefusal): void {
    const failure = failureOf(refusal, this.#inputNames[input] ?? '', line);
    this.#refusedSizes.push(this.#refused.append(JSON.stringify({ input, failure })));
  }

  item(row: number): PlannedItem {
    return JSON.parse(this.#items.read(this.#offsets.at(row), this.#sizes.at(row))) as PlannedItem;
  }

  /** The number of the file that a row's audio is in. */
  fileOf(row: number): number {
    return this.#files.at(row);
  }

  /** The first row that names a file. */
  firstRowOf(file: number): number {
    return this.#fileRows.at(file);
  }

  /** Microseconds of a row's audio, as far as they are known; below 0 where they are not: -1 less where it starts in its file. */
  microsOf(row: number): number {
    return this.#micros.at(row);
  }

  setMicros(row: number, micros: number): void {
    this.#micros.set(row, micros);
  }

  isSpoilt(row: number): boolean {
    return this.#spoilt.has(row);
  }

  /** Takes a row out again. */
  spoil(row: number, refusal: RowRefusal): void {
    this.#spoilt.set(row, refusal);
  }

  /** The rows that are left, in the order of the inputs. */
  keptRows(): Uint32Array {
    const rows = new Uint32Array(this.keptCount);
    let at = 0;
    for (let row = 0; row < this.count; row += 1) {
      if (this.#spoilt.has(row)) continue;
      rows[at] = row;
      at += 1;
    }
    return rows;
  }

  /** All failures in the order of the inputs and their lines. */
  *failures(): Generator<PackFailure, void, undefined> {
    const spoilt = [...this.#spoilt.keys()].toSorted((a, b) => a - b);
    let next = 0;
    const before = (row: number, input: number, line: number): boolean =>
      this.#inputs.at(row) < input || (this.#inputs.at(row) === input && this.#lines.at(row) < line);
    let offset = 0;
    for (let index = 0; index < this.#refusedSizes.length; index += 1) {
      const size = this.#refusedSizes.at(index);
      const { input, failure } = JSON.parse(this.#refused.read(offset, size)) as {
        input: number;
        failure: PackFailure;
      };
      offset += size;
      for (let row = spoilt[next]; row !== undefined && before(row, input, failure.line); row = spoilt[next]) {
        yield this.#spoiltFailure(row);
        next += 1;
      }
      yield failure;
    }
    for (const row of spoilt.slice(next)) yield this.#spoiltFailure(row);
  }

  /** Removes what lies on disk. */
  close(): void {
    this.#items.close();
    this.#refused.close();
  }

  #spoiltFailure(row: number): PackFailure {
    const refusal = this.#spoilt.get(row);
    if (refusal === undefined) throw new Error(`Row ${row} is not spoilt`);
    const { id, input, line } = this.item(row);
    return failureOf({ ...refusal, id }, this.#inputNames[input] ?? '', line);
  }

  #placeOf(row: number, input: number): string {
    const other = this.#inputs.at(row);
    const line = `line ${this.#lines.at(row)}`;
    return other === input ? line : `${line} of "${this.#inputNames[other]}"`;
  }
}

function plannedMicros({ span, duration }: PlannedItem): number {
  if (span !== undefined && span.end !== null) return span.end - span.start;
  if (duration !== undefined && span === undefined) return Math.max(1, Math.round(Number(duration) * 1e6));
  return -1 - (span?.start ?? 0);
}

function failureOf(refusal: RowRefusal, input: string, line: number): PackFailure {
  const { reason, message, hint, column, id, file = input } = refusal;
  return {
    kind: 'row',
    reason,
    message,
    ...(hint === undefined ? {} : { hint }),
    file,
    line,
    ...(column === undefined ? {} : { column }),
    ...(id === undefined ? {} : { id }),
  };
}
