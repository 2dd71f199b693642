import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { countWords } from '../count-words.js';
import { errorMessage, InputError, systemCode } from '../errors.js';
import { matchPaths } from '../shard/path-pattern.js';

/** Extensions of files that hold audio by themselves, without dots. */
export const AUDIO_EXTENSIONS: readonly string[] = (
  'wav wave w64 rf64 bw64 flac mp3 mp2 ogg oga opus m4a mp4 m4b aac aif aiff aifc caf au snd webm mka wma ac3 eac3 amr ape tta ' +
  'wv tak mpc voc dsf'
).split(' ');

export interface FindOptions {
  /** Files, folders and patterns; relative ones lie under the current folder. */
  sources: readonly string[];
  /** Lower case, without dots. */
  extensions: readonly string[];
  signal?: AbortSignal | undefined;
  /** Takes the number of files found so far, now and then. */
  onFiles?: ((files: number) => void) | undefined;
}

/** Files found between two reports. */
const FILES_A_REPORT = 4096;

/**
 * Finds audio files: those that are named, and those of the asked extensions in folders, below them and where patterns lead, but for what is hidden.
 *
 * @returns absolute paths in no particular order; one may stand there twice.
 * @throws InputError naming each source that leads to no file, or a folder that cannot be read.
 */
export async function findAudioFiles(options: FindOptions): Promise<string[]> {
  const search = new Search(options);
  const empty: string[] = [];
  for (const source of options.sources) {
    const before = search.paths.length;
    const state = await search.add(source);
    if (search.paths.length === before) empty.push(`"${source}" ${state}`);
  }
  if (empty.length === 0) return search.paths;
  throw new InputError(`There are no audio files to take: ${empty.join(', ')}`, {
    hint: 'Quote patterns for the shell; --extensions says which files of folders and patterns are taken.',
  });
}

class Search {
  readonly paths: string[] = [];
  readonly #options: FindOptions;
  readonly #extensions: ReadonlySet<string>;
  /** Files that were passed over for their extensions since the last source. */
  #passedOver = 0;

  constructor(options: FindOptions) {
    this.#options = options;
    this.#extensions = new Set(options.extensions);
  }

  /** Takes what a source leads to; says what is there where that is no audio. */
  async add(source: string): Promise<string> {
    this.#passedOver = 0;
    const kind = await kindOf(source);
    if (kind === 'file') this.#take(path.resolve(source));
    else if (kind === 'folder') await this.#walk(path.resolve(source));
    else if (!/[*?[{]/u.test(source)) return 'is not there';
    else await this.#match(source);
    if (this.#passedOver > 0)
      return `holds no file with an extension of audio, but ${countWords(this.#passedOver, 'other')}`;
    return kind === 'folder' ? 'holds no audio file' : 'matches no file';
  }

  async #match(pattern: string): Promise<void> {
    for (const found of (await matchPaths(pattern)).paths) {
      if ((await kindOf(found)) === 'folder') {
        // `**` gives the files below a folder by itself.
        if (!pattern.includes('**')) await this.#walk(path.resolve(found));
      } else this.#takeIfAudio(path.resolve(found));
    }
  }

  /** @param above the real paths of the folders on the way: a link into one of them would lead round in a circle */
  async #walk(folder: string, above: readonly string[] = []): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const own = await realpath(folder);
    if (above.includes(own)) return;
    const folders: string[] = [];
    for (const entry of await listFolder(folder)) {
      if (entry.name.startsWith('.')) continue;
      const found = path.join(folder, entry.name);
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await kindOf(found)) === 'folder');
      if (isFolder) folders.push(found);
      else this.#takeIfAudio(found);
    }
    for (const below of folders) await this.#walk(below, [...above, own]);
  }

  #takeIfAudio(file: string): void {
    if (this.#extensions.has(path.extname(file).slice(1).toLowerCase())) this.#take(file);
    else this.#passedOver += 1;
  }

  #take(file: string): void {
    this.paths.push(file);
    if (this.paths.length % FILES_A_REPORT === 0) this.#options.onFiles?.(this.paths.length);
  }
}

async function listFolder(folder: string): Promise<Awaited<ReturnType<typeof readEntries>>> {
  try {
    return await readEntries(folder);
  } catch (error) {
    throw new InputError(`Cannot read the folder "${folder}": ${errorMessage(error)}`, { path: folder, cause: error });
  }
}

async function readEntries(folder: string) {
  return await readdir(folder, { withFileTypes: true });
}

/** What stands at a path. A link that leads nowhere counts as a file: reading it will say so. */
async function kindOf(place: string): Promise<'file' | 'folder' | undefined> {
  try {
    return (await stat(place)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) return undefined;
    if (code === 'ELOOP') return 'file';
    throw new InputError(`Cannot look at "${place}": ${errorMessage(error)}`, { path: place, cause: error });
  }
}
