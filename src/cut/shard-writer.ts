import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { partialPath, sizeOf } from '../run/atomic-file.js';
import { writeFailure } from '../tar/write-failure.js';
import { TarAppender } from '../tar/writer.js';
import type { ShardPlaces } from './shard-files.js';
import { StaleWorkError } from './stale-work.js';

/** Rows are handed to the system in pieces of about this size. */
const ROWS_BYTES = 1 << 16;

/** Members that stand one after another in another tar are copied in pieces of about this size. */
const MEMBERS_BYTES = 1 << 22;

/** How far a tar and its manifest are. */
export interface ShardExtent {
  tarBytes: number;
  manifestBytes: number;
}

/** A tar and its manifest while they grow, side by side, in the order of member names. */
export class ShardWriter {
  readonly #manifestPath: string;
  readonly #tar: TarAppender;
  readonly #manifest: FileHandle;
  #manifestBytes: number;
  #rows: string[] = [];
  #rowsLength = 0;
  /** Members that are to be copied together. */
  #members: { file: FileHandle; startBytes: number; endBytes: number; first: string; last: string } | undefined;

  private constructor(manifestPath: string, tar: TarAppender, manifest: FileHandle, manifestBytes: number) {
    this.#manifestPath = manifestPath;
    this.#tar = tar;
    this.#manifest = manifest;
    this.#manifestBytes = manifestBytes;
  }

  /**
   * Opens both files and cuts them back to where they were.
   *
   * @param lastName of the member before the next one
   * @throws StaleWorkError when they are shorter; OutputError when they cannot be opened
   */
  static async open(places: ShardPlaces, from: ShardExtent, lastName: string | undefined): Promise<ShardWriter> {
    const { tarBytes: resumeAtBytes, manifestBytes } = from;
    const path = partialPath(places.manifest);
    await requireBytes(partialPath(places.tar), resumeAtBytes);
    await requireBytes(path, manifestBytes);
    const tar = await TarAppender.open(partialPath(places.tar), { resumeAtBytes, sorted: true, lastName });
    try {
      const manifest = await open(path, manifestBytes === 0 ? 'w' : 'r+');
      try {
        await manifest.truncate(manifestBytes);
        return new ShardWriter(path, tar, manifest, manifestBytes);
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
    const { startBytes = 0, endBytes = 0 } = this.#members ?? {};
    return this.#tar.offsetBytes + endBytes - startBytes;
  }

  /**
   * Appends a member, of which the bytes lie in another file, and its row.
   *
   * @param bytes with the header and the padding of a tar where it `isMember`; they may be read as late as at the next `flush`.
   */
  async append(
    member: string,
    bytes: { file: FileHandle; offsetBytes: number; sizeBytes: number; isMember: boolean },
    row: string,
  ): Promise<void> {
    const { file, offsetBytes, sizeBytes, isMember } = bytes;
    if (isMember) {
      await this.#appendMember(member, file, offsetBytes, sizeBytes);
    } else {
      await this.#tar.appendFrom(file, offsetBytes, sizeBytes, member);
    }
    this.#rows.push(row, '\n');
    this.#rowsLength += row.length + 1;
    if (this.#rowsLength >= ROWS_BYTES) await this.#writeRows();
  }

  /** Reads what has not been read yet of the files of members. */
  async flush(): Promise<void> {
    const members = this.#members;
    if (members === undefined) return;
    this.#members = undefined;
    const { file, startBytes, endBytes } = members;
    await this.#tar.appendMembers(file, startBytes, endBytes - startBytes, members);
  }

  /** Waits until all is on the disk, and says how far that is. */
  async sync(): Promise<ShardExtent> {
    await this.flush();
    await this.#writeRows();
    await this.#tar.sync();
    await this.#guard(() => this.#manifest.sync());
    return { tarBytes: this.#tar.offsetBytes, manifestBytes: this.#manifestBytes };
  }

  /** Completes the tar. */
  async finish(): Promise<ShardExtent> {
    await this.flush();
    await this.#writeRows();
    await this.#guard(() => this.#manifest.sync());
    return { tarBytes: await this.#tar.finish(), manifestBytes: this.#manifestBytes };
  }

  async close(): Promise<void> {
    await this.#tar.close();
    await this.#manifest.close();
  }

  async #appendMember(name: string, file: FileHandle, startBytes: number, sizeBytes: number): Promise<void> {
    const held = this.#members;
    if (held?.file === file && held.endBytes === startBytes && held.endBytes - held.startBytes < MEMBERS_BYTES) {
      held.endBytes += sizeBytes;
      held.last = name;
      return;
    }
    await this.flush();
    this.#members = { file, startBytes, endBytes: startBytes + sizeBytes, first: name, last: name };
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
      throw writeFailure(error, { action: 'Cannot write', path: this.#manifestPath });
    }
  }
}

/**
 * Finds out that a file which is to be gone on with is there.
 *
 * @throws StaleWorkError when it has fewer bytes
 */
export async function requireBytes(path: string, neededBytes: number): Promise<void> {
  const sizeBytes = await sizeOf(path);
  if ((sizeBytes ?? 0) >= neededBytes) return;
  const state = sizeBytes === undefined ? 'it is gone' : `it has ${sizeBytes} bytes`;
  throw new StaleWorkError(`Cannot go on with "${path}": ${state}, the journal says ${neededBytes} bytes`, { path });
}
