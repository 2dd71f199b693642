import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { TarAppender } from '../tar/writer.js';
import { partialPath, sizeOf } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import type { CutOutputs } from './options.js';
import type { StoredSnippet } from './part.js';
import type { Checkpoint } from './run-journal.js';
import { StaleWorkError } from './stale-work.js';

/** Rows are handed to the system in pieces of about this size. */
const ROWS_BYTES = 1 << 16;

/** The tar and the manifest of a run while they grow, side by side, in the order of member names. */
export class OutputsWriter {
  readonly #outputs: CutOutputs;
  readonly #tar: TarAppender;
  readonly #manifest: FileHandle;
  readonly #parts = new Map<string, FileHandle>();
  #manifestBytes: number;
  #rows: string[] = [];
  #rowsLength = 0;
  #lastMember: string | undefined;

  private constructor(outputs: CutOutputs, tar: TarAppender, manifest: FileHandle, from: Checkpoint) {
    this.#outputs = outputs;
    this.#tar = tar;
    this.#manifest = manifest;
    this.#manifestBytes = from.manifestBytes;
    this.#lastMember = from.lastMember;
  }

  /**
   * Opens both files and cuts them back to the checkpoint.
   *
   * @throws StaleWorkError when they are shorter than the checkpoint; OutputError when they cannot be opened
   */
  static async open(outputs: CutOutputs, from: Checkpoint): Promise<OutputsWriter> {
    const { tarBytes: resumeAtBytes, lastMember: lastName } = from;
    const path = partialPath(outputs.manifest);
    await requireBytes(partialPath(outputs.tar), resumeAtBytes);
    await requireBytes(path, from.manifestBytes);
    const tar = await TarAppender.open(partialPath(outputs.tar), { resumeAtBytes, sorted: true, lastName });
    try {
      const manifest = await open(path, from.manifestBytes === 0 ? 'w' : 'r+');
      try {
        await manifest.truncate(from.manifestBytes);
        return new OutputsWriter(outputs, tar, manifest, from);
      } catch (error) {
        await manifest.close();
        throw error;
      }
    } catch (error) {
      await tar.close();
      throw writeFailure(error, { action: 'Cannot open', path });
    }
  }

  /** Bytes written and not yet on the disk for sure are counted too. */
  get tarBytes(): number {
    return this.#tar.offsetBytes;
  }

  /** Appends a snippet and its row. */
  async append(member: string, snippet: StoredSnippet, row: string): Promise<void> {
    const { bytes } = snippet;
    if (bytes === undefined) throw new RangeError(`"${member}" has no bytes`);
    await this.#tar.appendFrom(await this.#part(snippet.partPath), bytes.offset, bytes.size, member);
    this.#rows.push(row, '\n');
    this.#rowsLength += row.length + 1;
    this.#lastMember = member;
    if (this.#rowsLength >= ROWS_BYTES) await this.#writeRows();
  }

  /** Closes the part files of a recording. */
  async release(partPaths: Iterable<string>): Promise<void> {
    for (const path of new Set(partPaths)) {
      await this.#parts.get(path)?.close();
      this.#parts.delete(path);
    }
  }

  /** Waits until all is on the disk, and says how far that is. */
  async sync(members: number): Promise<Checkpoint> {
    await this.#writeRows();
    await this.#tar.sync();
    await this.#guard(() => this.#manifest.sync());
    return {
      members,
      tarBytes: this.#tar.offsetBytes,
      manifestBytes: this.#manifestBytes,
      lastMember: this.#lastMember,
    };
  }

  /** Completes the tar. */
  async finish(): Promise<{ tarBytes: number; manifestBytes: number }> {
    await this.#writeRows();
    await this.#guard(() => this.#manifest.sync());
    return { tarBytes: await this.#tar.finish(), manifestBytes: this.#manifestBytes };
  }

  async close(): Promise<void> {
    await this.release([...this.#parts.keys()]);
    await this.#tar.close();
    await this.#manifest.close();
  }

  async #part(path: string): Promise<FileHandle> {
    const opened = this.#parts.get(path) ?? (await open(path));
    this.#parts.set(path, opened);
    return opened;
  }

  async #writeRows(): Promise<void> {
    if (this.#rowsLength === 0) return;
    const bytes = Buffer.from(this.#rows.join(''));
    this.#rows = [];
    this.#rowsLength = 0;
    await this.#guard(async () => {
      for (let written = 0; written < bytes.length;) {
        const at = this.#manifestBytes + written;
        written += (await this.#manifest.write(bytes, written, bytes.length - written, at)).bytesWritten;
      }
    });
    this.#manifestBytes += bytes.length;
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot write', path: partialPath(this.#outputs.manifest) });
    }
  }
}

async function requireBytes(path: string, neededBytes: number): Promise<void> {
  const sizeBytes = await sizeOf(path);
  if ((sizeBytes ?? 0) >= neededBytes) return;
  const state = sizeBytes === undefined ? 'it is gone' : `it has ${sizeBytes} bytes`;
  throw new StaleWorkError(`Cannot go on with "${path}": ${state}, the journal says ${neededBytes} bytes`, { path });
}
