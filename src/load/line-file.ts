import { close, open, read } from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);

/** Closes files of which nothing is left. */
const forgotten = new FinalizationRegistry<number>((file) => close(file, () => undefined));

/**
 * A file that is read at any place. One that is never closed, as those of a loader that nobody closes, is closed in silence when it is collected:
 * Node warns of a `FileHandle` then, and is going to throw.
 */
export class LineFile {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
    forgotten.register(this, file, this);
  }

  /** @throws what the system says. */
  static async open(path: string): Promise<LineFile> {
    return new LineFile(await openFile(path, 'r'));
  }

  /** As that of a `FileHandle`. */
  async read(into: Buffer, offset: number, length: number, positionBytes: number): Promise<{ bytesRead: number }> {
    return await readFile(this.#file, into, offset, length, positionBytes);
  }

  /** To be called once, when nothing is being read. */
  async close(): Promise<void> {
    forgotten.unregister(this);
    await closeFile(this.#file);
  }
}
