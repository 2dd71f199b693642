import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, open, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { OutputError, UsageError, errorMessage, systemCode } from '../errors.js';
import type { HubId } from './hub-id.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A file of a repository in the cache. */
export interface CachedFile {
  path: string;
  /** The commit it belongs to, 40 hexadecimal digits. */
  commit: string;
}

/** What to put into the cache. */
export interface FetchedFile {
  name: string;
  commit: string;
  /** The name of the content in the cache: the checksum that the Hub gave as its entity tag. */
  blobName: string;
  content: Uint8Array;
}

const CACHE_HINT = 'Name another folder with --tokenizer-cache-dir or HF_HUB_CACHE.';

/** The folder that Hugging Face's own programs keep downloaded repositories in, found as they find it. */
export function hubCacheFolder(environment: Environment, homeDir: string): string {
  const folder = nonEmpty(environment['HF_HUB_CACHE']) ?? nonEmpty(environment['HUGGINGFACE_HUB_CACHE']);
  return folder === undefined ? join(huggingFaceHome(environment, homeDir), 'hub') : expandHome(folder, homeDir);
}

/** `HF_HOME`, or the folder that stands for it. */
export function huggingFaceHome(environment: Environment, homeDir: string): string {
  const home = nonEmpty(environment['HF_HOME']);
  if (home !== undefined) return expandHome(home, homeDir);
  return join(expandHome(nonEmpty(environment['XDG_CACHE_HOME']) ?? join(homeDir, '.cache'), homeDir), 'huggingface');
}

/** The path with a leading `~` replaced by the home folder. */
export function expandHome(path: string, homeDir: string): string {
  return path === '~' || /^~[/\\]/.test(path) ? join(homeDir, path.slice(1)) : path;
}

/** Undefined for an empty variable, which counts as not set. */
export function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Whether a revision is a full commit id, which never changes its meaning. */
export function isCommit(revision: string): boolean {
  return /^[0-9a-f]{40}$/.test(revision);
}

/**
 * One repository in a cache of the standard layout:
 *
 * ```
 * models--owner--name/
 *   refs/main                               the commit that `main` was at
 *   blobs/<checksum>                        contents
 *   snapshots/<commit>/tokenizer.json  ──►  ../../blobs/<checksum>
 * ```
 *
 * Every file is written beside its place and renamed, so that what has its final name is whole, also with several writers at once.
 */
export class HubRepositoryCache {
  readonly folder: string;

  constructor(cacheFolder: string, id: HubId) {
    this.folder = join(cacheFolder, ['models', ...id.name.split('/')].join('--'));
  }

  /** A file at a revision, if it is here. */
  async find(revision: string, name: string): Promise<CachedFile | undefined> {
    const commit = isCommit(revision) ? revision : (await readIfThere(join(this.folder, 'refs', revision)))?.trim();
    if (commit === undefined || !isCommit(commit)) return undefined;
    const path = join(this.folder, 'snapshots', commit, name);
    return (await isFile(path)) ? { path, commit } : undefined;
  }

  /** The content that is here under a name, if it is. */
  async readBlob(blobName: string): Promise<Uint8Array | undefined> {
    const path = join(this.folder, 'blobs', blobName);
    try {
      return await readFile(path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw unreadableCache(path, error);
    }
  }

  /**
   * Adds a file and notes that the revision is at its commit.
   *
   * @throws OutputError when the cache cannot be written.
   */
  async add(revision: string, file: FetchedFile): Promise<CachedFile> {
    const blobPath = join(this.folder, 'blobs', file.blobName);
    const path = join(this.folder, 'snapshots', file.commit, file.name);
    try {
      await writeWhole(blobPath, file.content);
      await linkWhole(blobPath, path);
      if (!isCommit(revision)) await writeWhole(join(this.folder, 'refs', revision), file.commit);
    } catch (error) {
      throw new OutputError(`Cannot write the Hub cache "${this.folder}": ${errorMessage(error)}`, {
        path: this.folder,
        hint: CACHE_HINT,
        cause: error,
      });
    }
    return { path, commit: file.commit };
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unreadableCache(path, error);
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw unreadableCache(path, error);
  }
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
}

function unreadableCache(path: string, error: unknown): UsageError {
  return new UsageError(`Cannot read the Hub cache at "${path}": ${errorMessage(error)}`, {
    hint: CACHE_HINT,
    cause: error,
  });
}

async function writeWhole(path: string, content: Uint8Array | string): Promise<void> {
  await replaceWhole(path, async (temporaryPath) => {
    const file = await open(temporaryPath, 'wx');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

async function linkWhole(target: string, path: string): Promise<void> {
  await replaceWhole(path, async (temporaryPath) => {
    try {
      await symlink(relative(dirname(path), target), temporaryPath);
    } catch (error) {
      // Windows allows links to few accounts, some file systems to none; the layout provides for copies there.
      if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(systemCode(error) ?? '')) throw error;
      await copyFile(target, temporaryPath);
    }
  });
}

async function replaceWhole(path: string, write: (temporaryPath: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}.incomplete`;
  try {
    await write(temporaryPath);
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
}
