import { BLOCK_BYTES, paddingBytes } from './header.js';
import { memberType, type MemberType, type TarHeaderBlock } from './header-parser.js';
import { parsePaxRecords, paxSizeBytes } from './pax.js';
import { TarSource } from './source.js';

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

export interface TarReadOptions {
  /**
   * Reads while everything else in the process waits: two to three times faster where many small reads are the work, as in a process that does
   * nothing else. Default false.
   */
  isBlocking?: boolean;
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
export async function* members(
  path: string,
  { isBlocking = false }: TarReadOptions = {},
): AsyncGenerator<TarMember, TarEnd, undefined> {
  const source = await TarSource.open(path, isBlocking);
  try {
    return yield* membersOf(source);
  } finally {
    await source.close();
  }
}

async function* membersOf(source: TarSource): AsyncGenerator<TarMember, TarEnd, undefined> {
  let globalRecords: ReadonlyMap<string, string> = new Map();
  let offsetBytes = 0;
  for (;;) {
    const headerOffsetBytes = offsetBytes;
    let records = globalRecords;
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
    source.requirePayload(member.name, member.offsetBytes, member.sizeBytes);
    yield member;
    offsetBytes = member.offsetBytes + member.sizeBytes + paddingBytes(member.sizeBytes);
  }
}

/** Blocks that tell something about the next member: pax, pax global, GNU long name, GNU long link target. */
const EXTENSION_TYPES: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

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
  const isSparse = header.type === 'S' || (records.size > 0 && hasSparseRecord(records));
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

function hasSparseRecord(records: ReadonlyMap<string, string>): boolean {
  return [...records.keys()].some((key) => key.startsWith('GNU.sparse.'));
}

function untilNul(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}
