import { appendFile, writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { Database, Statement } from 'node-sqlite3-wasm';
import { partialPath, publishFile, removeFile, removeFolder } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';

/** A sample as Energon looks it up: where it lies in its tar, and its parts. */
export interface IndexedSample {
  /** Its name; no two samples have the same. */
  key: string;
  /** 0-based, in the dataset. */
  shard: number;
  /** 0-based, in its shard. */
  number: number;
  /** Where its first header begins. */
  offsetBytes: number;
  /** Headers and padding included. */
  sizeBytes: number;
  parts: IndexedPart[];
}

/** A member of a sample. */
export interface IndexedPart {
  /** What stands behind the name of the sample and a dot. */
  name: string;
  /** Where its content begins. */
  offsetBytes: number;
  sizeBytes: number;
}

/** A sample that was left out: another one has its name. */
export interface TakenName {
  key: string;
  /** The shard of the other one. */
  shard: number;
}

/** Samples that are added before others get their turn. */
const SAMPLES_A_TURN = 2000;

/**
 * The database that Energon finds samples by name in (`index.sqlite`), written sample by sample beside its place until it is published. The
 * same samples give the same bytes. SQLite is loaded when the first database is opened.
 */
export class SampleDatabase {
  readonly #finalPath: string;
  readonly #database: Database;
  readonly #statements: Statement[] = [];
  #isOpen = true;

  private constructor(finalPath: string, database: Database) {
    this.#finalPath = finalPath;
    this.#database = database;
  }

  /**
   * Begins a database in a folder that is there. What a killed process left of one is removed.
   *
   * @throws OutputError where it cannot be made
   */
  static async open(finalPath: string): Promise<SampleDatabase> {
    const partial = partialPath(finalPath);
    await removeFolder(lockFolder(partial));
    try {
      // By ourselves: SQLite does not tell why it cannot.
      await writeFile(partial, '');
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot make', path: partial });
    }
    const { default: sqlite } = await import('node-sqlite3-wasm');
    const opened = new SampleDatabase(finalPath, new sqlite.Database(partial));
    try {
      await opened.#attempt(() => opened.#begin());
    } catch (error) {
      await opened.discard();
      throw error;
    }
    return opened;
  }

  /**
   * Adds samples, but those whose names are taken.
   *
   * @returns the samples that were left out
   * @throws OutputError; what the signal is aborted with
   */
  async add(samples: Iterable<IndexedSample>, signal: AbortSignal | undefined): Promise<TakenName[]> {
    const taken: TakenName[] = [];
    let count = 0;
    await this.#attempt(async () => {
      for (const sample of samples) {
        if (!this.#insert(sample)) taken.push({ key: sample.key, shard: this.#shardOf(sample.key) });
        count += 1;
        if (count % SAMPLES_A_TURN !== 0) continue;
        await setImmediate();
        signal?.throwIfAborted();
      }
    });
    return taken;
  }

  /**
   * Ends the database and gives it its name.
   *
   * @throws OutputError
   */
  async publish(): Promise<void> {
    await this.#attempt(() => {
      for (const statement of this.#statements) statement.finalize();
      this.#database.exec('COMMIT');
      this.#database.close();
      this.#isOpen = false;
    });
    await publishFile(partialPath(this.#finalPath), this.#finalPath);
  }

  /** Removes what is not published; to be called in any case. */
  async discard(): Promise<void> {
    const partial = partialPath(this.#finalPath);
    try {
      if (this.#isOpen) this.#close();
    } finally {
      await removeFile(partial);
      await removeFolder(lockFolder(partial));
    }
  }

  #begin(): void {
    this.#database.exec(SCHEMA);
    for (const sql of [INSERT_SAMPLE, INSERT_PART]) this.#statements.push(this.#database.prepare(sql));
  }

  #insert({ key, shard, number, offsetBytes, sizeBytes, parts }: IndexedSample): boolean {
    const [insertSample, insertPart] = this.#statements;
    if (insertSample?.run([shard, key, number, offsetBytes, sizeBytes]).changes === 0) return false;
    for (const part of parts) insertPart?.run([shard, number, part.name, part.offsetBytes, part.sizeBytes]);
    return true;
  }

  #shardOf(key: string): number {
    return Number(this.#database.get('SELECT tar_file_id FROM samples WHERE sample_key = ?', key)?.['tar_file_id']);
  }

  #close(): void {
    this.#isOpen = false;
    for (const statement of this.#statements) {
      try {
        if (!statement.isFinalized) statement.finalize();
      } catch {
        // It tells again what its last step failed with, and is ended all the same.
      }
    }
    this.#database.close();
  }

  /** SQLite tells of an "I/O error" alone; the system is asked for the reason by writing to the same file, which is lost anyhow. */
  async #attempt(work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'SQLite3Error') throw error;
      const context = { action: 'Cannot write', path: partialPath(this.#finalPath) };
      try {
        await appendFile(context.path, Buffer.alloc(PROBE_BYTES), { flush: true });
      } catch (reason) {
        throw writeFailure(reason, context);
      }
      throw writeFailure(error, context);
    }
  }
}

const PROBE_BYTES = 65_536;

/** How the package marks a database that is being written; a killed process leaves it. */
function lockFolder(database: string): string {
  return `${database}.lock`;
}

const INSERT_SAMPLE = 'INSERT INTO samples VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const INSERT_PART = 'INSERT INTO sample_parts VALUES (?, ?, ?, ?, ?)';

/**
 * Energon's tables and indexes. There is no journal: a database that fails is thrown away. Indexes are there before the rows, since this build
 * of SQLite would sort the rows in memory, all of them, to make one later.
 */
const SCHEMA = `
PRAGMA journal_mode = OFF;
PRAGMA cache_size = -32768;
BEGIN;
CREATE TABLE samples (
  tar_file_id INTEGER NOT NULL,
  sample_key TEXT NOT NULL UNIQUE,
  sample_index INTEGER NOT NULL,
  byte_offset INTEGER,
  byte_size INTEGER
);
CREATE TABLE sample_parts (
  tar_file_id INTEGER,
  sample_index INTEGER,
  part_name TEXT,
  content_byte_offset INTEGER,
  content_byte_size INTEGER
);
CREATE INDEX idx_samples_by_tar_and_idx ON samples(tar_file_id, sample_index);
CREATE INDEX idx_sample_parts_seq ON sample_parts(tar_file_id, sample_index, content_byte_offset);
CREATE INDEX idx_sample_parts_full
  ON sample_parts(tar_file_id, sample_index, part_name, content_byte_offset, content_byte_size);
`;
