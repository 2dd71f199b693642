import { open, type FileHandle } from 'node:fs/promises';
import { errorMessage } from '../errors.js';
import { reportDataset } from './dataset-kinds.js';
import type { NemoLayout } from './dataset-nemo-layout.js';
import type { CheckContext } from './finding.js';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** A version that gained rows begins with those of the version before, byte for byte. */
export async function checkVersions({ manifests }: NemoLayout, context: CheckContext): Promise<void> {
  for (const [index, later] of manifests.entries()) {
    const earlier = manifests[index - 1];
    if (earlier === undefined) continue;
    try {
      const line = await findDifference(earlier.file, later.file);
      if (line === undefined) continue;
      const message = `its row differs from that of version ${earlier.version} on the same line`;
      reportDataset(context, { kind: 'version_differs', message, file: later.file, line });
    } catch (error) {
      reportDataset(context, { kind: 'unreadable_manifest', message: errorMessage(error), file: earlier.file });
    }
  }
}

/** The first line on which the later file is not the earlier one; undefined where it begins with all of it. */
async function findDifference(earlier: string, later: string): Promise<number | undefined> {
  const [first, second] = [await open(earlier, 'r'), await open(later, 'r')];
  try {
    const { size } = await first.stat();
    let line = 1;
    for (let offset = 0; offset < size; offset += CHUNK_BYTES) {
      const [a, b] = [await readChunk(first, offset, size), await readChunk(second, offset, size)];
      if (a.equals(b)) {
        line += countNewlines(a);
        continue;
      }
      let same = 0;
      while (same < a.length && a[same] === b[same]) same += 1;
      // The earlier file may end without a line break.
      if (offset + same === size) return undefined;
      return line + countNewlines(a.subarray(0, same));
    }
    return undefined;
  } finally {
    await first.close();
    await second.close();
  }
}

async function readChunk(handle: FileHandle, offset: number, endBytes: number): Promise<Buffer> {
  const wanted = Math.min(CHUNK_BYTES, endBytes - offset);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, offset);
  return buffer.subarray(0, bytesRead);
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
