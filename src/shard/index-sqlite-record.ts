/** A value of a row: text as its UTF-8 bytes, or a whole number from 0 on. */
export type SqliteValue = number | Uint8Array | string | null;

/** Longest record that is written, in bytes: longer ones of an index would need overflow pages (4,096-byte pages, section 1.6). */
export const MAX_RECORD_BYTES = 1002;

/**
 * Encodes records of SQLite's file format into one buffer, one after the other.
 *
 * Source: "Database File Format", https://www.sqlite.org/fileformat2.html, section 2.1 (record format) and 1.6 (variable-length integers).
 */
export class RecordEncoder {
  /** Holds the last record, from its start. */
  readonly bytes = Buffer.alloc(2 * MAX_RECORD_BYTES);

  /**
   * Encodes a record; returns its size in bytes.
   *
   * @throws RangeError when it is longer than `MAX_RECORD_BYTES`
   */
  encode(values: readonly SqliteValue[]): number {
    let headerBytes = 1;
    let bodyBytes = 0;
    for (const value of values) {
      headerBytes += varintBytes(serialType(value));
      bodyBytes += contentBytes(value);
    }
    // The header counts its own size, which fits one byte: 127 of them hold more columns than any table here has.
    if (headerBytes > 127 || headerBytes + bodyBytes > MAX_RECORD_BYTES) {
      throw new RangeError(`a record of ${headerBytes + bodyBytes} bytes is too long for a page`);
    }
    let at = putVarint(this.bytes, 0, headerBytes);
    for (const value of values) at = putVarint(this.bytes, at, serialType(value));
    for (const value of values) at = this.#putContent(at, value);
    return at;
  }

  #putContent(at: number, value: SqliteValue): number {
    if (value === null) return at;
    if (typeof value === 'string') return at + this.bytes.write(value, at);
    if (typeof value !== 'number') {
      this.bytes.set(value, at);
      return at + value.length;
    }
    const size = contentBytes(value);
    if (size > 6) this.bytes.writeBigUInt64BE(BigInt(value), at);
    else if (size > 0) this.bytes.writeUIntBE(value, at, size);
    return at + size;
  }
}

function serialType(value: SqliteValue): number {
  if (value === null) return 0;
  if (typeof value === 'string') return 13 + 2 * Buffer.byteLength(value);
  if (typeof value !== 'number') return 13 + 2 * value.length;
  if (value === 0) return 8;
  if (value === 1) return 9;
  const size = contentBytes(value);
  return size <= 4 ? size : size === 6 ? 5 : 6;
}

/** Numbers are two's complement of 1, 2, 3, 4, 6 or 8 bytes; 0 and 1 stand in the header alone. */
function contentBytes(value: SqliteValue): number {
  if (value === null) return 0;
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'number') return value.length;
  if (value <= 1) return 0;
  if (value < 0x80) return 1;
  if (value < 0x8000) return 2;
  if (value < 0x800000) return 3;
  if (value < 0x80000000) return 4;
  return value < 2 ** 47 ? 6 : 8;
}

/** How many bytes a number takes as a variable-length integer, seven bits each. */
export function varintBytes(value: number): number {
  let size = 1;
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

/** Writes a number below 2^53, high bits first; returns the place behind it. */
export function putVarint(into: Buffer, at: number, value: number): number {
  const size = varintBytes(value);
  let rest = value;
  for (let place = at + size - 1; place >= at; place -= 1) {
    into[place] = (rest % 128) | (place === at + size - 1 ? 0 : 0x80);
    rest = Math.floor(rest / 128);
  }
  return at + size;
}
