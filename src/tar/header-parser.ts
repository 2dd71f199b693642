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
  const checksum = parseNumber(block.subarray(148, 156));
  if (checksum !== headerChecksum(block) && checksum !== signedChecksum(block)) return 'a header has a bad checksum';
  const sizeBytes = parseNumber(block.subarray(124, 136));
  if (sizeBytes === undefined) return 'a header has a bad size';
  const name = readString(block, 0, 100);
  const isPosix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? readString(block, 345, 155) : '';
  const type = String.fromCharCode(block[156] ?? 0);
  return { name: prefix === '' ? name : `${prefix}/${name}`, sizeBytes, type };
}

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

/** A field of octal digits between blanks and NULs, or a base-256 number as GNU tar writes it (first bit set). */
function parseNumber(field: Buffer): number | undefined {
  const first = field[0] ?? 0;
  if ((first & 0x80) !== 0) {
    let value = BigInt(first & 0x7f);
    for (const byte of field.subarray(1)) value = (value << 8n) | BigInt(byte);
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined;
  }
  const digits = /^ *([0-7]*)[ \0]*$/.exec(readPadded(field))?.[1];
  if (digits === undefined) return undefined;
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

/** The bytes up to what follows the first NUL: some writers leave old bytes behind it. */
function readPadded(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end < 0 ? field.length : end);
}

function readString(block: Buffer, start: number, lengthBytes: number): string {
  const field = block.subarray(start, start + lengthBytes);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

/** Some old systems summed the bytes as signed numbers. */
function signedChecksum(block: Buffer): number {
  let sum = headerChecksum(block);
  for (let index = 0; index < BLOCK_BYTES; index++) {
    if ((index < 148 || index >= 156) && (block[index] ?? 0) >= 0x80) sum -= 0x100;
  }
  return sum;
}
