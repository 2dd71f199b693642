import { closeSync, openSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { partialPath, publishFile, removeFile } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import { putVarint, RecordEncoder, type SqliteValue } from './index-sqlite-record.js';
import { PAGE_BYTES, SqliteTree, TreePage } from './index-sqlite-tree.js';

/** A table or an index, as it is asked for. */
export interface SqliteObject {
  kind: 'table' | 'index';
  name: string;
  /** The table that an index belongs to; its own name for a table. */
  table: string;
  /** The statement that makes it; null for the index that stands behind UNIQUE. */
  sql: string | null;
  /** Rows by number from 1 on, or entries of an index in their order, each with its row number at the end. */
  rows: Iterable<readonly SqliteValue[]>;
}

/** Pages that are written at a time. */
const CHUNK_PAGES = 64;

/** Rows that are written before others get their turn. */
const ROWS_A_TURN = 4096;

/**
 * Writes a new SQLite database, page by page, without SQLite: Node.js 20 has none, and here only rows in their order are to be kept. The same
 * rows give the same bytes.
 *
 * Source: "Database File Format", https://www.sqlite.org/fileformat2.html.
 *
 * @throws OutputError where it cannot be written; RangeError for a row that is too long
 */
export async function writeSqliteFile(
  finalPath: string,
  objects: readonly SqliteObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const partial = partialPath(finalPath);
  const file = new PageFile(partial);
  try {
    const roots: number[] = [];
    for (const object of objects) roots.push(await writeTree(file, object, signal));
    file.finish((pageCount) => firstPage(objects, roots, pageCount));
    await publishFile(partial, finalPath);
  } catch (error) {
    file.close();
    await removeFile(partial);
    throw error;
  }
}

async function writeTree(
  file: PageFile,
  { kind, rows }: SqliteObject,
  signal: AbortSignal | undefined,
): Promise<number> {
  const tree = new SqliteTree(kind, (page) => file.append(page));
  const encoder = new RecordEncoder();
  let number = 0;
  for (const row of rows) {
    number += 1;
    tree.add(encoder.bytes, encoder.encode(row), number);
    if (number % ROWS_A_TURN !== 0) continue;
    await setImmediate();
    signal?.throwIfAborted();
  }
  return tree.finish();
}

const FILE_HEADER_BYTES = 100;
const LEAF_HEADER_BYTES = 8;
const TABLE_LEAF = 0x0d;

/** SQLite 3.45.0: what a file says it was written by; nothing newer is used. */
const SQLITE_VERSION = 3_045_000;

/** The file's header (section 1.3), and behind it the table of all tables and indexes. */
function firstPage(objects: readonly SqliteObject[], roots: readonly number[], pageCount: number): Buffer {
  const page = new TreePage(TABLE_LEAF, LEAF_HEADER_BYTES, FILE_HEADER_BYTES);
  const encoder = new RecordEncoder();
  for (const [index, { kind, name, table, sql }] of objects.entries()) {
    const size = encoder.encode([kind, name, table, roots[index] ?? 0, sql]);
    const cell = Buffer.alloc(size + 16);
    const at = putVarint(cell, putVarint(cell, 0, size), index + 1);
    encoder.bytes.copy(cell, at, 0, size);
    page.put(cell.subarray(0, at + size));
  }
  const bytes = page.finish();
  bytes.write('SQLite format 3\0', 0, 'latin1');
  bytes.writeUInt16BE(PAGE_BYTES, 16);
  // Rollback journal for writing and reading, no reserved space, and three constants of the format.
  bytes.set([1, 1, 0, 64, 32, 32], 18);
  const words: Readonly<Record<number, number>> = {
    24: 1, // changes of the file
    28: pageCount,
    40: 1, // changes of the schema
    44: 4, // schema format
    56: 1, // UTF-8
    92: 1, // the change that the page count is valid for
    96: SQLITE_VERSION,
  };
  for (const [at, value] of Object.entries(words)) bytes.writeUInt32BE(value, Number(at));
  return bytes;
}

/** Pages in the order in which they get their numbers; the first is written last. The process waits for each write. */
class PageFile {
  readonly #path: string;
  readonly #file: number;
  readonly #chunk = Buffer.alloc(CHUNK_PAGES * PAGE_BYTES);
  #chunkPages = 0;
  #pageCount = 1;
  #isOpen = true;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, 'w');
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot make', path });
    }
  }

  /** Returns the number of the page. */
  append(page: Buffer): number {
    page.copy(this.#chunk, this.#chunkPages * PAGE_BYTES);
    this.#chunkPages += 1;
    this.#pageCount += 1;
    if (this.#chunkPages === CHUNK_PAGES) this.#flush();
    return this.#pageCount;
  }

  finish(makeFirstPage: (pageCount: number) => Buffer): void {
    this.#flush();
    this.#write(makeFirstPage(this.#pageCount), 0);
    this.close();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#file);
  }

  #flush(): void {
    const start = (this.#pageCount - this.#chunkPages) * PAGE_BYTES;
    this.#write(this.#chunk.subarray(0, this.#chunkPages * PAGE_BYTES), start);
    this.#chunkPages = 0;
  }

  #write(bytes: Buffer, positionBytes: number): void {
    let writtenBytes = 0;
    try {
      while (writtenBytes < bytes.length) {
        const rest = bytes.length - writtenBytes;
        writtenBytes += writeSync(this.#file, bytes, writtenBytes, rest, positionBytes + writtenBytes);
      }
    } catch (error) {
      const neededBytes = bytes.length - writtenBytes;
      throw writeFailure(error, { action: 'Cannot write', path: this.#path, neededBytes });
    }
  }
}
