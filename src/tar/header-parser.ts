import { BLOCK_BYTES, headerChecksum } from './header.js';

/** What a member is. Pipes count as devices; `other` are types unknown here, which may have a payload. */
export type MemberType = 'file' | 'folder' | 'hardlink' | 'symlink' | 'device' | 'other';

/** The fields of one header block that matter for finding payloads. */
export interface TarHeaderBlock {
  /** With the ustar prefix, where there is one. */
  name: string;
  sizeBytes: number;
  /** The type flag: one character. */
  type: string;
}

/**
 * Reads one header block of 512 bytes, or says what is wrong with it.
 *
 * The name's prefix is only taken from POSIX headers: old GNU tar keeps times in its place.
 */
export function parseHeader(block: Buffer): TarHeaderBlock | string {
  const checksum = parseNumber(block, 148, 156);
  if (checksum !== headerChecksum(block) && checksum !== signedChecksum(block)) return 'a header has a bad checksum';
  const sizeBytes = parseNumber(block, 124, 136);
  if (sizeBytes === undefined) return 'a header has a bad size';
  const name = readString(block, 0, 100);
  const isPosix = block.compare(POSIX_MAGIC, 0, POSIX_MAGIC.length, 257, 263) === 0;
  const prefix = isPosix ? readString(block, 345, 155) : '';
  const type = String.fromCharCode(block[156] ?? 0);
  return { name: prefix === '' ? name : `${prefix}/${name}`, sizeBytes, type };
}

const POSIX_MAGIC = Buffer.from('ustar\0');

/** What a type flag stands for. Tars older than POSIX mark a folder by a slash at the end of its name alone. */
export function memberType(type: string, name: string): MemberType {
  switch (type) {
    case '\0':
      return name.endsWith('/') ? 'folder' : 'file';
    case '0':
    case '7':
      return 'file';
    case '1':
      return 'hardlink';
    case '2':
      return 'symlink';
    case '3':
    case '4':
    case '6':
      return 'device';
    case '5':
      return 'folder';
    default:
      return 'other';
  }
}

/**
 * A field of octal digits between blanks and NULs, or a base-256 number as GNU tar writes it (first bit set). What follows the first NUL is
 * passed over: some writers leave old bytes behind it.
 */
function parseNumber(block: Buffer, start: number, end: number): number | undefined {
  const first = block[start] ?? 0;
  if ((first & 0x80) !== 0) {
    let value = BigInt(first & 0x7f);
    for (const byte of block.subarray(start + 1, end)) value = (value << 8n) | BigInt(byte);
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined;
  }
  let at = skipBlanks(block, start, end);
  let value = 0;
  for (; at < end; at += 1) {
    const digit = (block[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 7) break;
    value = value * 8 + digit;
  }
  at = skipBlanks(block, at, end);
  return at === end || block[at] === 0 ? value : undefined;
}

function skipBlanks(block: Buffer, at: number, end: number): number {
  while (at < end && block[at] === 0x20) at += 1;
  return at;
}

function readString(block: Buffer, start: number, lengthBytes: number): string {
  const limit = start + lengthBytes;
  const end = block.indexOf(0, start);
  return block.toString('utf8', start, end < 0 || end > limit ? limit : end);
}

/** Some old systems summed the bytes as signed numbers. */
function signedChecksum(block: Buffer): number {
  let sum = headerChecksum(block);
  for (let index = 0; index < BLOCK_BYTES; index++) {
    if ((index < 148 || index >= 156) && (block[index] ?? 0) >= 0x80) sum -= 0x100;
  }
  return sum;
}
