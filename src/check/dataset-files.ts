import { open, stat } from 'node:fs/promises';
import { manifestLines } from '../manifest/lines.js';

/** How many lines of a file are not blank. Throws what the system says when it cannot be read. */
export async function countLines(file: string): Promise<number> {
  const handle = await open(file, 'r');
  try {
    let count = 0;
    for await (const line of manifestLines(handle, file)) if (line.lengthBytes > 0) count += 1;
    return count;
  } finally {
    await handle.close();
  }
}

/** Size of a regular file; undefined where there is none that can be looked at. */
export async function sizeOfFile(file: string): Promise<number | undefined> {
  try {
    const stats = await stat(file);
    return stats.isFile() ? stats.size : undefined;
  } catch {
    // What cannot be looked at is not there for a loader either.
    return undefined;
  }
}
