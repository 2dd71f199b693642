import { closeSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { systemCode } from '../errors.js';
import { formatJournalLine, readRecords } from '../run/journal-reader.js';
import type { SnippetBytes } from './snippet-bytes.js';
import { writeFully } from './snippet-bytes.js';

/**
 * What came of one snippet of a recording, as noted beside its bytes.
 *
 * The files of one attempt at a recording lie in the work folder: `<recording>.<attempt>.part` holds encoded snippets one after another,
 * `<recording>.<attempt>.index` says where each is. An attempt that was interrupted leaves a torn tail in either; the snippets that are
 * noted whole, with the right checksum, are used by the next one.
 */
export interface SnippetEntry {
  /** Its ordinal in the recording. */
  ordinal: number;
  /** Samples at the target rate; 0 when the recording ends before the snippet starts. */
  samples: number;
  clippedSamples: number;
  /** Samples that were not a number and became silence. */
  invalidSamples: number;
  /** Where the recording's audio ends, when it ends before the snippet was to; seconds. */
  audioEndSeconds?: number;
  /** Place in the part file; absent when there are no samples. */
  bytes?: { offset: number; size: number; crc32: number };
}

/** A snippet entry and the file that holds its bytes. */
export interface StoredSnippet extends SnippetEntry {
  partPath: string;
}

export function partPath(folder: string, recording: number, attempt: number): string {
  return path.join(folder, `${recording}.${attempt}.part`);
}

export function indexPath(part: string): string {
  return part.replace(/\.part$/u, '.index');
}

/** Writes the snippets of one attempt, in the process that makes them. */
export class PartWriter {
  readonly #part: number;
  readonly #index: number;
  #offset = 0;

  constructor(part: string) {
    // Exclusive: an attempt never shares its files with an earlier one that may not be gone yet.
    this.#part = openSync(part, 'wx');
    this.#index = openSync(indexPath(part), 'wx');
  }

  /** Appends a snippet; once this returns, a kill of the process does not undo it. */
  add(entry: Omit<SnippetEntry, 'bytes'>, bytes: SnippetBytes | undefined): void {
    let noted: SnippetEntry = entry;
    if (bytes !== undefined) {
      let checksum = 0;
      let at = this.#offset;
      for (const piece of bytes.pieces()) {
        checksum = crc32(piece, checksum);
        writeFully(this.#part, piece, at);
        at += piece.length;
      }
      noted = { ...entry, bytes: { offset: this.#offset, size: at - this.#offset, crc32: checksum } };
      this.#offset = at;
    }
    const line = formatJournalLine(noted);
    for (let written = 0; written < line.length;) written += writeSync(this.#index, line, written);
  }

  close(): void {
    closeSync(this.#part);
    closeSync(this.#index);
  }
}

/**
 * Reads what an attempt left: the snippets that are noted and whole.
 *
 * @param isTrusted true when the process that wrote them said that it was done, so that checksums need not be read again.
 */
export async function readPart(part: string, isTrusted: boolean): Promise<StoredSnippet[]> {
  const entries: SnippetEntry[] = [];
  try {
    await using index = await open(indexPath(part));
    await readRecords(indexPath(part), index, (record) => void entries.push(record as SnippetEntry));
    await using payload = await open(part);
    const whole: StoredSnippet[] = [];
    for (const entry of entries) {
      if (isTrusted || entry.bytes === undefined || (await hasChecksum(payload, entry.bytes))) {
        whole.push({ ...entry, partPath: part });
      }
    }
    return whole;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function hasChecksum(
  file: Awaited<ReturnType<typeof open>>,
  place: NonNullable<SnippetEntry['bytes']>,
): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(Math.min(place.size, 1 << 20));
  let checksum = 0;
  for (let done = 0; done < place.size;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, place.size - done), place.offset + done);
    if (bytesRead === 0) return false;
    checksum = crc32(buffer.subarray(0, bytesRead), checksum);
    done += bytesRead;
  }
  return checksum === place.crc32;
}
