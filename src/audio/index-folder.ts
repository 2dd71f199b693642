import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { pid } from 'node:process';
import { errorMessage, systemCode } from '../errors.js';
import { VERSION } from '../version.js';
import { formatIndex, parseIndex } from './index-bytes.js';
import type { IndexKey } from './index-bytes.js';
import type { PacketIndex } from './packet-index.js';
import type { IndexStore, KeptIndex } from './packet-indexes.js';

/** Of smaller recordings, some minutes long, an index is made sooner than another file is opened. */
const MIN_RECORDING_BYTES = 2 ** 20;
/** What the name of a kept index ends with, and that of one which is being written. */
const INDEX_SUFFIX = '.index';
const PARTIAL_SUFFIX = '.index.partial';

/**
 * Indexes in a folder, a file each, named after the path of its recording. One that is of another state of the recording, of another version
 * of this package, or damaged, is made anew. Processes may share the folder: a file appears whole or not at all. All calls block.
 */
export class IndexFolder implements IndexStore {
  readonly #folder: string;
  readonly #onNotice: ((message: string) => void) | undefined;
  readonly #nameOf: (recording: string) => string;
  #written = 0;
  /** Set once it turned out that nothing can be written here. */
  #isReadOnly = false;

  /**
   * @param onNotice takes what is to be said: that a kept index is of no use, or that one cannot be kept.
   * @param nameOf tells under which path the index of a recording is kept, where others name it otherwise; default: its own.
   */
  constructor(
    folder: string,
    onNotice: ((message: string) => void) | undefined,
    nameOf: (recording: string) => string = (recording) => recording,
  ) {
    this.#folder = folder;
    this.#onNotice = onNotice;
    this.#nameOf = nameOf;
  }

  /** Whether the index of a recording is kept, if it has one: not that of a short one, which is made in no time. */
  takes(recording: string): boolean {
    return this.#keyOf(recording) !== undefined;
  }

  load(recording: string): KeptIndex | undefined {
    const key = this.#keyOf(recording);
    if (key === undefined) return undefined;
    const file = this.#fileOf(key);
    const bytes = this.#read(file);
    if (bytes === undefined) return undefined;
    const kept = parseIndex(bytes);
    if (kept !== undefined && isSame(kept.key, key)) return { index: kept.index };
    this.#onNotice?.(`The index "${file}" of "${recording}" is made anew: ${whyUseless(kept?.key, key)}`);
    return undefined;
  }

  begin(recording: string): (index: PacketIndex | undefined) => void {
    const before = this.#keyOf(recording);
    return (index) => {
      const now = this.#keyOf(recording);
      // Where it changed meanwhile, nobody knows what the index is of.
      if (before !== undefined && now !== undefined && isSame(before, now)) this.#keep(before, { index });
    };
  }

  #keyOf(recording: string): IndexKey | undefined {
    return keyOf(recording, this.#nameOf(recording));
  }

  #fileOf({ path: recording }: IndexKey): string {
    return path.join(this.#folder, indexName(recording));
  }

  #read(file: string): Buffer | undefined {
    try {
      return readFileSync(file);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT')
        this.#onNotice?.(`The index "${file}" cannot be read: ${errorMessage(error)}`);
      return undefined;
    }
  }

  #keep(key: IndexKey, kept: KeptIndex): void {
    if (this.#isReadOnly) return;
    const file = this.#fileOf(key);
    // Another process may write the same one.
    const partial = `${file.slice(0, -INDEX_SUFFIX.length)}.${pid}-${(this.#written += 1)}${PARTIAL_SUFFIX}`;
    try {
      mkdirSync(this.#folder, { recursive: true });
      writeWhole(partial, formatIndex(key, kept));
      renameSync(partial, file);
    } catch (error) {
      this.#isReadOnly = true;
      if (existsSync(partial)) rmSync(partial);
      this.#onNotice?.(
        `Indexes cannot be kept in "${this.#folder}", and are made anew each time: ${errorMessage(error)}`,
      );
    }
  }
}

/** The name of the file that holds the index of a recording. */
function indexName(recording: string): string {
  const hash = createHash('sha256').update(path.resolve(recording)).digest('hex');
  return `${hash.slice(0, 40)}${INDEX_SUFFIX}`;
}

/** Undefined for a recording of which no index is kept. */
function keyOf(recording: string, name: string): IndexKey | undefined {
  const stats = statSync(recording, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size < MIN_RECORDING_BYTES) return undefined;
  const mtimeNanos = String(stats.mtimeNs);
  return { path: path.resolve(name), sizeBytes: Number(stats.size), mtimeNanos, producer: `cutroom ${VERSION}` };
}

function isSame(a: IndexKey, b: IndexKey): boolean {
  return a.path === b.path && a.sizeBytes === b.sizeBytes && a.mtimeNanos === b.mtimeNanos && a.producer === b.producer;
}

function whyUseless(kept: IndexKey | undefined, now: IndexKey): string {
  if (kept === undefined) return 'it is damaged';
  if (kept.producer !== now.producer) return `it is of ${kept.producer}`;
  return kept.path === now.path ? 'the recording was changed since' : `it is of "${kept.path}"`;
}

function writeWhole(file: string, bytes: Buffer): void {
  const handle = openSync(file, 'w');
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Removes what belongs to no recording of a list, and what was being written a day ago. A folder that is not there has nothing of it. */
export function removeOtherIndexes(folder: string, recordings: Iterable<string>): void {
  if (!existsSync(folder)) return;
  const kept = new Set<string>();
  for (const recording of recordings) kept.add(indexName(recording));
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const isOther = INDEX_NAME.test(name) && !kept.has(name);
    if (isOther || (PARTIAL_NAME.test(name) && isOld(file))) rmSync(file, { force: true });
  }
}

/** Whatever else somebody has put there is left alone. */
const INDEX_NAME = /^[0-9a-f]{40}\.index$/u;
const PARTIAL_NAME = /^[0-9a-f]{40}\.\d+-\d+\.index\.partial$/u;

function isOld(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > DAY_MS;
}

const DAY_MS = 24 * 3600 * 1000;
