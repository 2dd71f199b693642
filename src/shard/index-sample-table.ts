import type { SqliteObject } from './index-sqlite-file.js';
import type { SqliteValue } from './index-sqlite-record.js';

/** Samples and their parts, by numbers in columns: some 80 bytes and the key for each. */
export class SampleTable {
  readonly #shards = new NumberColumn();
  readonly #numbers = new NumberColumn();
  readonly #offsets = new NumberColumn();
  readonly #sizes = new NumberColumn();
  /** Where the keys end in `#keys`. */
  readonly #keyEnds = new NumberColumn();
  #keys = Buffer.alloc(1024);
  /** First part of each sample. */
  readonly #firstParts = new NumberColumn();
  readonly #partNames = new NumberColumn();
  readonly #partOffsets = new NumberColumn();
  readonly #partSizes = new NumberColumn();
  readonly #namesByPart: string[] = [];
  readonly #nameNumbers = new Map<string, number>();

  get sampleCount(): number {
    return this.#shards.length;
  }

  /**
   * Begins a sample; its parts follow.
   *
   * @param number 0-based, in its shard
   */
  addSample(key: string, shard: number, number: number, offsetBytes: number): void {
    this.#shards.push(shard);
    this.#numbers.push(number);
    this.#offsets.push(offsetBytes);
    this.#sizes.push(0);
    const start = this.#keyEnds.length === 0 ? 0 : this.#keyEnds.at(this.#keyEnds.length - 1);
    const sizeBytes = Buffer.byteLength(key);
    if (start + sizeBytes > this.#keys.length) {
      const grown = Buffer.alloc(2 * (start + sizeBytes));
      this.#keys.copy(grown, 0, 0, start);
      this.#keys = grown;
    }
    this.#keys.write(key, start);
    this.#keyEnds.push(start + sizeBytes);
    this.#firstParts.push(this.#partNames.length);
  }

  /** Adds a part to the sample that was begun last. */
  addPart(name: string, offsetBytes: number, sizeBytes: number): void {
    let number = this.#nameNumbers.get(name);
    if (number === undefined) {
      number = this.#namesByPart.push(name) - 1;
      this.#nameNumbers.set(name, number);
    }
    this.#partNames.push(number);
    this.#partOffsets.push(offsetBytes);
    this.#partSizes.push(sizeBytes);
  }

  /** Says where the sample that was begun last ends, its padding included. */
  endSample(endBytes: number): void {
    const last = this.#sizes.length - 1;
    this.#sizes.set(last, endBytes - this.#offsets.at(last));
  }

  keyOf(sample: number): Buffer {
    return this.#keys.subarray(sample === 0 ? 0 : this.#keyEnds.at(sample - 1), this.#keyEnds.at(sample));
  }

  shardOf(sample: number): number {
    return this.#shards.at(sample);
  }

  /** Samples in the order of their keys' bytes. */
  sortByKey(): Uint32Array {
    const order = new Uint32Array(this.sampleCount);
    for (let sample = 0; sample < order.length; sample += 1) order[sample] = sample;
    const keys = this.#keys;
    const start = (sample: number): number => (sample === 0 ? 0 : this.#keyEnds.at(sample - 1));
    return order.sort(
      (a, b) => keys.compare(keys, start(b), this.#keyEnds.at(b), start(a), this.#keyEnds.at(a)) || a - b,
    );
  }

  /**
   * The tables and indexes that Energon looks samples up in.
   *
   * @param order that of `sortByKey`, without duplicates
   */
  tables(order: Uint32Array): SqliteObject[] {
    return [
      { kind: 'table', name: 'samples', table: 'samples', sql: SAMPLES, rows: this.#sampleRows() },
      {
        ...{ kind: 'index', name: 'sqlite_autoindex_samples_1', table: 'samples', sql: null },
        rows: this.#keyRows(order),
      },
      { kind: 'table', name: 'sample_parts', table: 'sample_parts', sql: PARTS, rows: this.#partRows() },
      {
        ...{ kind: 'index', name: 'idx_samples_by_tar_and_idx', table: 'samples' },
        sql: 'CREATE INDEX idx_samples_by_tar_and_idx ON samples(tar_file_id, sample_index)',
        rows: this.#placeRows(),
      },
      {
        ...{ kind: 'index', name: 'idx_sample_parts_seq', table: 'sample_parts' },
        sql: 'CREATE INDEX idx_sample_parts_seq ON sample_parts(tar_file_id, sample_index, content_byte_offset)',
        rows: this.#partPlaceRows(),
      },
      {
        ...{ kind: 'index', name: 'idx_sample_parts_full', table: 'sample_parts' },
        sql: `CREATE INDEX idx_sample_parts_full ON sample_parts(${PART_COLUMNS})`,
        rows: this.#partNameRows(),
      },
    ];
  }

  *#sampleRows(): Generator<readonly SqliteValue[]> {
    for (let sample = 0; sample < this.sampleCount; sample += 1) {
      const place = [this.#numbers.at(sample), this.#offsets.at(sample), this.#sizes.at(sample)];
      yield [this.#shards.at(sample), this.keyOf(sample), ...place];
    }
  }

  *#keyRows(order: Uint32Array): Generator<readonly SqliteValue[]> {
    for (const sample of order) yield [this.keyOf(sample), sample + 1];
  }

  *#placeRows(): Generator<readonly SqliteValue[]> {
    for (let sample = 0; sample < this.sampleCount; sample += 1) {
      yield [this.#shards.at(sample), this.#numbers.at(sample), sample + 1];
    }
  }

  *#partRows(): Generator<readonly SqliteValue[]> {
    for (const [sample, part] of this.#parts()) yield this.#partRow(sample, part);
  }

  *#partPlaceRows(): Generator<readonly SqliteValue[]> {
    for (const [sample, part] of this.#parts()) {
      yield [this.#shards.at(sample), this.#numbers.at(sample), this.#partOffsets.at(part), part + 1];
    }
  }

  *#partNameRows(): Generator<readonly SqliteValue[]> {
    for (let sample = 0; sample < this.sampleCount; sample += 1) {
      const parts = [...this.#partsOf(sample)];
      const name = (part: number): Buffer => Buffer.from(this.#namesByPart[this.#partNames.at(part)] ?? '');
      if (parts.length > 1) parts.sort((a, b) => name(a).compare(name(b)) || a - b);
      for (const part of parts) yield [...this.#partRow(sample, part), part + 1];
    }
  }

  #partRow(sample: number, part: number): SqliteValue[] {
    const place = [this.#partOffsets.at(part), this.#partSizes.at(part)];
    const name = this.#namesByPart[this.#partNames.at(part)] ?? '';
    return [this.#shards.at(sample), this.#numbers.at(sample), name, ...place];
  }

  *#parts(): Generator<[sample: number, part: number]> {
    for (let sample = 0; sample < this.sampleCount; sample += 1) {
      for (const part of this.#partsOf(sample)) yield [sample, part];
    }
  }

  *#partsOf(sample: number): Generator<number> {
    const end = sample + 1 < this.sampleCount ? this.#firstParts.at(sample + 1) : this.#partNames.length;
    for (let part = this.#firstParts.at(sample); part < end; part += 1) yield part;
  }
}

const SAMPLES =
  'CREATE TABLE samples (tar_file_id INTEGER NOT NULL, sample_key TEXT NOT NULL UNIQUE, sample_index INTEGER NOT NULL, ' +
  'byte_offset INTEGER, byte_size INTEGER)';
const PARTS =
  'CREATE TABLE sample_parts (tar_file_id INTEGER, sample_index INTEGER, part_name TEXT, content_byte_offset INTEGER, ' +
  'content_byte_size INTEGER)';
const PART_COLUMNS = 'tar_file_id, sample_index, part_name, content_byte_offset, content_byte_size';

/** A list of numbers, eight bytes each. */
class NumberColumn {
  length = 0;
  #values = new Float64Array(256);

  push(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Float64Array(this.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#values[index] ?? Number.NaN;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}
