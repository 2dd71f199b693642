import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { compareCodePoints } from '../tar/order.js';
import { expandBraces } from './brace-expansion.js';

/** What a pattern of paths finds. */
export interface PatternMatch {
  /** In the order of the pattern: choices of braces as they are written, then folder by folder by code points. No path stands there twice. */
  paths: string[];
  /** Names that the pattern spells out and that are not there. */
  missing: string[];
  /** Whether a file of this name, without its folder, is one that the pattern asks for. */
  matchesName: (name: string) => boolean;
}

/**
 * Finds the paths that a pattern stands for, as Python's `glob` with `recursive=True` does: `*`, `?`, `[…]` and `[!…]` inside one part of the path,
 * `**` for any number of folders; names that begin with a dot only where the pattern does. Braces are expanded before, see `expandBraces`.
 *
 * A part with brackets or braces that is a name as it stands, and so a pattern that is a path as it stands, is taken for that name.
 *
 * @throws {InputError} when a folder cannot be read.
 * @throws {UsageError} when braces stand for too many names.
 */
export async function matchPaths(pattern: string): Promise<PatternMatch> {
  if (!/[*?]/u.test(pattern) && (await isThere(pattern))) {
    return { paths: [pattern], missing: [], matchesName: (name) => name === path.basename(pattern) };
  }
  const { folder, rest } = await splitRealFolders(pattern);
  const paths = new Set<string>();
  const missing = new Set<string>();
  const names = new Set<string>();
  const matchers = new Map<string, RegExp>();
  for (const word of expandBraces(rest)) {
    const parts = word.split('/').filter((part) => part !== '');
    const top = folder === '' && word.startsWith('/') ? '/' : folder;
    const last = parts.at(-1) ?? '';
    if (isMagic(last)) matchers.set(last, partMatcher(last));
    else names.add(last);
    const countBefore = paths.size;
    for await (const found of walk(top, parts)) paths.add(found);
    if (paths.size > countBefore || parts.some(isMagic)) continue;
    const named = join(top, parts.join('/'));
    if (!paths.has(named)) missing.add(named);
  }
  const patterns = [...matchers.values()];
  return {
    paths: [...paths],
    missing: [...missing],
    matchesName: (name) => names.has(name) || patterns.some((matcher) => matcher.test(name)),
  };
}

/** Splits off the leading folders that are names as they stand. What is left is a pattern. */
async function splitRealFolders(pattern: string): Promise<{ folder: string; rest: string }> {
  const parts = pattern.split('/');
  let folder = pattern.startsWith('/') ? '/' : '';
  for (const [index, part] of parts.entries()) {
    if (part === '') continue;
    const isName = !/[*?[{]/u.test(part) || (!/[*?]/u.test(part) && (await isThere(join(folder, part))));
    if (!isName || index === parts.length - 1) return { folder, rest: parts.slice(index).join('/') };
    folder = join(folder, part);
  }
  return { folder, rest: '' };
}

async function* walk(folder: string, parts: readonly string[]): AsyncGenerator<string> {
  const [part, ...rest] = parts;
  if (part === undefined) return;
  if (part === '**') {
    if (rest.length > 0) yield* walk(folder, rest);
    yield* walkBelow(folder, rest, []);
    return;
  }
  if (!isMagic(part)) {
    const found = join(folder, part);
    if (rest.length > 0) yield* walk(found, rest);
    else if (await isThere(found)) yield found;
    return;
  }
  const matcher = partMatcher(part);
  for (const { name } of await listFolder(folder)) {
    if (!matcher.test(name)) continue;
    if (rest.length > 0) yield* walk(join(folder, name), rest);
    else yield join(folder, name);
  }
}

/** Follows `**` into the folders below one. Links are followed, as Python does, but not into a folder that they stand in. */
async function* walkBelow(folder: string, rest: readonly string[], above: readonly string[]): AsyncGenerator<string> {
  const entries = (await listFolder(folder)).filter(({ name }) => !name.startsWith('.'));
  if (entries.length === 0) return;
  const own = await realpath(folder === '' ? '.' : folder);
  if (above.includes(own)) return;
  for (const entry of entries) {
    const found = join(folder, entry.name);
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await isFolderAt(found)));
    if (!isFolder) {
      if (rest.length === 0) yield found;
      continue;
    }
    if (rest.length > 0) yield* walk(found, rest);
    yield* walkBelow(found, rest, [...above, own]);
  }
}

/** The entries of a folder by the code points of their names; none where there is no such folder. */
async function listFolder(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder === '' ? '.' : folder, { withFileTypes: true });
    return entries.sort((a, b) => compareCodePoints(a.name, b.name));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw new InputError(`Cannot read the folder "${folder}": ${errorMessage(error)}`, { path: folder, cause: error });
  }
}

function isMagic(part: string): boolean {
  return /[*?[]/u.test(part);
}

/** Matches names as one part of a pattern does. */
function partMatcher(part: string): RegExp {
  let source = part.startsWith('.') ? '' : '(?!\\.)';
  for (let at = 0; at < part.length; at += 1) {
    const character = part[at] ?? '';
    const set = character === '[' ? findSet(part.slice(at)) : undefined;
    if (character === '*') source += '.*';
    else if (character === '?') source += '.';
    else if (set === undefined) source += escape(character);
    else {
      const isNegated = set.startsWith('!');
      const characters = (isNegated ? set.slice(1) : set).replaceAll(/[\\\][^]/gu, '\\$&');
      source += `[${isNegated ? '^' : ''}${characters}]`;
      at += set.length + 1;
    }
  }
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch {
    // A set such as `[z-a]` holds no character: nothing matches.
    return /(?!)/u;
  }
}

/** What stands between the brackets that begin a text; undefined where they are no set. */
function findSet(text: string): string | undefined {
  const inside = /^\[(!?\]?[^\]]*)\]/u.exec(text)?.[1];
  return inside === '' || inside === '!' ? undefined : inside;
}

function escape(character: string): string {
  return /[\\^$.|+()[\]{}*?/]/u.test(character) ? `\\${character}` : character;
}

function join(folder: string, name: string): string {
  if (folder === '') return name;
  return folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;
}

/** Whether something is there, a broken link included: reading it will say what is wrong. */
async function isThere(file: string): Promise<boolean> {
  return (await lookAt(file, lstat)) !== undefined;
}

async function isFolderAt(file: string): Promise<boolean> {
  return (await lookAt(file, stat))?.isDirectory() ?? false;
}

/** What the system says of a file; undefined where there is none. */
async function lookAt(file: string, look: (file: string) => Promise<Stats>): Promise<Stats | undefined> {
  try {
    return await look(file);
  } catch (error) {
    if (ABSENT.has(systemCode(error) ?? '')) return undefined;
    throw new InputError(`Cannot look at "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
}

const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP']);
