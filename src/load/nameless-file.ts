import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** An open file that is gone with its last opener, whatever becomes of that. */
export interface NamelessFile {
  file: number;
  /** Where an open file keeps its name: that is to be removed behind it. */
  leftPath: string | undefined;
}

/**
 * Makes a file in the folder of temporary files, and takes its name away.
 *
 * @throws what the system says.
 */
export function openNamelessFile(): NamelessFile {
  const name = path.join(tmpdir(), `cutroom-${randomUUID()}`);
  const file = openSync(name, 'wx+', 0o600);
  try {
    rmSync(name);
    return { file, leftPath: undefined };
  } catch {
    return { file, leftPath: name };
  }
}

export function closeNamelessFile({ file, leftPath }: NamelessFile): void {
  closeSync(file);
  if (leftPath !== undefined) rmSync(leftPath, { force: true });
}

/**
 * Writes all of the bytes at a place.
 *
 * @throws what the system says.
 */
export function writeAllAt(file: number, bytes: Uint8Array, offsetBytes: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(file, bytes, written, bytes.length - written, offsetBytes + written);
  }
}
