import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage, systemCode } from '../errors.js';
import { BLOCK_BYTES } from '../tar/header.js';
import { ItemFault } from './item-fault.js';
import { isMemberAt } from './member-before.js';
import type { ReadInto } from './member-stream.js';
import type { PlannedItem } from './plan.js';

/** The bytes of an item's audio: a file, or a member of another tar. */
export class ItemSource implements Disposable {
  readonly sizeBytes: number;
  /** Names the audio in messages, quoted. */
  readonly title: string;
  readonly #file: number;
  #position: number;

  private constructor(file: number, title: string, offset: number, sizeBytes: number) {
    this.#file = file;
    this.title = title;
    this.#position = offset;
    this.sizeBytes = sizeBytes;
  }

  /**
   * Opens the audio of an item.
   *
   * @param path of the file, or of the tar that it is a member of.
   * @throws {ItemFault} when it is not there, not to be read or empty, or the tar is not the one that was planned.
   */
  static open(path: string, inside: PlannedItem['inside']): ItemSource {
    const title = inside === undefined ? `"${path}"` : `${JSON.stringify(inside.name)} in "${path}"`;
    const file = openAudio(path, title);
    try {
      const facts = fstatSync(file);
      if (!facts.isFile())
        throw new ItemFault('unreadable_recording', `Cannot read ${title}: it is not a regular file`);
      if (inside !== undefined) requireMember(file, inside, { title, tarBytes: facts.size });
      const sizeBytes = inside?.size ?? facts.size;
      if (sizeBytes === 0) throw new ItemFault('empty_recording', `Cannot read ${title}: the file is empty`);
      return new ItemSource(file, title, inside?.offset ?? 0, sizeBytes);
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  /** Reads on from where the last call ended. */
  readonly readInto: ReadInto = (buffer, offset, length) => {
    const read = readAt(this.#file, buffer, { offset, length, position: this.#position, title: this.title });
    this.#position += read;
    return read;
  };

  /** The error for audio that ended before its size. */
  shortened(readBytes: number): ItemFault {
    const bytes = readBytes.toLocaleString('en-US');
    return new ItemFault(
      'changed_recording',
      `Cannot copy ${this.title}: it became shorter, and ends at byte ${bytes}`,
    );
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

function openAudio(path: string, title: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new ItemFault('missing_recording', `Cannot read ${title}: there is no such file`, { cause: error });
    }
    throw new ItemFault('unreadable_recording', `Cannot read ${title}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function requireMember(
  file: number,
  inside: NonNullable<PlannedItem['inside']>,
  { title, tarBytes }: { title: string; tarBytes: number },
): void {
  const { offset, size } = inside;
  const read = (position: number, length: number): Buffer => {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readAt(file, buffer, { offset: 0, length, position, title }));
  };
  const isThere = offset >= BLOCK_BYTES && offset + size <= tarBytes && isMemberAt(read, inside);
  if (isThere) return;
  const message = `Cannot read ${title}: the tar does not hold it at byte ${offset.toLocaleString('en-US')}`;
  throw new ItemFault('changed_tar', message, { hint: 'The tar changed since the plan was made: plan anew.' });
}

function readAt(
  file: number,
  buffer: Buffer,
  { offset, length, position, title }: { offset: number; length: number; position: number; title: string },
): number {
  try {
    return readSync(file, buffer, offset, length, position);
  } catch (error) {
    const state = errorMessage(error);
    throw new ItemFault('unreadable_recording', `Cannot read ${title}: ${state} at byte ${position}`, { cause: error });
  }
}
