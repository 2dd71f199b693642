import { closeSync, openSync, readSync } from 'node:fs';

/** Up to `length` bytes of a file, from `offsetBytes` on; fewer where it ends before. */
export function readBytes(path: string, length: number, offsetBytes = 0): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, offsetBytes));
  } finally {
    closeSync(file);
  }
}
