import { closeSync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { ByteSink } from '../audio/snippet-encoder.js';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '../tar/header.js';
import { writeFailure } from '../tar/write-failure.js';
import { ItemFault } from './item-fault.js';

const BUFFER_BYTES = 1 << 20;

/** Reads up to `length` bytes into the buffer at `offset`, and answers how many it read. */
export type ReadInto = (buffer: Buffer, offset: number, length: number) => number;

interface OpenMember {
  name: string;
  /** Where its header begins. */
  offset: number;
  headerBytes: number;
}

/**
 * Writes a tar of which the sizes of the members are not known before they are made. The process waits for each write.
 *
 * ```
 * on the disk | buffer: … payload, padding, room for a header, payload so far |
 * ```
 *
 * The header is put in last, mostly while it is in the buffer. One buffer is all the memory that a member takes, however long it is.
 */
export class MemberStream implements ByteSink {
  readonly #path: string;
  readonly #file: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  /** Where the buffer's start belongs in the file. */
  #bufferOffset: number;
  #bufferedBytes = 0;
  #member: OpenMember | undefined;

  /**
   * Opens a tar, and cuts it to `sizeBytes`: there a member must end.
   *
   * @throws {OutputError} when it cannot be opened.
   */
  constructor(path: string, sizeBytes: number) {
    this.#path = path;
    this.#bufferOffset = sizeBytes;
    this.#file = this.#guard(() => openSync(path, sizeBytes === 0 ? 'w' : 'r+'), 'Cannot open');
    this.#guard(() => ftruncateSync(this.#file, sizeBytes));
  }

  /** Where the next byte goes. */
  get offsetBytes(): number {
    return this.#bufferOffset + this.#bufferedBytes;
  }

  /**
   * Begins a member.
   *
   * @param sizeBytes of the payload, where it is known: only members of 8 GiB and more need it.
   */
  begin(name: string, sizeBytes = 0): void {
    const headerBytes = tarHeader({ name, sizeBytes }).length;
    this.#member = { name, offset: this.offsetBytes, headerBytes };
    this.#pad(headerBytes);
  }

  write(bytes: Uint8Array): void {
    for (let taken = 0; taken < bytes.length;) {
      if (this.#bufferedBytes === BUFFER_BYTES) this.#flush();
      const part = bytes.subarray(taken, taken + BUFFER_BYTES - this.#bufferedBytes);
      this.#buffer.set(part, this.#bufferedBytes);
      this.#bufferedBytes += part.length;
      taken += part.length;
    }
  }

  /** Takes so many bytes from a reader that fills the buffer itself; answers how many there were before its end. */
  take(sizeBytes: number, readInto: ReadInto): number {
    for (let taken = 0; taken < sizeBytes;) {
      if (this.#bufferedBytes === BUFFER_BYTES) this.#flush();
      const wanted = Math.min(sizeBytes - taken, BUFFER_BYTES - this.#bufferedBytes);
      const read = readInto(this.#buffer, this.#bufferedBytes, wanted);
      if (read === 0) return taken;
      this.#bufferedBytes += read;
      taken += read;
    }
    return sizeBytes;
  }

  /** Replaces bytes of the payload. */
  patch(offsetBytes: number, bytes: Uint8Array): void {
    const { offset, headerBytes } = this.#openMember();
    this.#overwrite(offset + headerBytes + offsetBytes, bytes);
  }

  /**
   * Completes a member.
   *
   * @throws {ItemFault} when it turned out to be longer than its header has room for.
   */
  end(): void {
    const { name, offset, headerBytes } = this.#openMember();
    const sizeBytes = this.offsetBytes - offset - headerBytes;
    const header = tarHeader({ name, sizeBytes });
    if (header.length !== headerBytes) {
      throw new ItemFault(
        'too_large',
        `Cannot write the member ${JSON.stringify(name)}: its audio takes 8 GiB or more`,
        {
          hint: 'Cut it into spans.',
        },
      );
    }
    this.#overwrite(offset, header);
    this.#pad(paddingBytes(sizeBytes));
    this.#member = undefined;
  }

  /** Cuts away the member that was begun, if there is one. */
  drop(): void {
    if (this.#member === undefined) return;
    const { offset } = this.#member;
    this.#member = undefined;
    if (offset >= this.#bufferOffset) {
      this.#bufferedBytes = offset - this.#bufferOffset;
      return;
    }
    this.#bufferOffset = offset;
    this.#bufferedBytes = 0;
    this.#guard(() => ftruncateSync(this.#file, offset));
  }

  /** Waits until all is on the disk. */
  sync(): void {
    this.#flush();
    this.#guard(() => fdatasyncSync(this.#file), 'Cannot sync');
  }

  /** Writes the end of the archive, and waits until all is on the disk; answers the size of the tar. */
  finish(): number {
    this.write(END_OF_ARCHIVE);
    this.sync();
    return this.offsetBytes;
  }

  close(): void {
    closeSync(this.#file);
  }

  #openMember(): OpenMember {
    if (this.#member === undefined) throw new TypeError('No member was begun');
    return this.#member;
  }

  #pad(sizeBytes: number): void {
    if (this.#bufferedBytes + sizeBytes > BUFFER_BYTES) {
      this.write(new Uint8Array(sizeBytes));
      return;
    }
    this.#buffer.fill(0, this.#bufferedBytes, this.#bufferedBytes + sizeBytes);
    this.#bufferedBytes += sizeBytes;
  }

  #overwrite(offset: number, bytes: Uint8Array): void {
    const onDisk = Math.max(0, Math.min(bytes.length, this.#bufferOffset - offset));
    if (onDisk > 0) this.#writeAt(bytes.subarray(0, onDisk), offset);
    if (onDisk < bytes.length) this.#buffer.set(bytes.subarray(onDisk), offset + onDisk - this.#bufferOffset);
  }

  #flush(): void {
    this.#writeAt(this.#buffer.subarray(0, this.#bufferedBytes), this.#bufferOffset);
    this.#bufferOffset += this.#bufferedBytes;
    this.#bufferedBytes = 0;
  }

  /** A disk that is nearly full takes a part; the next try then says why. */
  #writeAt(bytes: Uint8Array, offset: number): void {
    for (let written = 0; written < bytes.length;) {
      const from = written;
      const neededBytes = bytes.length - from;
      written += this.#guard(
        () => writeSync(this.#file, bytes, from, neededBytes, offset + from),
        'Cannot write',
        neededBytes,
      );
    }
  }

  #guard<T>(operation: () => T, action = 'Cannot write', neededBytes?: number): T {
    try {
      return operation();
    } catch (error) {
      throw writeFailure(error, { action, path: this.#path, neededBytes });
    }
  }
}
