import { parseHeader } from '#cutroom/tar/header-parser.js';
import { paddingBytes } from '#cutroom/tar/header.js';

/** The members of a tar, in order; of one that is cut off, those that are whole. A name that is there again gets a number before it. */
export function readTar(bytes: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>();
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const header = parseHeader(bytes.subarray(at, at + 512));
    if (typeof header === 'string') throw new Error(`${header} at byte ${at}`);
    const start = at + 512;
    const end = start + header.sizeBytes;
    if (end > bytes.length) break;
    members.set(members.has(header.name) ? `${members.size}:${header.name}` : header.name, bytes.subarray(start, end));
    at = end + paddingBytes(header.sizeBytes);
  }
  return members;
}
