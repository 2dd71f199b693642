import { open } from 'node:fs/promises';
import { parseHeader } from '../tar/header-parser.js';
import type { TarEnd } from '../tar/reader.js';
import type { DatasetFinding } from './dataset-kinds.js';

const BLOCK_BYTES = 512;
const END_BYTES = 2 * BLOCK_BYTES;
const CHUNK_BYTES = 1 << 20;

/** What stands behind the end of an archive, where it is more than the zeros that fill its last record; undefined where it is not. */
export async function findBytesAfterEnd(file: string, end: TarEnd): Promise<DatasetFinding | undefined> {
  if (!end.isComplete) return undefined;
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let offsetBytes = end.endOffsetBytes + END_BYTES;
    while (offsetBytes < size) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, offsetBytes);
      if (bytesRead === 0) return undefined;
      const at = chunk.subarray(0, bytesRead).findIndex((byte) => byte !== 0);
      if (at < 0) {
        offsetBytes += bytesRead;
        continue;
      }
      const block = Buffer.alloc(BLOCK_BYTES);
      await handle.read(block, 0, BLOCK_BYTES, offsetBytes + at);
      const header = parseHeader(block);
      const what =
        typeof header === 'string'
          ? `${(size - offsetBytes - at).toLocaleString('en-US')} bytes follow`
          : `another one follows, with ${JSON.stringify(header.name)}`;
      return { kind: 'bytes_after_end', message: `the archive ends and ${what}`, file, offsetBytes: offsetBytes + at };
    }
    return undefined;
  } finally {
    await handle.close();
  }
}
