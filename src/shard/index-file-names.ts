import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../errors.js';
import { removeFile, removeFolder } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import type { IndexKind } from './index-types.js';

/** Names of the files of indexes beside shards, also of those that are not whole; those of a folder with it. */
const NAMES: Readonly<Record<IndexKind, RegExp>> = {
  wids: /^wids\.json(?:\.partial)?$/u,
  energon:
    /^(?:energon\.yaml|energon-rows\.jsonl(?:\.idx)?|[^/]+\.tar\.idx|\.nv-meta\/(?:\.info\.json|dataset\.yaml|split\.yaml|index\.sqlite|index\.uuid))(?:\.partial)?$/u,
  lhotse: /^shar\/cuts\.\d{6}\.jsonl(?:\.partial)?$/u,
};

const FOLDERS = ['.nv-meta', 'shar'];

/** What a killed process leaves of the database of names. */
const DATABASE_LOCK = '.nv-meta/index.sqlite.partial.lock';

/** The files of indexes of some kinds that lie in a folder of shards; absolute where the folder is. */
export async function listIndexFiles(folder: string, kinds: Iterable<IndexKind>): Promise<string[]> {
  const names = await listNames(folder);
  for (const inner of FOLDERS) {
    if (names.includes(inner))
      names.push(...(await listNames(path.join(folder, inner))).map((name) => `${inner}/${name}`));
  }
  const patterns = [...kinds].map((kind) => NAMES[kind]);
  return names.filter((name) => patterns.some((pattern) => pattern.test(name))).map((name) => path.join(folder, name));
}

/** Removes the indexes of some kinds from a folder of shards; folders are left. */
export async function removeIndexFiles(folder: string, kinds: Iterable<IndexKind>): Promise<void> {
  const removed = [...kinds];
  for (const file of await listIndexFiles(folder, removed)) await removeFile(file);
  if (removed.includes('energon')) await removeFolder(path.join(folder, DATABASE_LOCK));
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw writeFailure(error, { action: 'Cannot read the folder', path: folder });
  }
}
