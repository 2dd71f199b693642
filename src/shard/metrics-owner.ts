import { open } from 'node:fs/promises';
import path from 'node:path';
import { OutputError, systemCode } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';

/** Commands that write a `metrics.json`, the sign that their outputs are whole. */
export type MetricsOwner = 'cut' | 'build' | 'tar' | 'scan' | 'sample';

/** The first key of each command's metrics; those of a cut may be too long to be read as one. */
const FIRST_KEYS: Readonly<Record<string, MetricsOwner>> = {
  num_input_audios: 'cut',
  rows_read: 'build',
  command: 'tar',
  format: 'scan',
  draws: 'sample',
};

const HEAD_BYTES = 256;

/** Which command wrote a metrics file; undefined where there is none, or none of ours. */
export async function readMetricsOwner(file: string): Promise<MetricsOwner | undefined> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      const key = /^\s*\{\s*"(\w+)"\s*:/u.exec(buffer.toString('utf8', 0, bytesRead))?.[1];
      return key !== undefined && Object.hasOwn(FIRST_KEYS, key) ? FIRST_KEYS[key] : undefined;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw writeFailure(error, { action: 'Cannot read', path: file });
  }
}

/**
 * Keeps a command from taking the place of what another one made: without their metrics the shards there would belong to nobody.
 *
 * @param flag names the folder on the command line
 * @throws {OutputError} when the metrics are those of another command, whatever may be replaced.
 */
export async function refuseForeignOutputs(file: string, command: MetricsOwner, flag: string): Promise<void> {
  const owner = await readMetricsOwner(file);
  if (owner !== undefined && owner !== command) throw foreignOutputs(file, owner, flag);
}

/** What is said where outputs of another command lie. */
export function foreignOutputs(file: string, owner: string, flag: string): OutputError {
  return new OutputError(`Cannot write to "${path.dirname(file)}": the outputs of "cutroom ${owner}" are there`, {
    path: file,
    hint: `Choose another --${flag}: one command does not replace what another one made.`,
  });
}
