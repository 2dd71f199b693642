import { stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../errors.js';

/** A folder as the machine that plans names it, and as the workers name it. */
export interface PathMapping {
  local: string;
  remote: string;
}

/**
 * Reads `LOCAL=REMOTE`.
 *
 * @throws {UsageError} when it is none, or a side is no absolute path.
 */
export function parsePathMapping(text: string): PathMapping {
  const at = text.indexOf('=');
  if (at > 0) return normalizeMapping({ local: text.slice(0, at), remote: text.slice(at + 1) });
  throw notAbsolute(text);
}

/**
 * A mapping as `mapPath` takes it.
 *
 * @throws {UsageError} when a side is no absolute path.
 */
export function normalizeMapping({ local, remote }: PathMapping): PathMapping {
  if (!path.isAbsolute(local) || !path.isAbsolute(remote)) throw notAbsolute(`${local}=${remote}`);
  return { local: withoutSlash(path.normalize(local)), remote: withoutSlash(path.normalize(remote)) };
}

function notAbsolute(text: string): UsageError {
  return new UsageError(`Cannot map paths by ${JSON.stringify(text)}: it is not LOCAL=REMOTE of two absolute paths`, {
    hint: 'Such as --map /home/me/data=/mnt/data.',
  });
}

/**
 * The mappings that hold on this machine: those whose remote folder is there. The workers have it, the machine that planned mostly not.
 */
export async function findMappings(mappings: readonly PathMapping[]): Promise<PathMapping[]> {
  const active: PathMapping[] = [];
  for (const mapping of mappings) if (await isFolder(mapping.remote)) active.push(mapping);
  return active;
}

/** The path that a file has under mappings: of several that fit the one of the longest folder holds. */
export function mapPath(file: string, mappings: readonly PathMapping[]): string {
  let found: PathMapping | undefined;
  for (const mapping of mappings) {
    const { local } = mapping;
    const isInside = file === local || file.startsWith(local === '/' ? '/' : `${local}/`);
    if (isInside && local.length > (found?.local.length ?? -1)) found = mapping;
  }
  if (found === undefined) return file;
  return `${found.remote}${file.slice(found.local === '/' ? 0 : found.local.length)}`;
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}

function withoutSlash(folder: string): string {
  return folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder;
}
