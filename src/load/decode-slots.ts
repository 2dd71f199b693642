import { readSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { CutroomError } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';
import { closeNamelessFile, openNamelessFile, writeAllAt, type NamelessFile } from './nameless-file.js';

/**
 * A place that a process leaves what it decoded in: a file without a name, which lives in the system's cache of files. What lies there costs one
 * copy to write and one to read, a third of what messages between processes cost.
 *
 * ```
 * 0  u32 the item that is being decoded, by its number in the group
 * 8  samples and encoded bytes, one behind the other
 * ```
 */
const PROGRESS_BYTES = 4;
export const SLOT_BODY_BYTES = 8;

/** The first file of a process that is one of a pool's slots. */
const FIRST_CHILD_FILE = 4;

/** Slots of a pool, as the process sees them that starts the others. */
export class DecodeSlots implements Disposable {
  readonly #slots: NamelessFile[] = [];
  readonly #free: number[];
  readonly #waiting: ((slot: number) => void)[] = [];

  /** @throws OutputError when the folder of temporary files takes none, or too many files are open. */
  constructor(count: number) {
    try {
      while (this.#slots.length < count) this.#slots.push(openNamelessFile());
    } catch (error) {
      this[Symbol.dispose]();
      throw slotFailure(error);
    }
    this.#free = this.#slots.map((_, slot) => slot);
  }

  /** In the order of their numbers. */
  get files(): readonly number[] {
    return this.#slots.map(({ file }) => file);
  }

  /** A slot of one's own, until it is given back. */
  async take(): Promise<number> {
    return this.#free.pop() ?? (await new Promise((resolve) => void this.#waiting.push(resolve)));
  }

  giveBack(slot: number): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(slot);
    else next(slot);
  }

  read(slot: number, offsetBytes: number, into: Uint8Array): void {
    for (let filled = 0; filled < into.length;) {
      const read = readSync(this.#fileOf(slot), into, filled, into.length - filled, offsetBytes + filled);
      if (read === 0) throw new Error('A decoder process left less than it said');
      filled += read;
    }
  }

  /** Which item of its group a process was at. */
  progress(slot: number): number {
    const bytes = Buffer.alloc(PROGRESS_BYTES);
    this.read(slot, 0, bytes);
    return bytes.readUInt32LE(0);
  }

  /** @throws OutputError when there is no room for it. */
  clearProgress(slot: number): void {
    noteProgress(this.#fileOf(slot), 0);
  }

  [Symbol.dispose](): void {
    for (const slot of this.#slots) closeNamelessFile(slot);
  }

  #fileOf(slot: number): number {
    const own = this.#slots[slot];
    if (own === undefined) throw new RangeError(`There is no slot ${slot}`);
    return own.file;
  }
}

/** One slot of a pool, as the process sees it that decodes. */
export class SlotWriter {
  readonly #file: number;
  #endBytes = SLOT_BODY_BYTES;

  constructor(slot: number) {
    this.#file = FIRST_CHILD_FILE + slot;
  }

  /** @throws OutputError when there is no room for it. */
  noteProgress(item: number): void {
    noteProgress(this.#file, item);
  }

  /**
   * @returns where the bytes begin.
   * @throws OutputError when there is no room for them.
   */
  write(bytes: Uint8Array): number {
    const offsetBytes = this.#endBytes;
    writeAt(this.#file, bytes, offsetBytes);
    this.#endBytes += bytes.length;
    return offsetBytes;
  }
}

function noteProgress(file: number, item: number): void {
  const bytes = Buffer.alloc(PROGRESS_BYTES);
  bytes.writeUInt32LE(item);
  writeAt(file, bytes, 0);
}

function writeAt(file: number, bytes: Uint8Array, offsetBytes: number): void {
  try {
    writeAllAt(file, bytes, offsetBytes);
  } catch (error) {
    throw slotFailure(error);
  }
}

function slotFailure(error: unknown): CutroomError {
  return writeFailure(error, { action: 'Cannot hold decoded audio in', path: tmpdir() });
}
