import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

import { errorMessage, InputError } from '../errors.js';

/** No record's line may be longer; in a damaged file it bounds how much is looked at as one line. */
export const MAX_LINE_BYTES = 64 << 20;

const CHUNK_BYTES = 1 << 16;
const NEWLINE = 0x0a;

/** How a journal's whole records end. */
export interface JournalEnd {
  /** Number of whole records. */
  recordCount: number;
  /** Where the last of them ends; what follows is the torn tail. */
  endOffsetBytes: number;
}

/** A record's line: `<CRC-32 of the JSON's bytes, 8 lowercase hex digits>\t<JSON>\n`. */
export function formatJournalLine(record: unknown): Buffer {
  const json: string | undefined = JSON.stringify(record);
  if (json === undefined) throw new TypeError(`Cannot journal a ${typeof record}: it is no JSON value`);
  const line = Buffer.from(`${checksumOf(Buffer.from(json))}\t${json}\n`);
  if (line.length > MAX_LINE_BYTES) {
    throw new RangeError(`Cannot journal a record of ${line.length} bytes: ${MAX_LINE_BYTES} is the most`);
  }
  return line;
}

/**
 * Reads the whole records of a journal in order, and finds where they end. Damaged lines behind the last whole record are its torn tail.
 *
 * @throws {InputError} when a whole record stands behind a damaged line.
 */
export async function readRecords(
  path: string,
  handle: FileHandle,
  onRecord: (record: unknown) => void,
): Promise<JournalEnd> {
  const end: JournalEnd = { recordCount: 0, endOffsetBytes: 0 };
  let lineNumber = 0;
  let damage: { line: number; offsetBytes: number } | undefined;
  let offsetBytes = 0;
  for await (const line of linesOf(path, handle)) {
    lineNumber++;
    const record = parseJournalLine(line);
    const lineOffsetBytes = offsetBytes;
    offsetBytes += line.length;
    if (record === undefined) {
      damage ??= { line: lineNumber, offsetBytes: lineOffsetBytes };
      continue;
    }
    if (damage !== undefined) {
      throw new InputError(
        `Cannot read the journal "${path}": line ${damage.line} is damaged, and whole records follow it`,
        {
          path,
          ...damage,
          hint: 'The disk or another program changed the file: restore it from a copy, or start again without it.',
        },
      );
    }
    onRecord(record.value);
    end.recordCount++;
    end.endOffsetBytes = offsetBytes;
  }
  return end;
}

/** The record of a line with its newline; undefined where the line is torn or damaged. */
export function parseJournalLine(line: Buffer): { value: unknown } | undefined {
  if (line.at(-1) !== NEWLINE || line[8] !== 0x09) return undefined;
  const json = line.subarray(9, -1);
  if (line.toString('latin1', 0, 8) !== checksumOf(json)) return undefined;
  try {
    return { value: JSON.parse(json.toString()) as unknown };
  } catch {
    // Right by its checksum, yet no JSON: another program's line.
    return undefined;
  }
}

function checksumOf(json: Buffer): string {
  return crc32(json).toString(16).padStart(8, '0');
}

/** The lines with their newlines; the last one may lack it. A line over the limit comes in pieces, which are all damaged. */
async function* linesOf(path: string, handle: FileHandle): AsyncGenerator<Buffer, void, undefined> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  let positionBytes = 0;
  for (;;) {
    const bytesRead = await readChunk(path, handle, chunk, positionBytes);
    if (bytesRead === 0) break;
    positionBytes += bytesRead;
    for (let start = 0; start < bytesRead;) {
      const newline = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start);
      const end = newline < 0 ? bytesRead : newline + 1;
      pieces.push(Buffer.from(chunk.subarray(start, end)));
      pieceBytes += end - start;
      start = end;
      if (newline < 0 && pieceBytes <= MAX_LINE_BYTES) continue;
      yield Buffer.concat(pieces, pieceBytes);
      pieces = [];
      pieceBytes = 0;
    }
  }
  if (pieceBytes > 0) yield Buffer.concat(pieces, pieceBytes);
}

async function readChunk(path: string, handle: FileHandle, chunk: Buffer, positionBytes: number): Promise<number> {
  try {
    return (await handle.read(chunk, 0, chunk.length, positionBytes)).bytesRead;
  } catch (error) {
    throw new InputError(`Cannot read the journal "${path}": ${errorMessage(error)}`, {
      path,
      offsetBytes: positionBytes,
      cause: error,
    });
  }
}
