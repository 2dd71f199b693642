import { lstat, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

import { OutputError, systemCode } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';
import { syncFolder } from './durable-folder.js';

export { ensureFolder, removeFolder } from './durable-folder.js';

/** Takes the next piece of a file; strings are written as UTF-8. Resolves when more may be handed over. */
export type ChunkWriter = (chunk: string | Uint8Array) => Promise<void>;

/** What a file is called until it is whole: it lies beside its final place, so that it can be renamed to it. */
export function partialPath(finalPath: string): string {
  return `${finalPath}.partial`;
}

/**
 * Writes a file that appears whole or not at all: what `writer` hands over goes to `<finalPath>.partial`, is synced to the disk and renamed,
 * replacing an earlier file. When anything fails, the partial file is removed and an earlier file stays as it is.
 *
 * ```ts
 * await writeFileAtomic('out/metrics.json', async (write) => {
 *   await write(JSON.stringify(metrics));
 * });
 * ```
 *
 * @throws {OutputError} when the file cannot be written; what `writer` throws is thrown unchanged.
 */
export async function writeFileAtomic(finalPath: string, writer: (write: ChunkWriter) => Promise<void>): Promise<void> {
  await requireFilePlace(finalPath);
  const partial = partialPath(finalPath);
  let file: BufferedFile | undefined;
  try {
    file = await BufferedFile.create(partial);
    await file.fill(writer);
    await file.close();
    await moveIntoPlace(partial, finalPath);
  } catch (error) {
    await file?.abandon();
    throw error;
  }
}

/**
 * Gives a file that is written already its final name: syncs it to the disk, renames it and syncs the folder.
 *
 * @throws {OutputError} when that fails; the partial file stays where it is.
 */
export async function publishFile(partial: string, finalPath: string): Promise<void> {
  await syncFile(partial, finalPath);
  await moveIntoPlace(partial, finalPath);
}

/**
 * Gives files that lie at `partialPath` of their places their final names, one after the other; their folders are synced once, at the end.
 *
 * @throws {OutputError} when that fails; those that have their names keep them.
 */
export async function publishFiles(finalPaths: Iterable<string>): Promise<void> {
  const folders = new Map<string, string>();
  for (const finalPath of finalPaths) {
    const partial = partialPath(finalPath);
    await syncFile(partial, finalPath);
    await publishing(finalPath, () => rename(partial, finalPath));
    folders.set(path.dirname(finalPath), finalPath);
  }
  for (const [folder, finalPath] of folders) await publishing(finalPath, () => syncFolder(folder));
}

async function syncFile(partial: string, finalPath: string): Promise<void> {
  await requireFilePlace(finalPath);
  try {
    const handle = await open(partial, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot sync', path: partial });
  }
}

/**
 * The size of a file in bytes; undefined where there is none.
 *
 * @throws {OutputError} when the system does not tell.
 */
export async function sizeOf(filePath: string): Promise<number | undefined> {
  try {
    return (await stat(filePath)).size;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw writeFailure(error, { action: 'Cannot look at', path: filePath });
  }
}

/**
 * Removes a file; one that is gone is as good.
 *
 * @throws {OutputError} when it cannot be removed.
 */
export async function removeFile(filePath: string): Promise<void> {
  try {
    await rm(filePath, { force: true });
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot remove', path: filePath });
  }
}

/**
 * Finds out, before any work is done, whether a file can be published at `finalPath`: its folder exists and takes new files, and nothing but
 * a regular file stands at its place. Leaves nothing behind.
 *
 * @throws {OutputError} when it cannot.
 */
export async function checkWritable(finalPath: string): Promise<void> {
  await requireFilePlace(finalPath);
  // Asked by doing: permission bits say little about root, network file systems, access lists and read-only mounts.
  const probe = path.join(path.dirname(finalPath), PROBE);
  try {
    await rm(probe, { force: true });
    const handle = await open(probe, 'wx').catch(ignoreExisting);
    await handle?.close();
    await rm(probe, { force: true });
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot write to the folder', path: path.dirname(finalPath) });
  }
}

/** One name for all, so that what a killed process left is removed by the next. */
const PROBE = '.cutroom-probe';

async function requireFilePlace(finalPath: string): Promise<void> {
  const action = 'Cannot write';
  try {
    await lstat(partialPath(finalPath)).catch(ignoreMissing);
    const stats = await stat(finalPath).catch(ignoreMissing);
    if (stats === undefined || stats.isFile()) return;
    throw new OutputError(
      `${action} "${finalPath}": ${stats.isDirectory() ? 'it is a folder' : 'it is not a regular file'}`,
      {
        path: finalPath,
        hint: 'Give the path of a file; only regular files are replaced.',
      },
    );
  } catch (error) {
    throw writeFailure(error, { action, path: finalPath });
  }
}

/** Another process asks the same at this moment, and could write. */
function ignoreExisting(error: unknown): undefined {
  if (systemCode(error) !== 'EEXIST') throw error;
}

function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}

async function moveIntoPlace(partial: string, finalPath: string): Promise<void> {
  await publishing(finalPath, async () => {
    await rename(partial, finalPath);
    await syncFolder(path.dirname(finalPath));
  });
}

async function publishing(finalPath: string, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot publish', path: finalPath });
  }
}

const BUFFER_BYTES = 256 * 1024;

/** A new file that is written through a buffer, in the order of the calls even where they are not awaited. */
class BufferedFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #bufferedBytes = 0;
  #isOpen = true;
  #isFilling = true;
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(filePath: string, handle: FileHandle) {
    this.#path = filePath;
    this.#handle = handle;
  }

  static async create(filePath: string): Promise<BufferedFile> {
    try {
      return new BufferedFile(filePath, await open(filePath, 'w'));
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot make', path: filePath });
    }
  }

  async fill(writer: (write: ChunkWriter) => Promise<void>): Promise<void> {
    await writer((chunk) => {
      if (!this.#isFilling) throw new TypeError(`Cannot write to "${this.#path}": its writer has ended`);
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      this.#lastWrite = this.#lastWrite.then(() => this.#put(bytes));
      // Thrown below, when the writer has ended; until then a failure must not count as unhandled.
      this.#lastWrite.catch(() => undefined);
      return this.#lastWrite;
    });
    this.#isFilling = false;
    await this.#lastWrite;
  }

  /** Syncs the file to the disk and closes it. */
  async close(): Promise<void> {
    await this.#flush();
    try {
      await this.#handle.sync();
      this.#isOpen = false;
      await this.#handle.close();
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot write', path: this.#path });
    }
  }

  /** Closes the file where it is still open, and removes it. */
  async abandon(): Promise<void> {
    this.#isFilling = false;
    // Its failure, if there is one, is what brought us here; only its end matters.
    await Promise.allSettled([this.#lastWrite]);
    if (this.#isOpen) await this.#handle.close();
    try {
      await rm(this.#path, { force: true });
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot remove', path: this.#path });
    }
  }

  async #put(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length;) {
      if (this.#bufferedBytes === BUFFER_BYTES) await this.#flush();
      const part = bytes.subarray(start, start + BUFFER_BYTES - this.#bufferedBytes);
      this.#buffer.set(part, this.#bufferedBytes);
      this.#bufferedBytes += part.length;
      start += part.length;
    }
  }

  async #flush(): Promise<void> {
    let writtenBytes = 0;
    try {
      while (writtenBytes < this.#bufferedBytes) {
        const { bytesWritten } = await this.#handle.write(
          this.#buffer,
          writtenBytes,
          this.#bufferedBytes - writtenBytes,
        );
        writtenBytes += bytesWritten;
      }
    } catch (error) {
      throw writeFailure(error, {
        action: 'Cannot write',
        path: this.#path,
        neededBytes: this.#bufferedBytes - writtenBytes,
      });
    }
    this.#bufferedBytes = 0;
  }
}
