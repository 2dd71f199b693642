import { isUtf8 } from 'node:buffer';

/** The text of UTF-8 bytes, or the 1-based column, in characters, of the first byte that is not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | number {
  return isUtf8(bytes) ? bytes.toString('utf8') : columnOfBadByte(bytes);
}

function columnOfBadByte(bytes: Buffer): number {
  let column = 1;
  for (let at = 0; at < bytes.length; column += 1) {
    const size = characterSize(bytes[at] ?? 0);
    if (at + size > bytes.length || !isUtf8(bytes.subarray(at, at + size))) break;
    at += size;
  }
  return column;
}

/** How many bytes a character takes by its first byte (RFC 3629, section 3). */
function characterSize(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}
