import { readFile } from 'node:fs/promises';
import { InputError, OutputError, systemCode } from '../errors.js';
import { sizeOf } from '../run/atomic-file.js';

/**
 * Reads the metrics that a finished run of the same command left.
 *
 * @returns undefined where there are none
 * @throws {InputError} when the file is damaged or cannot be read.
 */
export async function readFinishedMetrics<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new InputError(`Cannot read "${file}": it is damaged, or not to be read`, {
      path: file,
      cause: error,
      hint: 'Remove the file and run the same command with --overwrite.',
    });
  }
}

/** @throws {OutputError} when a file of a finished dataset is gone, or has another size than its metrics say. */
export async function requireSize(file: string, bytes: number): Promise<void> {
  const found = await sizeOf(file);
  if (found === bytes) return;
  const state = found === undefined ? 'it is gone' : `it has ${found} bytes, and had ${bytes}`;
  throw new OutputError(`The finished dataset does not hold "${file}" any more: ${state}`, {
    path: file,
    hint: 'Give --overwrite to make the shards again.',
  });
}
