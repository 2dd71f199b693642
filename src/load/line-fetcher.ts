import { CutroomError, errorMessage, InputError, systemCode } from '../errors.js';
import { readLineAt } from '../manifest/lines.js';
import { LineFile } from './line-file.js';

/** Where a line stands. */
export interface LinePlace {
  path: string;
  offsetBytes: number;
  lengthBytes: number;
}

/** Lines with at most so many bytes between them are read together. */
const MAX_GAP_BYTES = 16 * 1024;
const MAX_READ_BYTES = 1024 * 1024;

/** Files that are read at the same time for one call. */
const MAX_AT_ONCE = 16;

/** Reads lines by their places. Holds files open, those that were asked for last. */
export class LineFetcher {
  readonly #maxOpenFiles: number;
  /** In the order of their last use. */
  readonly #files = new Map<string, OpenFile>();

  constructor(maxOpenFiles: number) {
    this.#maxOpenFiles = maxOpenFiles;
  }

  /**
   * The bytes of lines, in the order of the places.
   *
   * @throws {InputError} when a file cannot be read, or ends before a line does.
   */
  async read(places: readonly LinePlace[]): Promise<Buffer[]> {
    const lines = Array.from<Buffer>({ length: places.length });
    const groups = [...groupByPath(places)];
    for (let at = 0; at < groups.length; at += MAX_AT_ONCE) {
      const some = groups.slice(at, at + MAX_AT_ONCE);
      // All come to their end, so that no handle is left in use when one fails.
      const outcomes = await Promise.allSettled(
        some.map(async ([path, indexes]) => await this.#readFile(path, places, indexes, lines)),
      );
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
    return lines;
  }

  /** Closes all files; those in use once they are not. */
  async close(): Promise<void> {
    const files = [...this.#files.values()];
    this.#files.clear();
    for (const file of files) await retire(file);
  }

  async #readFile(
    path: string,
    places: readonly LinePlace[],
    indexes: readonly number[],
    lines: Buffer[],
  ): Promise<void> {
    const file = await this.#take(path);
    try {
      for (const run of runsOf(places, indexes)) {
        const bytes = await readLineAt(file.handle, path, run.offsetBytes, run.endBytes - run.offsetBytes);
        for (const index of run.indexes) {
          const { offsetBytes, lengthBytes } = places[index]!;
          const start = offsetBytes - run.offsetBytes;
          lines[index] = bytes.subarray(start, start + lengthBytes);
        }
      }
    } finally {
      await this.#release(file);
    }
  }

  async #take(path: string): Promise<OpenFile> {
    const known = this.#files.get(path);
    if (known !== undefined) {
      known.users += 1;
      this.#files.delete(path);
      this.#files.set(path, known);
      return known;
    }
    const handle = await LineFile.open(path).catch((error: unknown) => {
      if (error instanceof CutroomError) throw error;
      const reason = systemCode(error) === 'ENOENT' ? 'it is no longer there' : errorMessage(error);
      throw new InputError(`Cannot read "${path}" again: ${reason}`, { path, cause: error });
    });
    const file: OpenFile = { handle, users: 1, isRetired: false };
    const other = this.#files.get(path);
    // Somebody else opened it meanwhile: this one serves its user alone.
    if (other !== undefined) file.isRetired = true;
    else this.#files.set(path, file);
    await this.#dropOldest();
    return file;
  }

  async #dropOldest(): Promise<void> {
    for (const [path, file] of this.#files) {
      if (this.#files.size <= this.#maxOpenFiles) return;
      this.#files.delete(path);
      await retire(file);
    }
  }

  async #release(file: OpenFile): Promise<void> {
    file.users -= 1;
    if (file.users === 0 && file.isRetired) await file.handle.close();
  }
}

interface OpenFile {
  handle: LineFile;
  users: number;
  /** No longer held for others: its last user closes it. */
  isRetired: boolean;
}

async function retire(file: OpenFile): Promise<void> {
  file.isRetired = true;
  if (file.users === 0) await file.handle.close();
}

function groupByPath(places: readonly LinePlace[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const [index, { path }] of places.entries()) {
    const group = groups.get(path);
    if (group === undefined) groups.set(path, [index]);
    else group.push(index);
  }
  return groups;
}

interface Run {
  offsetBytes: number;
  endBytes: number;
  indexes: number[];
}

/** Lines of one file that are read at once. */
function runsOf(places: readonly LinePlace[], indexes: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (const index of indexes.toSorted((a, b) => places[a]!.offsetBytes - places[b]!.offsetBytes)) {
    const { offsetBytes, lengthBytes } = places[index]!;
    const endBytes = offsetBytes + lengthBytes;
    const run = runs.at(-1);
    if (
      run !== undefined &&
      offsetBytes - run.endBytes <= MAX_GAP_BYTES &&
      endBytes - run.offsetBytes <= MAX_READ_BYTES
    ) {
      run.endBytes = Math.max(run.endBytes, endBytes);
      run.indexes.push(index);
    } else runs.push({ offsetBytes, endBytes, indexes: [index] });
  }
  return runs;
}
