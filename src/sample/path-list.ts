import { open, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { countAnd } from '../count-words.js';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { manifestLines } from '../manifest/lines.js';

/** Keys of rows that hold the path of a file, the first that is there. */
const PATH_KEYS = ['audio_filepath', 'filepath', 'path'] as const;
const LIST_HINT = 'A list is a file with a path a line; standard input and pipes are not read.';

/**
 * Reads a list of files: a path a line, or a manifest with a JSON object a line.
 *
 * @param base what relative paths are joined to.
 * @returns absolute paths, in the order of the list.
 * @throws InputError with the line that holds no path, or where the list cannot be read or is empty.
 */
export async function readPathList(list: string, base: string): Promise<string[]> {
  const paths: string[] = [];
  const handle = await openList(list);
  try {
    for await (const { bytes, number } of manifestLines(handle, list)) {
      const text = bytes?.toString('utf8').trim() ?? '';
      const found = text.startsWith('{') ? pathOfRow(text) : text;
      if (found === undefined || found === '') {
        throw new InputError(`Cannot read "${list}": line ${number} holds no path`, {
          path: list,
          line: number,
          hint: `Give a path a line, or JSON objects with one of ${PATH_KEYS.join(', ')}.`,
        });
      }
      paths.push(path.resolve(base, found));
    }
  } finally {
    await handle.close();
  }
  if (paths.length === 0) throw new InputError(`"${list}" names no file`, { path: list });
  return paths;
}

async function openList(list: string): Promise<FileHandle> {
  const refusal = (state: string, cause?: unknown): InputError =>
    new InputError(`Cannot read "${list}": ${state}`, { path: list, hint: LIST_HINT, cause });
  try {
    const facts = await stat(list);
    if (!facts.isFile()) throw refusal(facts.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    return await open(list);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw refusal(systemCode(error) === 'ENOENT' ? 'it is not there' : errorMessage(error), error);
  }
}

/** @throws TypeError where an option is no list of texts: of a single text each letter would count as a path. */
export function checkPaths(option: string, paths: unknown): void {
  if (Array.isArray(paths) && paths.every((name) => typeof name === 'string')) return;
  const what = Array.isArray(paths) ? 'one of other things' : typeof paths;
  throw new TypeError(`${option} must be a list of paths, not ${what}`);
}

/** @throws TypeError where an option is no object, such as one of paths by the name of their group. */
export function checkNamed(option: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new TypeError(`${option} must be an object, not ${Array.isArray(value) ? 'a list' : String(value)}`);
}

/** @throws TypeError where an option is not the path of a list of files. */
export function checkListPath(option: string, list: unknown): void {
  if (list === undefined || typeof list === 'string') return;
  throw new TypeError(
    `${option} must be the path of a list of files, not ${Array.isArray(list) ? 'a list' : typeof list}`,
  );
}

/** How many of the paths that stand there more than once are named. */
const MAX_NAMED = 3;

/**
 * A list without paths that lead to the same place as one before: each file counts once.
 *
 * @param onNotice is told of them.
 */
export function dropRepeats(paths: readonly string[], onNotice: ((message: string) => void) | undefined): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const kept = paths.filter((name) => {
    const place = path.resolve(name);
    if (seen.has(place)) repeated.add(name);
    return seen.size < seen.add(place).size;
  });
  if (repeated.size > 0) {
    const named = [...repeated].slice(0, MAX_NAMED).map((name) => JSON.stringify(name));
    const more = repeated.size > named.length ? ` and ${repeated.size - named.length} more` : '';
    const what = countAnd(repeated.size, 'path', 'is|are');
    onNotice?.(`${what} given more than once, and counted once: ${named.join(', ')}${more}`);
  }
  return kept;
}

function pathOfRow(text: string): string | undefined {
  try {
    const row = JSON.parse(text) as Record<string, unknown>;
    const found = PATH_KEYS.map((key) => row[key]).find((value) => value !== undefined);
    return typeof found === 'string' ? found : undefined;
  } catch {
    // What is no JSON holds no path; the caller tells the line.
    return undefined;
  }
}
