import { createHash, randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { endianness } from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { errorMessage, systemCode } from '../errors.js';
import type { MemberFacts, TarStamp } from './member-index.js';
import { MemberTable } from './member-table.js';
import { writeFailure } from './write-failure.js';

/** Where an index is kept: not at all, beside the tar, or in a folder. */
export type KeepMembers = 'memory' | 'beside' | { folder: string };

/**
 * The file of an index, whole numbers little-endian:
 *
 * ```
 *  0  "cutroom members" and a newline
 * 16  u32 version, u32 CRC-32 of all that follows
 * 24  u64 size of the tar, i64 nanoseconds of its last change
 * 40  u32 members, slots, bytes of names, bytes of facts
 * 56  f64 sizes, u32 offsets in blocks, u32 ends of names, u32 slots, names, facts (JSON)
 * ```
 */
const MAGIC = Buffer.from('cutroom members\n', 'latin1');
const VERSION = 1;
const CHECKED_FROM = 24;
const HEADER_BYTES = 56;

/** Where the index of a tar may be found, the asked place first, and where it is to be kept. */
export function memberFilePlaces(tarPath: string, keep: KeepMembers): { read: string[]; write: string | undefined } {
  const beside = `${tarPath}.members`;
  if (keep === 'memory') return { read: [beside], write: undefined };
  if (keep === 'beside') return { read: [beside], write: beside };
  const absolute = path.resolve(tarPath);
  const hash = createHash('sha256').update(absolute).digest('hex').slice(0, 32);
  const write = path.join(keep.folder, `${path.basename(tarPath).slice(0, 100)}.${hash}.members`);
  return { read: [write, beside], write };
}

/**
 * Reads an index file.
 *
 * @returns undefined where there is none, or it is damaged, of another version, or of another tar than the one that is there now.
 */
export async function readMemberFile(
  filePath: string,
  stamp: TarStamp,
): Promise<{ table: MemberTable; facts: MemberFacts } | undefined> {
  if (endianness() !== 'LE') return undefined;
  let bytes: Buffer;
  try {
    bytes = await readFile(filePath);
  } catch {
    // The tar itself has all that is in the file.
    return undefined;
  }
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  if (bytes.readUInt32LE(16) !== VERSION || bytes.readUInt32LE(20) !== crc32(bytes.subarray(CHECKED_FROM))) {
    return undefined;
  }
  if (bytes.readBigUInt64LE(24) !== BigInt(stamp.sizeBytes) || bytes.readBigInt64LE(32) !== stamp.nanoseconds) {
    return undefined;
  }
  const [count, slotCount] = [bytes.readUInt32LE(40), bytes.readUInt32LE(44)];
  const [nameBytes, factBytes] = [bytes.readUInt32LE(48), bytes.readUInt32LE(52)];
  // Numbers are read in place: the arrays must lie as such numbers do.
  const body = bytes.byteOffset % 8 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  let at = body.byteOffset + HEADER_BYTES;
  const take = (lengthBytes: number): number => (at += lengthBytes) - lengthBytes;
  const { buffer } = body;
  const table = new MemberTable({
    sizesBytes: new Float64Array(buffer, take(8 * count), count),
    offsetBlocks: new Uint32Array(buffer, take(4 * count), count),
    nameEnds: new Uint32Array(buffer, take(4 * count), count),
    slots: new Uint32Array(buffer, take(4 * slotCount), slotCount),
    names: new Uint8Array(buffer, take(nameBytes), nameBytes),
  });
  const facts = JSON.parse(Buffer.from(buffer, take(factBytes), factBytes).toString('utf8')) as MemberFacts;
  return { table, facts: { isWhole: facts.isWhole, problem: facts.problem } };
}

/**
 * Keeps an index as a file, which appears whole or not at all. A file that is none of an index is left alone.
 *
 * @returns why it could not be kept; undefined where it was.
 */
export async function keepMemberFile(
  filePath: string,
  stamp: TarStamp,
  table: MemberTable,
  facts: MemberFacts,
): Promise<string | undefined> {
  if (endianness() !== 'LE') return 'index files are little-endian, as this machine is not';
  // Several processes may index one tar at once: each writes a file of its own.
  const partial = `${filePath}.${randomUUID()}.partial`;
  try {
    if (!(await isOwnOrFree(filePath))) return `"${filePath}" is another file`;
    const file = await open(partial, 'wx');
    try {
      for (const piece of piecesOf(stamp, table, facts)) await file.write(piece);
    } finally {
      await file.close();
    }
    await rename(partial, filePath);
    return undefined;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    return errorMessage(writeFailure(error, { action: 'Cannot write', path: filePath }));
  }
}

async function isOwnOrFree(filePath: string): Promise<boolean> {
  try {
    const file = await open(filePath, 'r');
    try {
      const start = Buffer.alloc(MAGIC.length);
      const { bytesRead } = await file.read(start, 0, start.length, 0);
      return start.subarray(0, bytesRead).equals(MAGIC.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return true;
    throw error;
  }
}

function piecesOf(stamp: TarStamp, table: MemberTable, facts: MemberFacts): Uint8Array[] {
  const { sizesBytes, offsetBlocks, nameEnds, slots, names } = table.arrays;
  const told = Buffer.from(JSON.stringify(facts));
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(VERSION, 16);
  header.writeBigUInt64LE(BigInt(stamp.sizeBytes), 24);
  header.writeBigInt64LE(stamp.nanoseconds, 32);
  header.writeUInt32LE(table.count, 40);
  header.writeUInt32LE(slots.length, 44);
  header.writeUInt32LE(names.length, 48);
  header.writeUInt32LE(told.length, 52);
  const body = [...[sizesBytes, offsetBlocks, nameEnds, slots].map(bytesOf), names, told];
  const sum = body.reduce((sofar, piece) => crc32(piece, sofar), crc32(header.subarray(CHECKED_FROM)));
  header.writeUInt32LE(sum, 20);
  return [header, ...body];
}

function bytesOf(array: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
