import { decompress } from 'fzstd';

const MAGIC = 0xfd2f_b528;
const SINGLE_SEGMENT = 0x20;
const MAX_BLOCK_BYTES = 1 << 17;

/**
 * Wraps bytes in a frame of Zstandard (RFC 8878, section 3.1.1) as they are, in raw blocks: loudness values hardly become smaller by
 * compression, and every reader takes such a frame.
 */
export function storeAsZstd(bytes: Uint8Array): Buffer {
  const blocks: Uint8Array[] = [frameHeader(bytes.length)];
  let at = 0;
  do {
    const part = bytes.subarray(at, at + MAX_BLOCK_BYTES);
    at += part.length;
    const header = Buffer.alloc(3);
    header.writeUIntLE((part.length << 3) | (at === bytes.length ? 1 : 0), 0, 3);
    blocks.push(header, part);
  } while (at < bytes.length);
  return Buffer.concat(blocks);
}

/** The content of a frame. Throws where it is none, or is damaged. */
export function readZstd(frame: Uint8Array): Uint8Array {
  return decompress(frame);
}

function frameHeader(length: number): Buffer {
  const header = Buffer.alloc(9);
  header.writeUInt32LE(MAGIC);
  const sizeBytes = length < 256 ? 1 : length < 65_792 ? 2 : 4;
  header.writeUInt8(SINGLE_SEGMENT | ((sizeBytes >> 1) << 6), 4);
  // Sizes in two bytes begin at 256.
  header.writeUIntLE(sizeBytes === 2 ? length - 256 : length, 5, sizeBytes);
  return header.subarray(0, 5 + sizeBytes);
}
