import { closeSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { InputError, systemCode } from '../errors.js';
import { formatJournalLine, readRecords } from '../run/journal-reader.js';
import { guardPart, writeFully } from './snippet-bytes.js';
import type { SnippetBytes } from './snippet-bytes.js';
import type { SourceFacts } from './source-facts.js';

/**
 * What came of one snippet of a recording, as noted beside its bytes.
 *
 * The files of one attempt at a recording lie in the work folder: `<recording>.<attempt>.part` holds encoded snippets one after another,
 * `<recording>.<attempt>.index` says of which file they were cut, where each is and how the attempt ended. An attempt that was
 * interrupted leaves a torn tail in either; the snippets that are noted whole, with the right checksum, are used by the next one.
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
  /** Where it stands with its tar header and padding, if that file is a tar. */
  member?: { offset: number; size: number };
}

/** How an attempt ended that was not interrupted. */
export interface AttemptEnd {
  /** Why snippets are missing, where some are. */
  failure?: { reason: string; message: string; hint?: string | undefined };
  warnings: string[];
  /** The ordinals that exist now, in this attempt or an earlier one. */
  ordinals: number[];
}

/** What an attempt left. */
export interface Attempt {
  /** What the recording's file was, where the attempt got so far as to look. */
  source: SourceFacts | undefined;
  /** Those that are noted and whole. */
  snippets: StoredSnippet[];
  end: AttemptEnd | undefined;
}

type IndexRecord =
  | { kind: 'source'; source: SourceFacts | null }
  | ({ kind: 'snippet' } & SnippetEntry)
  | ({ kind: 'end' } & AttemptEnd);

export function partPath(folder: string, recording: number, attempt: number): string {
  return path.join(folder, `${recording}.${attempt}.part`);
}

export function indexPath(part: string): string {
  return part.replace(/\.part$/u, '.index');
}

/** Writes the snippets of one attempt, in the process that makes them. Throws `PartFault` when the disk does not take them. */
export class PartWriter {
  readonly #part: number;
  readonly #index: number;
  readonly #ordinals: number[];
  #offset = 0;

  /** @param earlier the ordinals that earlier attempts made. */
  constructor(part: string, source: SourceFacts | undefined, earlier: readonly number[]) {
    // Exclusive: an attempt never shares its files with an earlier one that may not be gone yet.
    this.#part = guardPart(() => openSync(part, 'wx'));
    this.#index = guardPart(() => openSync(indexPath(part), 'wx'));
    this.#ordinals = [...earlier];
    this.#note({ kind: 'source', source: source ?? null });
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
    this.#note({ kind: 'snippet', ...noted });
    this.#ordinals.push(entry.ordinal);
  }

  /** Notes that the attempt needs no other after it. */
  finish(end: Omit<AttemptEnd, 'ordinals'>): AttemptEnd {
    const whole = { ...end, ordinals: this.#ordinals };
    this.#note({ kind: 'end', ...whole });
    return whole;
  }

  close(): void {
    closeSync(this.#part);
    closeSync(this.#index);
  }

  #note(record: IndexRecord): void {
    const line = formatJournalLine(record);
    guardPart(() => {
      for (let written = 0; written < line.length;) written += writeSync(this.#index, line, written);
    });
  }
}

/**
 * Reads what an attempt left.
 *
 * @param isTrusted true when the process that wrote it said just now that it was done, so that checksums need not be read again.
 */
export async function readPart(part: string, isTrusted: boolean): Promise<Attempt> {
  const attempt: Attempt = { source: undefined, snippets: [], end: undefined };
  const entries: SnippetEntry[] = [];
  try {
    await using index = await open(indexPath(part));
    await readIndex(indexPath(part), index, (record) => {
      if (record.kind === 'snippet') entries.push(record);
      else if (record.kind === 'source') attempt.source = record.source ?? undefined;
      else attempt.end = record;
    });
    await using payload = await open(part);
    for (const entry of entries) {
      if (isTrusted || entry.bytes === undefined || (await hasChecksum(payload, entry.bytes))) {
        attempt.snippets.push({ ...entry, partPath: part });
      }
    }
    return attempt;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { source: undefined, snippets: [], end: undefined };
    throw error;
  }
}

/** Reads the records before the first damage: what stands behind it is made again. */
async function readIndex(
  indexFile: string,
  handle: Awaited<ReturnType<typeof open>>,
  onRecord: (record: IndexRecord) => void,
): Promise<void> {
  try {
    await readRecords(indexFile, handle, (record) => onRecord(record as IndexRecord));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
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
