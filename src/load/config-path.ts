import { existsSync } from 'node:fs';
import path from 'node:path';
import { configError, type ConfigNode } from './config-node.js';
import { findForeignPlace } from './foreign-place.js';
import { splitAtCommas } from './tar-patterns.js';

/**
 * A path, or a pattern of paths, as one from the working folder: a relative one belongs to the folder of the file that it stands in.
 *
 * @throws {UsageError} for commands and addresses.
 */
export function resolvePath(node: ConfigNode, given: string): string {
  const foreign = findForeignPlace(given);
  if (foreign !== undefined) {
    throw configError(`${foreign.what} stands where a path should: ${foreign.refusal}`, node, foreign.hint);
  }
  if (given.trim() === '') throw configError('a path is empty', node);
  const folder = node.file === undefined ? '.' : path.dirname(node.file);
  if (folder === '.') return given;
  const whole = resolveIn(folder, given);
  // A path with a comma in it is no list of paths.
  if (!given.includes(',') || existsSync(whole)) return whole;
  return splitAtCommas(given)
    .map((part) => resolveIn(folder, part))
    .join(',');
}

/** Put together as texts: a pattern may hold `..` that means no folder. */
function resolveIn(folder: string, given: string): string {
  return path.isAbsolute(given) || given.startsWith('~') ? given : `${folder.replace(/\/$/u, '')}/${given}`;
}
