import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

import { writeFailure } from '../tar/write-failure.js';
import { syncFolder } from './durable-folder.js';
import { formatJournalLine, readRecords } from './journal-reader.js';

export interface JournalOptions {
  /** Is given each record of an existing journal in order, before `open` resolves. What it throws ends `open`. */
  onRecord?: (record: unknown) => void;
}

/**
 * A file of records that only grows and outlives crashes: a run notes there what is done, and a later run reads it.
 *
 * One line a record, with a checksum of its own (see `formatJournalLine`). A record that was being written when the power failed or the
 * process was killed is cut off at the next `open`; all before it stand. One process writes at a time: hold a lock.
 */
export class Journal {
  /** The journal's file. */
  readonly path: string;
  readonly #handle: FileHandle;
  #offsetBytes: number;
  #recordCount: number;
  #pending: Buffer[] = [];
  /** The write that takes what is pending, where one is due. */
  #nextWrite: Promise<void> | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #isClosed = false;

  private constructor(filePath: string, handle: FileHandle, recordCount: number, offsetBytes: number) {
    this.path = filePath;
    this.#handle = handle;
    this.#recordCount = recordCount;
    this.#offsetBytes = offsetBytes;
  }

  /**
   * Opens a journal, or makes an empty one; hands its records to `onRecord` and cuts off a torn tail.
   *
   * @throws {InputError} naming the line, when a record that is not the last is damaged.
   * @throws {OutputError} when the file cannot be opened or cut.
   */
  static async open(filePath: string, options: JournalOptions = {}): Promise<Journal> {
    const { handle, isNew } = await openOrMake(filePath);
    try {
      if (isNew) await guard(filePath, () => syncFolder(path.dirname(filePath)));
      const { recordCount, endOffsetBytes } = await readRecords(filePath, handle, options.onRecord ?? ignoreRecord);
      await guard(filePath, async () => {
        if ((await handle.stat()).size > endOffsetBytes) await handle.truncate(endOffsetBytes);
      });
      return new Journal(filePath, handle, recordCount, endOffsetBytes);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Number of records, those appended and not written yet included. */
  get recordCount(): number {
    return this.#recordCount;
  }

  /**
   * Appends a record: any JSON value. Records stand in the order of the calls, awaited or not; those appended while a write is under way
   * go into the next one together. Resolves when the system has the record, which a kill of this process no longer undoes; only `sync`
   * makes it outlive a power failure.
   *
   * @throws {OutputError} when writing fails; the file is then cut back to its last whole record, and every later call fails the same way.
   */
  async append(record: unknown): Promise<void> {
    this.#requireOpen();
    this.#pending.push(formatJournalLine(record));
    this.#recordCount++;
    this.#nextWrite ??= this.#lastWrite.then(() => this.#writePending());
    this.#lastWrite = this.#nextWrite;
    await this.#nextWrite;
  }

  /**
   * Waits until every record appended so far is on the disk.
   *
   * @throws {OutputError} when it cannot be.
   */
  async sync(): Promise<void> {
    this.#requireOpen();
    await this.#lastWrite;
    await this.#attempt(() => this.#handle.datasync());
  }

  /** Writes what is still pending and closes the file. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      if (this.#failure === undefined) await this.#lastWrite;
    } finally {
      await this.#handle.close();
    }
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new TypeError(`Cannot append to the journal "${this.path}": it is closed`);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #writePending(): Promise<void> {
    const batch = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#nextWrite = undefined;
    await this.#attempt(async () => {
      for (let writtenBytes = 0; writtenBytes < batch.length;) {
        const position = this.#offsetBytes + writtenBytes;
        writtenBytes += (await this.#handle.write(batch, writtenBytes, batch.length - writtenBytes, position))
          .bytesWritten;
      }
    }, batch.length);
    this.#offsetBytes += batch.length;
  }

  /** The first failure is kept: what follows a record that was not written would have a gap before it. */
  async #attempt(change: () => Promise<void>, neededBytes?: number): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.#failure ??= writeFailure(error, { action: 'Cannot write the journal', path: this.path, neededBytes });
      // Should this fail too, the rest of the record is a torn tail, which the next `open` cuts off.
      await Promise.allSettled([this.#handle.truncate(this.#offsetBytes)]);
      throw this.#failure;
    }
  }
}

async function openOrMake(filePath: string): Promise<{ handle: FileHandle; isNew: boolean }> {
  const { O_RDWR, O_CREAT } = constants;
  return await guard(filePath, async () => {
    const handle = await open(filePath, O_RDWR | O_CREAT);
    return { handle, isNew: (await handle.stat()).size === 0 };
  });
}

async function guard<T>(filePath: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot open the journal', path: filePath });
  }
}

function ignoreRecord(): void {}
