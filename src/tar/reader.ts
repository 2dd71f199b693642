import { open, type FileHandle } from 'node:fs/promises';

import { errorMessage, InputError, systemCode } from '../errors.js';
import { BLOCK_BYTES, paddingBytes } from './header.js';
import { memberType, parseHeader, type MemberType, type TarHeaderBlock } from './header-parser.js';
import { parsePaxRecords, paxSizeBytes } from './pax.js';

/** One member of a tar, and where it lies in the file. */
export interface TarMember {
  /** Name with `/` between its parts, decoded as UTF-8; bytes that are not UTF-8 read as U+FFFD. */
  name: string;
  type: MemberType;
  /** Where the payload starts. */
  offsetBytes: number;
  /** Size of the payload; 0 for members that have none, such as folders and links. */
  sizeBytes: number;
  /** Where its headers start, extended ones included: a tar cut here holds all members before this one whole. */
  headerOffsetBytes: number;
}

/** How a tar ends. */
export interface TarEnd {
  /** False where the two blocks of zeros that end an archive are missing: its writer did not finish it. */
  isComplete: boolean;
  /** Where the last member ends, padding included: the place to go on writing. */
  endOffsetBytes: number;
}

export interface TarIndex extends TarEnd {
  /** In the order of the file. */
  members: TarMember[];
}

/**
 * Lists a tar without reading its payloads.
 *
 * @throws {InputError} as `members` does.
 */
export async function readTarIndex(path: string): Promise<TarIndex> {
  const found: TarMember[] = [];
  const listing = members(path);
  for (;;) {
    const step = await listing.next();
    if (step.done === true) return { members: found, ...step.value };
    found.push(step.value);
  }
}

/**
 * The members of a tar in the order of the file, found by reading headers alone; returns how the tar ends.
 *
 * Understood are ustar with its prefix, pax extended and global headers (`path`, `size`), GNU long names and base-256 sizes. A member is
 * only given out when its payload lies whole in the file.
 *
 * @throws {InputError} with the byte offset, when the file cannot be read, is torn or damaged, or holds sparse or multi-volume members.
 */
export async function* members(path: string): AsyncGenerator<TarMember, TarEnd, undefined> {
  const source = await TarSource.open(path);
  try {
    return yield* membersOf(source);
  } finally {
    await source.close();
  }
}

async function* membersOf(source: TarSource): AsyncGenerator<TarMember, TarEnd, undefined> {
  let globalRecords = new Map<string, string>();
  let offsetBytes = 0;
  for (;;) {
    const headerOffsetBytes = offsetBytes;
    let records = new Map(globalRecords);
    let longName: string | undefined;
    let awaitsMember = false;
    let header = await source.headerAt(offsetBytes);
    while (header !== 'end' && EXTENSION_TYPES.has(header.type)) {
      const payload = await source.extensionAt(offsetBytes, header);
      awaitsMember ||= header.type !== 'g';
      if (header.type === 'L') longName = untilNul(payload);
      if (header.type === 'x' || header.type === 'g') {
        const found = parsePaxRecords(payload);
        if (found === undefined) throw source.damaged('an extended header is malformed', offsetBytes + BLOCK_BYTES);
        records = new Map([...records, ...found]);
        if (header.type === 'g') globalRecords = new Map([...globalRecords, ...found]);
      }
      offsetBytes += BLOCK_BYTES + payload.length + paddingBytes(payload.length);
      header = await source.headerAt(offsetBytes);
    }
    if (header === 'end') {
      if (awaitsMember) throw source.damaged('an extended header has no member after it', headerOffsetBytes);
      return { isComplete: await source.isEndAt(offsetBytes), endOffsetBytes: offsetBytes };
    }
    const member = describeMember(source, header, { records, longName, headerOffsetBytes, offsetBytes });
    source.requirePayload(member);
    yield member;
    offsetBytes = member.offsetBytes + member.sizeBytes + paddingBytes(member.sizeBytes);
  }
}

/** Blocks that tell something about the next member: pax, pax global, GNU long name, GNU long link target. */
const EXTENSION_TYPES: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

/** Longer extended headers than this are taken for damage, so that a flipped bit cannot ask for gigabytes of memory. */
const MAX_EXTENSION_BYTES = 1 << 20;

/** One page: it costs no more to read than one block, and holds a pax header and what follows it. */
const WINDOW_BYTES = 4096;

interface MemberContext {
  records: ReadonlyMap<string, string>;
  longName: string | undefined;
  headerOffsetBytes: number;
  /** Where the member's own header block lies. */
  offsetBytes: number;
}

function describeMember(source: TarSource, header: TarHeaderBlock, context: MemberContext): TarMember {
  const { records, longName, headerOffsetBytes, offsetBytes } = context;
  // An empty path takes back what a global header said.
  const name = records.get('path') || longName || header.name;
  if (header.type === 'M')
    throw source.unsupported(`${JSON.stringify(name)} is part of a multi-volume archive`, offsetBytes);
  const isSparse = header.type === 'S' || [...records.keys()].some((key) => key.startsWith('GNU.sparse.'));
  if (isSparse) throw source.unsupported(`${JSON.stringify(name)} is stored as a sparse file`, offsetBytes);
  const type = memberType(header.type, name);
  const sizeBytes = paxSizeBytes(records) ?? header.sizeBytes;
  if (Number.isNaN(sizeBytes)) throw source.damaged('an extended header is malformed', headerOffsetBytes);
  return {
    name,
    type,
    offsetBytes: offsetBytes + BLOCK_BYTES,
    sizeBytes: type === 'file' || type === 'other' ? sizeBytes : 0,
    headerOffsetBytes,
  };
}

function untilNul(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

/** A tar that is read at positions, through a small window. */
class TarSource {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #fileBytes: number;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #windowOffsetBytes = 0;
  #windowBytes = 0;

  private constructor(path: string, handle: FileHandle, fileBytes: number) {
    this.#path = path;
    this.#handle = handle;
    this.#fileBytes = fileBytes;
  }

  static async open(path: string): Promise<TarSource> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, 'r');
      const stats = await handle.stat();
      if (!stats.isFile()) throw new InputError(`Cannot read "${path}": it is not a regular file`, { path });
      return new TarSource(path, handle, stats.size);
    } catch (error) {
      await handle?.close();
      throw error instanceof InputError ? error : unreadable(path, 0, error);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** The header at an offset, or `end` where the file or the archive ends there. */
  async headerAt(offsetBytes: number): Promise<TarHeaderBlock | 'end'> {
    const block = await this.#blockAt(offsetBytes);
    if (block === undefined || isZero(block)) return 'end';
    const header = parseHeader(block);
    if (typeof header !== 'string') return header;
    if (offsetBytes > 0) throw this.damaged(header, offsetBytes);
    throw new InputError(`Cannot read "${this.#path}" as a tar: ${header}`, {
      path: this.#path,
      offsetBytes,
      hint: compressionHint(block),
    });
  }

  /** The payload of an extended header that starts at an offset. */
  async extensionAt(offsetBytes: number, header: TarHeaderBlock): Promise<Buffer> {
    if (header.sizeBytes > MAX_EXTENSION_BYTES) {
      throw this.damaged(`an extended header claims ${grouped(header.sizeBytes)} bytes`, offsetBytes);
    }
    const start = offsetBytes + BLOCK_BYTES;
    if (start + header.sizeBytes + paddingBytes(header.sizeBytes) > this.#fileBytes) {
      throw this.#torn('an extended header', start, header.sizeBytes);
    }
    const payload = Buffer.alloc(header.sizeBytes);
    let filled = 0;
    while (filled < payload.length) {
      const chunk = await this.#bytesAt(start + filled);
      filled += chunk.copy(payload, filled, 0, payload.length - filled);
    }
    return payload;
  }

  /** Whether both blocks of zeros stand at an offset. */
  async isEndAt(offsetBytes: number): Promise<boolean> {
    if ((await this.#blockAt(offsetBytes)) === undefined) return false;
    const second = await this.#blockAt(offsetBytes + BLOCK_BYTES);
    if (second === undefined) return false;
    // Readers stop at a single block of zeros, and members behind it would be lost in silence.
    if (!isZero(second)) throw this.damaged('a block of zeros stands where a header should be', offsetBytes);
    return true;
  }

  requirePayload(member: TarMember): void {
    const endBytes = member.offsetBytes + member.sizeBytes + paddingBytes(member.sizeBytes);
    if (endBytes > this.#fileBytes) {
      throw this.#torn(`the payload of ${JSON.stringify(member.name)}`, member.offsetBytes, member.sizeBytes);
    }
  }

  damaged(what: string, offsetBytes: number): InputError {
    return new InputError(`Cannot read "${this.#path}" at byte ${grouped(offsetBytes)}: ${what}`, {
      path: this.#path,
      offsetBytes,
      hint: 'The file is damaged here; fetch it or make it again.',
    });
  }

  unsupported(what: string, offsetBytes: number): InputError {
    return new InputError(`Cannot read "${this.#path}" at byte ${grouped(offsetBytes)}: ${what}`, {
      path: this.#path,
      offsetBytes,
      hint: 'Unpack it and pack it again with "tar --format=ustar", without --sparse and --multi-volume.',
    });
  }

  #torn(what: string, offsetBytes: number, sizeBytes: number): InputError {
    const endBytes = offsetBytes + sizeBytes + paddingBytes(sizeBytes);
    return new InputError(
      `Cannot read "${this.#path}" at byte ${grouped(offsetBytes)}: ${what} is truncated, ` +
        `it ends at byte ${grouped(endBytes)} with its padding and the file at byte ${grouped(this.#fileBytes)}`,
      {
        path: this.#path,
        offsetBytes,
        hint: 'The file was not written or transferred to its end; fetch it or make it again.',
      },
    );
  }

  /** The block at an offset, or undefined where the file ends there. Valid until the next read. */
  async #blockAt(offsetBytes: number): Promise<Buffer | undefined> {
    if (offsetBytes >= this.#fileBytes) return undefined;
    if (offsetBytes + BLOCK_BYTES > this.#fileBytes) throw this.#torn('a header', offsetBytes, BLOCK_BYTES);
    return (await this.#bytesAt(offsetBytes, BLOCK_BYTES)).subarray(0, BLOCK_BYTES);
  }

  /** At least `minBytes` bytes from an offset on, as many as the window holds. Valid until the next read. */
  async #bytesAt(offsetBytes: number, minBytes = 1): Promise<Buffer> {
    const isInside =
      offsetBytes >= this.#windowOffsetBytes && offsetBytes + minBytes <= this.#windowOffsetBytes + this.#windowBytes;
    if (!isInside) await this.#fillWindow(offsetBytes, minBytes);
    return this.#window.subarray(offsetBytes - this.#windowOffsetBytes, this.#windowBytes);
  }

  async #fillWindow(offsetBytes: number, minBytes: number): Promise<void> {
    this.#windowOffsetBytes = offsetBytes;
    this.#windowBytes = 0;
    while (this.#windowBytes < minBytes) {
      const position = offsetBytes + this.#windowBytes;
      const { bytesRead } = await this.#handle
        .read(this.#window, this.#windowBytes, WINDOW_BYTES - this.#windowBytes, position)
        .catch((error: unknown) => {
          throw unreadable(this.#path, position, error);
        });
      if (bytesRead === 0) throw this.damaged('the file became shorter while it was read', position);
      this.#windowBytes += bytesRead;
    }
  }
}

function unreadable(path: string, offsetBytes: number, cause: unknown): InputError {
  const reason = systemCode(cause) === 'ENOENT' ? 'there is no such file' : errorMessage(cause);
  return new InputError(`Cannot read "${path}": ${reason}`, { path, offsetBytes, cause });
}

function compressionHint(block: Uint8Array): string {
  const magic = Buffer.from(block.subarray(0, 4)).toString('hex');
  if (magic.startsWith('1f8b')) return 'It is compressed with gzip: decompress it with "gunzip" first.';
  if (magic === '28b52ffd') return 'It is compressed with Zstandard: decompress it with "zstd -d" first.';
  if (magic.startsWith('425a68')) return 'It is compressed with bzip2: decompress it with "bunzip2" first.';
  if (magic === 'fd377a58') return 'It is compressed with xz: decompress it with "unxz" first.';
  return 'The file is not a tar, or its start is damaged.';
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
