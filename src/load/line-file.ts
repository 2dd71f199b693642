import { close, createReadStream, open, read } from 'node:fs';
import { tmpdir } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { CutroomError, errorMessage, InputError } from '../errors.js';
import { isGzip } from '../tar/faults.js';
import { writeFailure } from '../tar/write-failure.js';
import { closeNamelessFile, openNamelessFile, writeAllAt, type NamelessFile } from './nameless-file.js';

const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);

const GZIP_START_BYTES = 2;
const CHUNK_BYTES = 64 * 1024;

/** Closes files of which nothing is left. */
const forgotten = new FinalizationRegistry<NamelessFile>(closeNamelessFile);

/**
 * A manifest that is read at any place; one in gzip is unpacked into a temporary file first, and places are those of the lines in it. One that is
 * never closed, as those of a loader that nobody closes, is closed in silence when it is collected: Node warns of a `FileHandle` then, and is going
 * to throw.
 */
export class LineFile {
  readonly #held: NamelessFile;

  private constructor(held: NamelessFile) {
    this.#held = held;
    forgotten.register(this, held, this);
  }

  /**
   * @throws InputError when it is gzip that is damaged, OutputError when there is no room to unpack it.
   * @throws what the system says.
   */
  static async open(path: string): Promise<LineFile> {
    const file = await openFile(path, 'r');
    let unpacked: NamelessFile | undefined;
    try {
      if (await isCompressed(file)) unpacked = await unpack(file, path);
    } catch (error) {
      await closeFile(file);
      throw error;
    }
    if (unpacked === undefined) return new LineFile({ file, leftPath: undefined });
    await closeFile(file);
    return new LineFile(unpacked);
  }

  /** As that of a `FileHandle`. */
  async read(into: Buffer, offset: number, length: number, positionBytes: number): Promise<{ bytesRead: number }> {
    return await readFile(this.#held.file, into, offset, length, positionBytes);
  }

  /** To be called once, when nothing is being read. */
  async close(): Promise<void> {
    forgotten.unregister(this);
    closeNamelessFile(this.#held);
  }
}

async function isCompressed(file: number): Promise<boolean> {
  const { buffer, bytesRead } = await readFile(file, Buffer.alloc(GZIP_START_BYTES), 0, GZIP_START_BYTES, 0);
  return isGzip(buffer.subarray(0, bytesRead));
}

async function unpack(file: number, path: string): Promise<NamelessFile> {
  const unpacked = inRoom(openNamelessFile);
  let endBytes = 0;
  try {
    const packed = createReadStream('', { fd: file, start: 0, autoClose: false });
    await pipeline(packed, createGunzip({ chunkSize: CHUNK_BYTES }), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        inRoom(() => writeAllAt(unpacked.file, chunk, endBytes));
        endBytes += chunk.length;
      }
    });
    return unpacked;
  } catch (error) {
    closeNamelessFile(unpacked);
    if (error instanceof CutroomError) throw error;
    throw new InputError(
      `Cannot unpack "${path}" behind byte ${endBytes.toLocaleString('en-US')} of what it holds: ${errorMessage(error)}`,
      {
        path,
        hint: 'The compressed file was not written or transferred to its end, or is damaged; fetch it or make it again.',
        cause: error,
      },
    );
  }
}

/** @throws OutputError when there is no room, or no folder for it. */
function inRoom<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw writeFailure(error, { action: 'Cannot unpack a manifest into', path: tmpdir() });
  }
}
