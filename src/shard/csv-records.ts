import type { FileHandle } from 'node:fs/promises';
import { decodeUtf8 } from '../manifest/utf8.js';
import type { RowRefusal } from './utterance-row.js';

/** A record of a CSV file, which may take several lines, or what is wrong with it. */
export type CsvRecord = { line: number } & ({ fields: string[] } | { refusal: RowRefusal });

const QUOTE = 0x22;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const READ_BYTES = 1 << 20;
/** A quoted field that goes on for longer was not closed. */
const MAX_RECORD_BYTES = 4 << 20;

/**
 * The records of a CSV file (RFC 4180) that are not blank. A byte order mark at its start is left out. Where a quote is never closed, that line
 * is refused, and reading goes on with the next one.
 *
 * @param handle read from its first byte on, in order
 */
export async function* csvRecords(handle: Pick<FileHandle, 'read'>): AsyncGenerator<CsvRecord> {
  let held: Buffer = Buffer.alloc(0);
  let line = 1;
  let isEnd = false;
  for (let offset = 0; !isEnd || held.length > 0;) {
    if (!isEnd) {
      const chunk = Buffer.allocUnsafe(READ_BYTES);
      const { bytesRead } = await handle.read(chunk, 0, READ_BYTES, offset);
      isEnd = bytesRead === 0;
      held = Buffer.concat([held, chunk.subarray(0, bytesRead)]);
      if (offset === 0 && held.subarray(0, 3).equals(BYTE_ORDER_MARK)) held = held.subarray(3);
      offset += bytesRead;
    }
    let start = 0;
    for (;;) {
      const end = endOfRecord(held, start, isEnd);
      if (end === undefined) break;
      const bytes = held.subarray(start, end.at);
      const record = isBlank(bytes) ? undefined : readRecord(bytes, end.isOpen);
      if (record !== undefined) yield { line, ...record };
      // A stray quote costs its own line alone, not those up to the next quote.
      const isStray = record !== undefined && 'refusal' in record && end.lines > 1;
      line += isStray ? 1 : end.lines;
      start = Math.min(held.length, (isStray ? held.indexOf(NEWLINE, start) : end.at) + 1);
      if (start === held.length) break;
    }
    held = held.subarray(start);
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Where the record that starts at `start` ends; undefined when more bytes are needed to tell. */
function endOfRecord(
  bytes: Buffer,
  start: number,
  isEnd: boolean,
): { at: number; lines: number; isOpen: boolean } | undefined {
  let lines = 1;
  let isQuoted = false;
  for (let at = start; at < bytes.length && at - start <= MAX_RECORD_BYTES; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) isQuoted = !isQuoted;
    if (byte !== NEWLINE) continue;
    if (!isQuoted) return { at, lines, isOpen: false };
    lines += 1;
  }
  if (!isEnd && bytes.length - start <= MAX_RECORD_BYTES) return undefined;
  if (start >= bytes.length) return undefined;
  if (!isQuoted) return { at: bytes.length, lines, isOpen: false };
  const newline = bytes.indexOf(NEWLINE, start);
  return { at: newline < 0 ? bytes.length : newline, lines: 1, isOpen: true };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === RETURN);
}

function readRecord(bytes: Buffer, isOpen: boolean): { fields: string[] } | { refusal: RowRefusal } {
  if (isOpen) {
    const message = 'a quote is opened that nothing closes';
    return { refusal: { reason: 'bad_quotes', message, hint: 'write a quote inside a quoted field twice' } };
  }
  const text = decodeUtf8(bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes);
  if (typeof text === 'number') {
    const message = 'the line holds a byte that is not UTF-8';
    return { refusal: { reason: 'invalid_utf8', message, column: text, hint: 'convert the manifest to UTF-8' } };
  }
  return splitRecord(text);
}

function splitRecord(text: string): { fields: string[] } | { refusal: RowRefusal } {
  const fields: string[] = [];
  for (let at = 0; ;) {
    if (text.charAt(at) !== '"') {
      const comma = text.indexOf(',', at);
      const field = text.slice(at, comma < 0 ? text.length : comma);
      if (field.includes('"')) return refuseQuotes('a quote stands inside a field that is not quoted');
      fields.push(field);
      if (comma < 0) return { fields };
      at = comma + 1;
      continue;
    }
    let field = '';
    for (;;) {
      const quote = text.indexOf('"', at + 1);
      if (quote < 0) return refuseQuotes('a quote is opened that nothing closes');
      field += text.slice(at + 1, quote);
      at = quote + 1;
      if (text.charAt(at) !== '"') break;
      field += '"';
    }
    fields.push(field);
    if (at >= text.length) return { fields };
    if (text.charAt(at) !== ',') return refuseQuotes('something other than a comma follows a quoted field');
    at += 1;
  }
}

function refuseQuotes(message: string): { refusal: RowRefusal } {
  const hint = 'quote the whole field, and write a quote inside it twice';
  return { refusal: { reason: 'bad_quotes', message, hint } };
}
