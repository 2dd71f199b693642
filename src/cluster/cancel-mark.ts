import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { PLAN_FILES } from './plan-folder.js';

/**
 * Says to whoever watches a plan that its jobs are being canceled, and that none is to be submitted anew. It stays until somebody submits the
 * plan again.
 *
 * @throws {OutputError} when it cannot be written.
 */
export async function writeCancelMark(folder: string): Promise<void> {
  await writeFileAtomic(placeIn(folder), (write) => write(`${randomUUID()}\n`));
}

/** What tells one cancelling from another; undefined where there is none. @throws {InputError} when it cannot be read. */
export async function readCancelMark(folder: string): Promise<string | undefined> {
  const file = placeIn(folder);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
}

export async function removeCancelMark(folder: string): Promise<void> {
  await removeFile(placeIn(folder));
}

function placeIn(folder: string): string {
  return path.join(folder, PLAN_FILES.states, 'canceled');
}
