import { closeSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { systemCode } from '../errors.js';
import { writeFailure } from '../tar/write-failure.js';

/** What the file holds while no item is being made. */
export const NO_ITEM = -1;

/** Characters of the number in it. */
const LENGTH = 16;

/** Says which item of a shard is being made, for the parent, should the process die of it. */
export class AtFile {
  readonly #path: string;
  readonly #file: number;

  /** @throws {OutputError} when the file cannot be written. */
  constructor(path: string) {
    this.#path = path;
    this.#file = this.#guard(() => openSync(path, 'w'));
    this.set(NO_ITEM);
  }

  /** Names an item by its place in the shard, from 0. */
  set(item: number): void {
    this.#guard(() => writeSync(this.#file, String(item).padStart(LENGTH), 0));
  }

  close(): void {
    closeSync(this.#file);
  }

  #guard<T>(operation: () => T): T {
    try {
      return operation();
    } catch (error) {
      throw writeFailure(error, { action: 'Cannot write', path: this.#path });
    }
  }
}

/** Which item a process was at when it died. */
export async function readAt(path: string): Promise<number> {
  try {
    const item = Number.parseInt(await readFile(path, 'latin1'), 10);
    return Number.isNaN(item) ? NO_ITEM : item;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return NO_ITEM;
    throw writeFailure(error, { action: 'Cannot read', path });
  }
}
