import { putVarint, varintBytes } from './index-sqlite-record.js';

/** Size of a page: SQLite's default. */
export const PAGE_BYTES = 4096;

/** Takes a whole page; returns its number. */
export type PageSink = (page: Buffer) => number;

const LEAF_HEADER_BYTES = 8;
const INTERIOR_HEADER_BYTES = 12;
const POINTER_BYTES = 2;

/** The first byte of a page. */
const PAGE_TYPES = { table: { leaf: 0x0d, interior: 0x05 }, index: { leaf: 0x0a, interior: 0x02 } } as const;

/**
 * Writes a b-tree of SQLite's file format from its first entry to its last: pages are filled in order and written once, the root at the end.
 *
 * ```
 *            ┌ interior: child key child key child ┐        the key between two children is
 *            ▼           ▼           ▼                      a table's greatest row number on its left, or
 *   leaf: a b c     leaf: d e f    leaf: g h                an index's own entry, which then is in no leaf
 * ```
 *
 * Source: "Database File Format", https://www.sqlite.org/fileformat2.html, section 1.6.
 */
export class SqliteTree {
  readonly #kind: 'table' | 'index';
  readonly #leaves: TreeLevel;
  readonly #cell = Buffer.alloc(PAGE_BYTES);
  #lastKey: Buffer = Buffer.alloc(0);

  constructor(kind: 'table' | 'index', write: PageSink) {
    this.#kind = kind;
    this.#leaves = new TreeLevel(kind, 0, write);
  }

  /**
   * Appends the first `sizeBytes` bytes of `record`. Rows of a table are numbered from 1 on; entries of an index come in their order.
   */
  add(record: Buffer, sizeBytes: number, rowNumber: number): void {
    let at = putVarint(this.#cell, 0, sizeBytes);
    if (this.#kind === 'table') at = putVarint(this.#cell, at, rowNumber);
    record.copy(this.#cell, at, 0, sizeBytes);
    const cell = this.#cell.subarray(0, at + sizeBytes);
    if (this.#kind === 'index') {
      if (!this.#leaves.fits(cell.length)) this.#leaves.close(Buffer.from(cell));
      else this.#leaves.put(cell);
      return;
    }
    if (!this.#leaves.fits(cell.length)) this.#leaves.close(this.#lastKey);
    this.#leaves.put(cell);
    this.#lastKey = Buffer.alloc(varintBytes(rowNumber));
    putVarint(this.#lastKey, 0, rowNumber);
  }

  /** Writes what is left; returns the page number of the root. */
  finish(): number {
    return this.#leaves.finish();
  }
}

/**
 * The pages of one height of a tree. The page before the current one waits until that has a cell, since no page but the root may be without:
 * where nothing follows, it gives up its last.
 */
class TreeLevel {
  readonly #kind: 'table' | 'index';
  readonly #height: number;
  readonly #write: PageSink;
  #page: TreePage;
  #waiting: { page: TreePage; key: Buffer } | undefined;
  #above: TreeLevel | undefined;

  constructor(kind: 'table' | 'index', height: number, write: PageSink) {
    this.#kind = kind;
    this.#height = height;
    this.#write = write;
    this.#page = this.#emptyPage();
  }

  fits(cellBytes: number): boolean {
    return this.#page.freeBytes >= cellBytes + POINTER_BYTES;
  }

  put(cell: Buffer): void {
    this.#page.put(cell);
  }

  /** Ends the current page; `key` parts it from the next one. */
  close(key: Buffer): void {
    this.#flushWaiting();
    this.#waiting = { page: this.#page, key };
    this.#page = this.#emptyPage();
  }

  /** Takes a page of the height below and the key behind it. */
  addChild(child: number, key: Buffer): void {
    if (this.fits(4 + key.length)) {
      this.put(childCell(child, key));
      return;
    }
    this.#page.rightChild = child;
    this.close(key);
  }

  finish(lastChild?: number): number {
    if (lastChild !== undefined) this.#page.rightChild = lastChild;
    if (this.#page.count === 0 && this.#waiting !== undefined) this.#shareCell(this.#waiting);
    this.#flushWaiting();
    const number = this.#write(this.#page.finish());
    return this.#above === undefined ? number : this.#above.finish(number);
  }

  /** Moves the key behind the waiting page into the empty last page, and that page's last cell to the key's place. */
  #shareCell(waiting: { page: TreePage; key: Buffer }): void {
    if (this.#height === 0) {
      // Leaves of tables are never empty here: a row that does not fit is the first of its page.
      const cell = waiting.page.takeLast();
      this.#page.put(waiting.key);
      waiting.key = cell;
      return;
    }
    const cell = waiting.page.takeLast();
    this.#page.put(childCell(waiting.page.rightChild, waiting.key));
    waiting.page.rightChild = cell.readUInt32BE(0);
    waiting.key = cell.subarray(4);
  }

  #flushWaiting(): void {
    if (this.#waiting === undefined) return;
    const { page, key } = this.#waiting;
    this.#waiting = undefined;
    this.#above ??= new TreeLevel(this.#kind, this.#height + 1, this.#write);
    this.#above.addChild(this.#write(page.finish()), key);
  }

  #emptyPage(): TreePage {
    const types = PAGE_TYPES[this.#kind];
    return this.#height === 0
      ? new TreePage(types.leaf, LEAF_HEADER_BYTES)
      : new TreePage(types.interior, INTERIOR_HEADER_BYTES);
  }
}

function childCell(child: number, key: Buffer): Buffer {
  const cell = Buffer.alloc(4 + key.length);
  cell.writeUInt32BE(child);
  key.copy(cell, 4);
  return cell;
}

/** A page: its header, two bytes a cell that say where it lies, and the cells from its end downwards. */
export class TreePage {
  count = 0;
  rightChild = 0;
  readonly #bytes = Buffer.alloc(PAGE_BYTES);
  readonly #headerBytes: number;
  readonly #startBytes: number;
  #contentBytes = PAGE_BYTES;

  /** @param startBytes where the header begins: behind the file's own on the first page */
  constructor(type: number, headerBytes: number, startBytes = 0) {
    this.#headerBytes = headerBytes;
    this.#startBytes = startBytes;
    this.#bytes[startBytes] = type;
  }

  get freeBytes(): number {
    return this.#contentBytes - this.#pointerPlace(this.count);
  }

  put(cell: Buffer): void {
    this.#contentBytes -= cell.length;
    cell.copy(this.#bytes, this.#contentBytes);
    this.#bytes.writeUInt16BE(this.#contentBytes, this.#pointerPlace(this.count));
    this.count += 1;
  }

  /** Takes the last cell away; returns it. */
  takeLast(): Buffer {
    this.count -= 1;
    const end = this.count === 0 ? PAGE_BYTES : this.#bytes.readUInt16BE(this.#pointerPlace(this.count - 1));
    const cell = Buffer.from(this.#bytes.subarray(this.#contentBytes, end));
    this.#bytes.fill(0, this.#contentBytes, end);
    this.#bytes.writeUInt16BE(0, this.#pointerPlace(this.count));
    this.#contentBytes = end;
    return cell;
  }

  /** Fills in the header; returns the page. */
  finish(): Buffer {
    this.#bytes.writeUInt16BE(this.count, this.#startBytes + 3);
    this.#bytes.writeUInt16BE(this.#contentBytes, this.#startBytes + 5);
    if (this.#headerBytes === INTERIOR_HEADER_BYTES) this.#bytes.writeUInt32BE(this.rightChild, this.#startBytes + 8);
    return this.#bytes;
  }

  #pointerPlace(index: number): number {
    return this.#startBytes + this.#headerBytes + POINTER_BYTES * index;
  }
}
