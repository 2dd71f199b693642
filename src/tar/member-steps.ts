import { damagedTar, noTar, tornTar, unsupportedTar } from './faults.js';
import { BLOCK_BYTES, paddingBytes } from './header.js';
import { memberType, parseHeader, type TarHeaderBlock } from './header-parser.js';
import { parsePaxRecords, paxSizeBytes } from './pax.js';
import type { TarEnd, TarMember } from './reader.js';
import type { TarSource } from './source.js';

/** Bytes that the walk wants next: they are handed to it as the source gives them. */
export interface ByteRequest {
  offsetBytes: number;
  minBytes: number;
}

/** Longer extended headers than this are taken for damage, so that a flipped bit cannot ask for gigabytes of memory. */
const MAX_EXTENSION_BYTES = 1 << 20;

/** Blocks that tell something about the next member: pax, pax global, GNU long name, GNU long link target. */
const EXTENSION_TYPES: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

const NOTHING = Buffer.alloc(0);

type Steps<R> = Generator<TarMember | ByteRequest, R, Buffer | undefined>;

/** Walks over the headers of a tar: asks for bytes, whoever reads them, and yields the members. */
export function* memberSteps(source: TarSource): Steps<TarEnd> {
  const { path } = source;
  let globalRecords: ReadonlyMap<string, string> = NO_RECORDS;
  let offsetBytes = 0;
  for (;;) {
    const headerOffsetBytes = offsetBytes;
    let records = globalRecords;
    let longName: string | undefined;
    let awaitsMember = false;
    let header = readHeader(source, (yield { offsetBytes, minBytes: BLOCK_BYTES }) ?? NOTHING, offsetBytes);
    while (header !== 'end' && EXTENSION_TYPES.has(header.type)) {
      const payload: Buffer = yield* extensionAt(source, offsetBytes, header);
      awaitsMember ||= header.type !== 'g';
      if (header.type === 'L') longName = untilNul(payload);
      if (header.type === 'x' || header.type === 'g') {
        const found = parsePaxRecords(payload);
        if (found === undefined) throw damagedTar(path, 'an extended header is malformed', offsetBytes + BLOCK_BYTES);
        records = new Map([...records, ...found]);
        if (header.type === 'g') globalRecords = new Map([...globalRecords, ...found]);
      }
      offsetBytes += BLOCK_BYTES + payload.length + paddingBytes(payload.length);
      header = readHeader(source, (yield { offsetBytes, minBytes: BLOCK_BYTES }) ?? NOTHING, offsetBytes);
    }
    if (header === 'end') {
      if (awaitsMember) throw damagedTar(path, 'an extended header has no member after it', headerOffsetBytes);
      return { isComplete: yield* isEndAt(source, offsetBytes), endOffsetBytes: offsetBytes };
    }
    const member = describeMember(path, header, { records, longName, headerOffsetBytes, offsetBytes });
    if (!isInside(source, member)) {
      yield* requireBytes(
        source,
        `the payload of ${JSON.stringify(member.name)}`,
        member.offsetBytes,
        member.sizeBytes,
      );
    }
    yield member;
    offsetBytes = member.offsetBytes + member.sizeBytes + paddingBytes(member.sizeBytes);
  }
}

const NO_RECORDS: ReadonlyMap<string, string> = new Map();

/** The header in bytes that begin at an offset, or `end` where the file or the archive ends there. */
function readHeader(source: TarSource, bytes: Buffer, offsetBytes: number): TarHeaderBlock | 'end' {
  if (bytes.length === 0) return 'end';
  if (bytes.length < BLOCK_BYTES) throw tornHeader(source, offsetBytes, bytes.length);
  if (bytes[0] === 0 && isZero(bytes)) return 'end';
  const header = parseHeader(bytes.length === BLOCK_BYTES ? bytes : bytes.subarray(0, BLOCK_BYTES));
  if (typeof header !== 'string') return header;
  if (offsetBytes > 0) throw damagedTar(source.path, header, offsetBytes);
  throw noTar(source.path, header, bytes);
}

function tornHeader(source: TarSource, offsetBytes: number, foundBytes: number): Error {
  const fileBytes = offsetBytes + foundBytes;
  return tornTar(source.path, 'a header', { offsetBytes, sizeBytes: BLOCK_BYTES, fileBytes });
}

/** The payload of an extended header that starts at an offset. */
function* extensionAt(source: TarSource, offsetBytes: number, { sizeBytes }: TarHeaderBlock): Steps<Buffer> {
  if (sizeBytes > MAX_EXTENSION_BYTES) {
    throw damagedTar(source.path, `an extended header claims ${sizeBytes.toLocaleString('en-US')} bytes`, offsetBytes);
  }
  const start = offsetBytes + BLOCK_BYTES;
  yield* requireBytes(source, 'an extended header', start, sizeBytes);
  const bytes = (yield { offsetBytes: start, minBytes: sizeBytes }) ?? NOTHING;
  return Buffer.from(bytes.subarray(0, sizeBytes));
}

/** Whether the file is known to hold a payload whole, padding included. */
function isInside({ sizeBytes: fileBytes }: TarSource, { offsetBytes, sizeBytes }: TarMember): boolean {
  return fileBytes !== undefined && offsetBytes + sizeBytes + paddingBytes(sizeBytes) <= fileBytes;
}

/** Refuses what does not lie whole in the file, padding included. */
function* requireBytes(source: TarSource, what: string, offsetBytes: number, sizeBytes: number): Steps<void> {
  const end = offsetBytes + sizeBytes + paddingBytes(sizeBytes);
  if (source.sizeBytes === undefined) yield { offsetBytes: end, minBytes: 0 };
  const fileBytes = source.sizeBytes;
  if (fileBytes !== undefined && fileBytes < end) {
    throw tornTar(source.path, what, { offsetBytes, sizeBytes, fileBytes });
  }
}

/** Whether both blocks of zeros stand at an offset. */
function* isEndAt(source: TarSource, offsetBytes: number): Steps<boolean> {
  const bytes = (yield { offsetBytes, minBytes: 2 * BLOCK_BYTES }) ?? NOTHING;
  if (bytes.length <= BLOCK_BYTES) return false;
  if (bytes.length < 2 * BLOCK_BYTES) {
    throw tornHeader(source, offsetBytes + BLOCK_BYTES, bytes.length - BLOCK_BYTES);
  }
  // Readers stop at a single block of zeros, and members behind it would be lost in silence.
  if (!isZero(bytes.subarray(BLOCK_BYTES))) {
    throw damagedTar(source.path, 'a block of zeros stands where a header should be', offsetBytes);
  }
  return true;
}

interface MemberContext {
  records: ReadonlyMap<string, string>;
  longName: string | undefined;
  headerOffsetBytes: number;
  /** Where the member's own header block lies. */
  offsetBytes: number;
}

function describeMember(path: string, header: TarHeaderBlock, context: MemberContext): TarMember {
  const { records, longName, headerOffsetBytes, offsetBytes } = context;
  // An empty path takes back what a global header said.
  const name = records.get('path') || longName || header.name;
  if (header.type === 'M') {
    throw unsupportedTar(path, `${JSON.stringify(name)} is part of a multi-volume archive`, offsetBytes);
  }
  const isSparse = header.type === 'S' || (records.size > 0 && hasSparseRecord(records));
  if (isSparse) throw unsupportedTar(path, `${JSON.stringify(name)} is stored as a sparse file`, offsetBytes);
  const type = memberType(header.type, name);
  const sizeBytes = paxSizeBytes(records) ?? header.sizeBytes;
  if (Number.isNaN(sizeBytes)) throw damagedTar(path, 'an extended header is malformed', headerOffsetBytes);
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

/** Whether the first block of some bytes is zeros. */
function isZero(bytes: Uint8Array): boolean {
  for (let index = 0; index < BLOCK_BYTES; index += 1) if (bytes[index] !== 0) return false;
  return true;
}
