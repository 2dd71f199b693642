import { statSync } from 'node:fs';
import { readBytes } from './file-bytes.js';

const ID3_HEADER_BYTES = 10;
/** A frame's header and the longest side information stand before the tag. */
const TAG_REACH_BYTES = 4 + 32 + 16;
const HAS_FRAMES = 1;
const HAS_BYTES = 2;

/**
 * Tells whether an MP3 says how many frames it has, in a Xing or Info header, and is not shorter than that header says.
 *
 * Source: the layout that LAME's `VbrTag.c` writes: tag, flags, frames, bytes.
 */
export function hasFrameCount(path: string): boolean {
  const start = id3Bytes(path);
  const head = readBytes(path, TAG_REACH_BYTES, start);
  const text = head.toString('latin1');
  const at = Math.max(text.indexOf('Xing'), text.indexOf('Info'));
  if (at < 0 || at + 16 > head.length) return false;
  const flags = head.readUInt32BE(at + 4);
  if ((flags & HAS_FRAMES) === 0 || head.readUInt32BE(at + 8) === 0) return false;
  const audioBytes = (flags & HAS_BYTES) === 0 ? 0 : head.readUInt32BE(at + 12);
  return statSync(path).size >= start + audioBytes;
}

/** Bytes of the ID3v2 tag that a file begins with (id3.org, ID3v2.4, section 3.1). */
function id3Bytes(path: string): number {
  const head = readBytes(path, ID3_HEADER_BYTES);
  if (head.length < ID3_HEADER_BYTES || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = head.subarray(6).reduce((sum, byte) => (sum << 7) | (byte & 0x7f), 0);
  const footer = (head.readUInt8(5) & 0x10) === 0 ? 0 : ID3_HEADER_BYTES;
  return ID3_HEADER_BYTES + size + footer;
}
