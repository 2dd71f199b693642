import { open } from 'node:fs/promises';
import { removeFile, sizeOf } from '../run/atomic-file.js';
import { Journal } from '../run/journal.js';
import { readRecords } from '../run/journal-reader.js';
import { isScanRow } from './scan-row.js';
import type { ScanRow } from './scan-row.js';

/** What rows of a journal depend on: those of another run are of no use. */
export interface JournalIdentity {
  base: string | null;
  loudness: unknown;
}

/** A file that was read: its row, and the loudness of its windows where that was asked for. */
export interface JournalRow {
  row: ScanRow;
  windows: Float32Array | undefined;
}

interface Head {
  kind: 'head';
  identity: JournalIdentity;
}

interface Read {
  kind: 'read';
  row: ScanRow;
  /** 32-bit floats in Base64. */
  windows?: string;
}

/** All new files are whole and have to be moved to their places. */
interface Publish {
  kind: 'publish';
}

/** Notes each file that was read, so that a run that was stopped is taken up where it was. */
export class ScanJournal {
  readonly #journal: Journal;

  private constructor(journal: Journal) {
    this.#journal = journal;
  }

  /**
   * Opens the journal, or begins one; rows of a run with another identity are forgotten.
   *
   * @param onRow takes what was read, in the order that it was noted.
   */
  static async open(path: string, identity: JournalIdentity, onRow: (row: JournalRow) => void): Promise<ScanJournal> {
    let isOurs: boolean | undefined;
    const journal = await Journal.open(path, {
      onRecord: (record) => {
        const entry = record as Head | Read | Publish;
        if (entry.kind === 'head') isOurs = JSON.stringify(entry.identity) === JSON.stringify(identity);
        else if (entry.kind === 'read' && isOurs === true && isScanRow(entry.row))
          onRow({ row: entry.row, windows: windowsOf(entry) });
      },
    });
    if (isOurs === false) {
      await journal.close();
      await removeFile(path);
      return await ScanJournal.open(path, identity, onRow);
    }
    if (isOurs === undefined) await journal.append({ kind: 'head', identity } satisfies Head);
    return new ScanJournal(journal);
  }

  async add({ row, windows }: JournalRow): Promise<void> {
    const text = windows === undefined ? {} : { windows: Buffer.from(bytesOf(windows)).toString('base64') };
    await this.#journal.append({ kind: 'read', row, ...text } satisfies Read);
  }

  /** From here on a run that is stopped is taken up by moving the new files. */
  async markPublishing(): Promise<void> {
    await this.#journal.append({ kind: 'publish' } satisfies Publish);
    await this.#journal.sync();
  }

  /** Makes sure that what was added is on the disk. */
  async sync(): Promise<void> {
    await this.#journal.sync();
  }

  /** Records in the journal. */
  get recordCount(): number {
    return this.#journal.recordCount;
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }
}

/**
 * Reads the rows of a journal that nobody writes any more.
 *
 * @returns how many records there are
 * @throws {InputError} when it is damaged; what reading files throws.
 */
export async function readScanJournal(path: string, onRow: (row: JournalRow) => void): Promise<number> {
  const handle = await open(path);
  try {
    const { recordCount } = await readRecords(path, handle, (record) => {
      const entry = record as Head | Read | Publish;
      if (entry.kind === 'read' && isScanRow(entry.row)) onRow({ row: entry.row, windows: windowsOf(entry) });
    });
    return recordCount;
  } finally {
    await handle.close();
  }
}

/** Whether the run that a journal is of had all its files ready and was stopped while it moved them. */
export async function isPublishing(path: string): Promise<boolean> {
  if ((await sizeOf(path)) === undefined) return false;
  let isReady = false;
  const journal = await Journal.open(path, {
    onRecord: (record) => {
      isReady = (record as Head | Read | Publish).kind === 'publish';
    },
  });
  await journal.close();
  return isReady;
}

function bytesOf(windows: Float32Array): Uint8Array {
  return new Uint8Array(windows.buffer, windows.byteOffset, windows.byteLength);
}

function windowsOf({ windows }: Read): Float32Array | undefined {
  return windows === undefined ? undefined : new Float32Array(Uint8Array.from(Buffer.from(windows, 'base64')).buffer);
}
