import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { InputError, UsageError, errorMessage, systemCode } from '../errors.js';
import { expandHome } from './hub-cache.js';
import { parseHubId } from './hub-id.js';
import { type HubOptions, fetchHubTokenizer } from './hub.js';
import { loadPretrainedTokenizer } from './pretrained.js';
import type { Tokenizer } from './types.js';
import { createWordsTokenizer } from './words.js';

export type { Tokenizer, TokenizerEvent } from './types.js';

export interface LoadTokenizerOptions extends HubOptions {
  /**
   * A folder that holds `tokenizer.json`, such a file, or a repository on the Hub as `owner/name`, `name`, or either with `@revision`.
   * The built-in `words` tokenizer where none is named.
   */
  path?: string | undefined;
}

/**
 * Loads a tokenizer. What exists on this machine, or is spelt like a path, is read here; anything else is looked up in the Hub's cache
 * and, if it is not there, on the Hub.
 *
 * @throws UsageError when there is no such tokenizer or it may not be fetched.
 * @throws InputError when a tokenizer's file is broken.
 * @throws OutputError when the Hub's cache cannot be written.
 * @throws CanceledError
 */
export async function loadTokenizer(options: LoadTokenizerOptions): Promise<Tokenizer> {
  if (options.path === undefined) return createWordsTokenizer();
  const local = await findLocal(options.path, options.homeDir);
  if (local !== undefined) return await loadPretrainedTokenizer(local);
  const { path } = await fetchHubTokenizer(parseHubId(options.path), options);
  return await loadPretrainedTokenizer(path);
}

/** The tokenizer's file on this machine, or undefined when the name is not one of a local file. */
async function findLocal(name: string, homeDir: string): Promise<string | undefined> {
  if (name === '') throw new UsageError('Cannot find the tokenizer "": its path is empty');
  const path = expandHome(name, homeDir);
  let isFolder;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (error) {
    const isMissing = systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR';
    if (isMissing && !looksLocal(name)) return undefined;
    throw new UsageError(
      `Cannot find the tokenizer "${path}": ${isMissing ? 'no such file or folder' : errorMessage(error)}`,
      {
        hint: 'Name a folder with a tokenizer.json, the file itself, or a repository on the Hub as owner/name.',
      },
    );
  }
  return isFolder ? await findInFolder(path) : checkFileName(path);
}

function looksLocal(name: string): boolean {
  return (
    /^[.~/\\]/.test(name) || isAbsolute(name) || name.includes('\\') || name.endsWith('.json') || name.endsWith('/')
  );
}

/** What tokenizers without `tokenizer.json` consist of. */
const SLOW_FILES =
  /^(?:vocab\.(?:txt|json)|merges\.txt|tokenizer\.model|spm\.model|spiece\.model|sentencepiece.*\.model)$/;
const SLOW_HINT =
  'Only fast tokenizers can be loaded: load this one in Python with use_fast=True, save_pretrained() it, and name that folder.';

async function findInFolder(folder: string): Promise<string> {
  const names = await readdir(folder);
  if (names.includes('tokenizer.json')) return join(folder, 'tokenizer.json');
  const slow = names.filter((name) => SLOW_FILES.test(name)).sort();
  const found = slow.length === 0 ? '' : `, only a slow tokenizer (${slow.join(', ')})`;
  throw new InputError(`Cannot load tokenizer "${folder}": the folder has no tokenizer.json${found}`, {
    path: folder,
    hint:
      slow.length === 0
        ? 'If a repository on the Hub is meant, write it with its revision: owner/name@main.'
        : SLOW_HINT,
  });
}

function checkFileName(path: string): string {
  if (path.endsWith('.json') && !/(?:^|[/\\])vocab\.json$/.test(path)) return path;
  throw new InputError(`Cannot load tokenizer "${path}": it is not a tokenizer.json`, { path, hint: SLOW_HINT });
}
