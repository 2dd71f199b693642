import { closeSync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { writeFailure } from '../tar/write-failure.js';
import { MemberStream } from './member-stream.js';

const ROWS_BUFFER_LENGTH = 1 << 18;

/** A tar and its manifest while they grow side by side. The process waits for each write. */
export class ShardWriter {
  readonly members: MemberStream;
  readonly #manifestPath: string;
  readonly #manifest: number;
  #rows: string[] = [];
  #rowsLength = 0;
  #manifestBytes: number;

  /**
   * Opens both, and cuts them to their sizes: there a member and a row must end.
   *
   * @throws {OutputError} when one of them cannot be opened.
   */
  constructor(paths: { tar: string; manifest: string }, sizes: { tarBytes: number; manifestBytes: number }) {
    this.#manifestPath = paths.manifest;
    this.#manifestBytes = sizes.manifestBytes;
    this.members = new MemberStream(paths.tar, sizes.tarBytes);
    this.#manifest = this.#guard(() => openSync(paths.manifest, sizes.manifestBytes === 0 ? 'w' : 'r+'), 'Cannot open');
    this.#guard(() => ftruncateSync(this.#manifest, sizes.manifestBytes));
  }

  get tarBytes(): number {
    return this.members.offsetBytes;
  }

  /** Appends a line to the manifest. */
  addRow(json: string): void {
    this.#rows.push(json, '\n');
    this.#rowsLength += json.length;
    if (this.#rowsLength >= ROWS_BUFFER_LENGTH) this.#flushRows();
  }

  /** Waits until all is on the disk; answers the sizes that can be gone back to. */
  sync(): { tarBytes: number; manifestBytes: number } {
    this.members.sync();
    this.#syncRows();
    return { tarBytes: this.members.offsetBytes, manifestBytes: this.#manifestBytes };
  }

  /** Ends the archive, and waits until all is on the disk; answers the sizes of both. */
  finish(): { tarBytes: number; manifestBytes: number } {
    const tarBytes = this.members.finish();
    this.#syncRows();
    return { tarBytes, manifestBytes: this.#manifestBytes };
  }

  close(): void {
    this.members.close();
    closeSync(this.#manifest);
  }

  #syncRows(): void {
    this.#flushRows();
    this.#guard(() => fdatasyncSync(this.#manifest), 'Cannot sync');
  }

  #flushRows(): void {
    const bytes = Buffer.from(this.#rows.join(''));
    for (let written = 0; written < bytes.length;) {
      const from = written;
      const neededBytes = bytes.length - from;
      written += this.#guard(
        () => writeSync(this.#manifest, bytes, from, neededBytes, this.#manifestBytes + from),
        'Cannot write',
        neededBytes,
      );
    }
    this.#manifestBytes += bytes.length;
    this.#rows = [];
    this.#rowsLength = 0;
  }

  #guard<T>(operation: () => T, action = 'Cannot write', neededBytes?: number): T {
    try {
      return operation();
    } catch (error) {
      throw writeFailure(error, { action, path: this.#manifestPath, neededBytes });
    }
  }
}
