import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { parseJournalLine } from '../run/journal-reader.js';

const CHUNK_BYTES = 1 << 18;
const NEWLINE = 0x0a;

/** Names what is read in errors. */
export interface LinesFile {
  path: string;
  /** What to do about a file that is damaged or gone. */
  hint: string;
}

/**
 * Reads records that stand one a line, each with its checksum, from a byte of a file to another. The file is open while they are read.
 *
 * @throws {InputError} with the byte offset, when the file is gone, ends early or is damaged.
 */
export async function* recordsBetween(
  file: LinesFile,
  startBytes = 0,
  endBytes = Infinity,
): AsyncGenerator<unknown, void, undefined> {
  const { path, hint } = file;
  const handle = await openLines(file);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let held = Buffer.alloc(0);
    let offsetBytes = startBytes;
    for (;;) {
      const at = offsetBytes + held.length;
      const read = await readChunk(file, handle, chunk, at, Math.min(CHUNK_BYTES, endBytes - at));
      if (read === 0) break;
      // A copy: those who take the records may keep slices of strings no longer than the chunk holds.
      const bytes = Buffer.concat([held, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        const record = parseJournalLine(bytes.subarray(start, end + 1));
        if (record === undefined) throw damaged(file, offsetBytes + start);
        yield record.value;
        start = end + 1;
      }
      held = bytes.subarray(start);
      offsetBytes += start;
    }
    if (held.length > 0 || (endBytes !== Infinity && offsetBytes < endBytes)) {
      throw new InputError(
        `Cannot read "${path}": it ends at byte ${offsetBytes + held.length}, inside of what it is to hold`,
        {
          path,
          offsetBytes: offsetBytes + held.length,
          hint,
        },
      );
    }
  } finally {
    await handle.close();
  }
}

/** The last record of a file that may not be there; undefined where it is not. */
export async function readLastRecord(file: LinesFile): Promise<unknown> {
  const { path } = file;
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw unreadable(file, error);
  }
  try {
    const { size } = await handle.stat();
    const chunk = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES));
    const read = await readChunk(file, handle, chunk, size - chunk.length, chunk.length);
    const bytes = chunk.subarray(0, read);
    const start = bytes.subarray(0, -1).lastIndexOf(NEWLINE) + 1;
    const record = parseJournalLine(bytes.subarray(start));
    if (record === undefined) throw damaged(file, size - chunk.length + start);
    return record.value;
  } finally {
    await handle.close();
  }
}

async function openLines(file: LinesFile): Promise<FileHandle> {
  try {
    return await open(file.path);
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function readChunk(
  file: LinesFile,
  handle: FileHandle,
  chunk: Buffer,
  positionBytes: number,
  lengthBytes: number,
): Promise<number> {
  try {
    return (await handle.read(chunk, 0, lengthBytes, positionBytes)).bytesRead;
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable({ path, hint }: LinesFile, error: unknown): InputError {
  const state = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
  return new InputError(`Cannot read "${path}": ${state}`, { path, hint, cause: error });
}

function damaged({ path, hint }: LinesFile, offsetBytes: number): InputError {
  return new InputError(`Cannot read "${path}": the line at byte ${offsetBytes} is damaged`, {
    path,
    offsetBytes,
    hint,
  });
}
