import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { removeFile, writeFileAtomic } from '../run/atomic-file.js';
import type { EngineRecord } from './engine.js';
import { PLAN_FILES } from './plan-folder.js';
import { parseRayAddress } from './ray-address.js';

/** What was handed to an engine for a plan; undefined where nothing was. @throws {InputError} when the file is damaged. */
export async function readEngineRecord(folder: string): Promise<EngineRecord | undefined> {
  const file = path.join(folder, PLAN_FILES.engine);
  try {
    return JSON.parse(await readFile(file, 'utf8')) as EngineRecord;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
}

/**
 * Keeps what was handed to an engine.
 *
 * @throws {OutputError} when it cannot be written.
 * @throws {UsageError} when the address of a cluster is none, or holds a password, which is not written down.
 */
export async function writeEngineRecord(folder: string, record: EngineRecord): Promise<void> {
  const { rayAddress } = record.options;
  if (typeof rayAddress === 'string') parseRayAddress(rayAddress, '--ray-address');
  await writeFileAtomic(path.join(folder, PLAN_FILES.engine), (write) => write(`${JSON.stringify(record, null, 2)}\n`));
}

export async function removeEngineRecord(folder: string): Promise<void> {
  await removeFile(path.join(folder, PLAN_FILES.engine));
}
