import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { writeFileAtomic, type ChunkWriter } from '../run/atomic-file.js';
import { PLAN_FORMAT } from './plan.js';
import type { PackFailure, PlanHeader, PlannedItem, PlannedShard } from './plan.js';

/** A shard and its items, in the order of the tar. */
export interface ShardToWrite {
  /** Relative to the output folder, with `/`. */
  tar: string;
  manifest: string;
  items: Iterable<PlannedItem> | AsyncIterable<PlannedItem>;
  /** Sum of the items' durations, as far as they are known. */
  micros: number;
}

/** What the plan's last line but one holds. */
interface PlanIndex {
  failures: { offsetBytes: number; sizeBytes: number; count: number };
  shards: readonly PlannedShard[];
  /** SHA-256, in hex, of all before this line but the header's base. */
  sha256: string;
}

/** The last line: it always has the same length, so that the index is found without reading the items. */
const TAIL = /^\{"index_offset":"(\d{16})"\}\n$/u;
const TAIL_BYTES = '{"index_offset":"0000000000000000"}\n'.length;
const MAX_INDEX_BYTES = 1 << 30;
const READ_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/**
 * Writes a plan: JSON lines that any machine can carry out, whole or not at all. Its hash leaves the base out: the same files in another folder make
 * the same shards.
 *
 * ```
 * header | failures … | items of shard 0 … | items of shard 1 … | index | place of the index
 * ```
 *
 * @returns the plan's hash
 * @throws {OutputError} when the file cannot be written.
 */
export async function writePlan(
  path: string,
  header: PlanHeader,
  failures: Iterable<PackFailure>,
  shards: Iterable<ShardToWrite> | AsyncIterable<ShardToWrite>,
): Promise<string> {
  let sha256 = '';
  await writeFileAtomic(path, async (write) => {
    const out = new HashedLines(write);
    await out.add(header, hashedPart(header));
    const failuresOffset = out.offsetBytes;
    let count = 0;
    for (const failure of failures) {
      await out.add(failure);
      count += 1;
    }
    const failurePlace = { offsetBytes: failuresOffset, sizeBytes: out.offsetBytes - failuresOffset, count };
    const planned: PlannedShard[] = [];
    for await (const { tar, manifest, micros, items } of shards) {
      const offsetBytes = out.offsetBytes;
      let itemCount = 0;
      for await (const item of items) {
        await out.add(item);
        itemCount += 1;
      }
      planned.push({ tar, manifest, itemCount, micros, offsetBytes, sizeBytes: out.offsetBytes - offsetBytes });
    }
    await out.flush();
    // The shards' names stand in the index alone, and are part of what is hashed.
    for (const { tar, manifest } of planned) out.hash.update(`${tar}\n${manifest}\n`);
    sha256 = out.hash.copy().digest('hex');
    const indexOffset = out.offsetBytes;
    await out.add({ failures: failurePlace, shards: planned, sha256 } satisfies PlanIndex);
    await out.add({ index_offset: String(indexOffset).padStart(16, '0') });
    await out.flush();
  });
  return sha256;
}

/** A plan on disk; items are read shard by shard. */
export class PlanFile {
  readonly path: string;
  readonly header: PlanHeader;
  /** Identifies the plan: SHA-256, in hex, of all that decides the outputs; not of the folder that they are made in. */
  readonly hash: string;
  readonly shards: readonly PlannedShard[];
  readonly failureCount: number;
  readonly #failures: PlanIndex['failures'];
  /** Where the index begins: what stands before it is hashed. */
  readonly #indexOffset: number;

  private constructor(path: string, header: PlanHeader, index: PlanIndex, indexOffset: number) {
    this.path = path;
    this.header = header;
    this.#indexOffset = indexOffset;
    this.hash = index.sha256;
    this.shards = index.shards;
    this.failureCount = index.failures.count;
    this.#failures = index.failures;
  }

  /**
   * Reads header and index.
   *
   * @returns undefined where there is no file
   * @throws {InputError} when it is no plan, or one of another version.
   */
  static open(path: string): PlanFile | undefined {
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw new InputError(`Cannot read the plan "${path}": ${errorMessage(error)}`, { path, cause: error });
    }
    try {
      const header = parse(firstLine(file)) as PlanHeader | undefined;
      if (header?.format !== PLAN_FORMAT) {
        const state = header?.format === undefined ? 'it is no plan' : `its format is ${JSON.stringify(header.format)}`;
        throw new InputError(`Cannot read the plan "${path}": ${state}, and not ${JSON.stringify(PLAN_FORMAT)}`, {
          path,
          hint: 'Plan anew: remove the file, or give --overwrite.',
        });
      }
      const { index, offset } = readIndex(file, path);
      return new PlanFile(path, header, index, offset);
    } finally {
      closeSync(file);
    }
  }

  /** The items of a shard, in order. Throws {InputError} when the file changed since. */
  *items(shard: number): Generator<PlannedItem, void, undefined> {
    const place = this.shards[shard];
    if (place === undefined) throw new RangeError(`There is no shard ${shard}: the plan has ${this.shards.length}`);
    for (const line of this.#lines(place.offsetBytes, place.sizeBytes)) yield line as PlannedItem;
  }

  /** What went wrong while the plan was made. */
  *failures(): Generator<PackFailure, void, undefined> {
    for (const line of this.#lines(this.#failures.offsetBytes, this.#failures.sizeBytes)) yield line as PackFailure;
  }

  /**
   * Reads all of the file again, and compares it with its hash; other work has its turn meanwhile.
   *
   * @throws {InputError} when it is damaged.
   */
  async verify(): Promise<void> {
    if (!this.#isContiguous()) throw this.#damaged();
    const hash = createHash('sha256').update(hashedPart(this.header));
    let lines = 1;
    const handle = await open(this.path, 'r').catch((error: unknown) => {
      throw new InputError(`Cannot read the plan "${this.path}": ${errorMessage(error)}`, {
        path: this.path,
        cause: error,
      });
    });
    try {
      const chunk = Buffer.allocUnsafe(READ_BYTES);
      for (let offset = this.#failures.offsetBytes; offset < this.#indexOffset;) {
        const { bytesRead } = await handle.read(chunk, 0, Math.min(READ_BYTES, this.#indexOffset - offset), offset);
        if (bytesRead === 0) throw this.#damaged();
        const bytes = chunk.subarray(0, bytesRead);
        hash.update(bytes);
        for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
        offset += bytesRead;
      }
    } finally {
      await handle.close();
    }
    for (const { tar, manifest } of this.shards) hash.update(`${tar}\n${manifest}\n`);
    const itemCount = this.shards.reduce((sum, shard) => sum + shard.itemCount, 0);
    const isWhole = lines === 1 + this.failureCount + itemCount;
    if (!isWhole || hash.digest('hex') !== this.hash) throw this.#damaged();
  }

  /**
   * SHA-256, in hex, of what a stretch of shards is made by: to look at it alone, where whoever made the plan has looked at all of it.
   *
   * @throws {InputError} when the file cannot be read or is too short.
   */
  digestShards(first: number, end: number): string {
    const shards = this.shards.slice(first, end);
    const hash = createHash('sha256').update(hashedPart(this.header));
    for (const { tar, manifest, itemCount } of shards) hash.update(`${tar}\n${manifest}\n${itemCount}\n`);
    let file: number;
    try {
      file = openSync(this.path, 'r');
    } catch (error) {
      throw new InputError(`Cannot read the plan "${this.path}": ${errorMessage(error)}`, {
        path: this.path,
        cause: error,
      });
    }
    try {
      const chunk = Buffer.allocUnsafe(READ_BYTES);
      for (const { offsetBytes, sizeBytes } of shards) {
        for (let read = 0; read < sizeBytes;) {
          const got = readSync(file, chunk, 0, Math.min(READ_BYTES, sizeBytes - read), offsetBytes + read);
          if (got === 0) throw this.#damaged();
          hash.update(chunk.subarray(0, got));
          read += got;
        }
      }
    } finally {
      closeSync(file);
    }
    return hash.digest('hex');
  }

  /** The error for a plan that is not what was written. */
  damagedError(): InputError {
    return this.#damaged();
  }

  /** The places in the index are not hashed themselves: they must lie one behind the other. */
  #isContiguous(): boolean {
    let end = this.#failures.offsetBytes + this.#failures.sizeBytes;
    for (const { offsetBytes, sizeBytes } of this.shards) {
      if (offsetBytes !== end) return false;
      end += sizeBytes;
    }
    return end === this.#indexOffset;
  }

  *#lines(offsetBytes: number, sizeBytes: number): Generator {
    const file = openSync(this.path, 'r');
    try {
      let rest: Buffer = Buffer.alloc(0);
      for (let read = 0; read < sizeBytes;) {
        const chunk = Buffer.allocUnsafe(Math.min(READ_BYTES, sizeBytes - read));
        const got = readSync(file, chunk, 0, chunk.length, offsetBytes + read);
        if (got === 0) throw this.#damaged();
        read += got;
        const bytes = rest.length === 0 ? chunk.subarray(0, got) : Buffer.concat([rest, chunk.subarray(0, got)]);
        let start = 0;
        for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
          const value = parse(bytes.toString('utf8', start, end));
          if (value === undefined) throw this.#damaged();
          yield value;
          start = end + 1;
        }
        rest = bytes.subarray(start);
      }
      if (rest.length > 0) throw this.#damaged();
    } finally {
      closeSync(file);
    }
  }

  #damaged(): InputError {
    return damaged(this.path);
  }
}

class HashedLines {
  readonly hash: Hash = createHash('sha256');
  offsetBytes = 0;
  readonly #write: ChunkWriter;
  #pending: string[] = [];
  #pendingLength = 0;

  constructor(write: ChunkWriter) {
    this.#write = write;
  }

  /** @param hashed what is hashed in place of the line, where that is not the line itself */
  async add(value: unknown, hashed?: string): Promise<void> {
    const line = `${JSON.stringify(value)}\n`;
    if (hashed !== undefined) {
      await this.flush();
      this.hash.update(hashed);
      this.offsetBytes += Buffer.byteLength(line);
      await this.#write(line);
      return;
    }
    this.offsetBytes += Buffer.byteLength(line);
    this.#pending.push(line);
    this.#pendingLength += line.length;
    if (this.#pendingLength >= READ_BYTES / 4) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(''));
    this.#pending = [];
    this.#pendingLength = 0;
    this.hash.update(bytes);
    await this.#write(bytes);
  }
}

/** What the hash takes of a header: all but the folder. */
function hashedPart(header: PlanHeader): string {
  return `${JSON.stringify({ ...header, base: undefined })}\n`;
}

function firstLine(file: number): string {
  const pieces: Buffer[] = [];
  for (let offset = 0; ;) {
    const chunk = Buffer.allocUnsafe(1 << 16);
    const read = readSync(file, chunk, 0, chunk.length, offset);
    const end = chunk.subarray(0, read).indexOf(NEWLINE);
    pieces.push(chunk.subarray(0, end < 0 ? read : end));
    offset += read;
    if (end >= 0 || read === 0 || offset > MAX_INDEX_BYTES) return Buffer.concat(pieces).toString();
  }
}

function readIndex(file: number, path: string): { index: PlanIndex; offset: number } {
  const sizeBytes = fstatSync(file).size;
  const tail = Buffer.alloc(TAIL_BYTES);
  readSync(file, tail, 0, TAIL_BYTES, Math.max(0, sizeBytes - TAIL_BYTES));
  const offset = Number(TAIL.exec(tail.toString('latin1'))?.[1] ?? Number.NaN);
  const length = sizeBytes - TAIL_BYTES - offset;
  if (!(length > 0 && length < MAX_INDEX_BYTES)) throw damaged(path);
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, offset);
  const index = parse(bytes.toString('utf8')) as PlanIndex | undefined;
  if (typeof index !== 'object' || typeof index?.sha256 !== 'string') throw damaged(path);
  if (!Array.isArray(index.shards) || typeof index.failures !== 'object') throw damaged(path);
  return { index, offset };
}

function damaged(path: string): InputError {
  return new InputError(`Cannot read the plan "${path}": it is damaged`, {
    path,
    hint: 'Copy it again from where it was made, or plan anew: remove the file, or give --overwrite.',
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
