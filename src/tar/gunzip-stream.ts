import type { FileHandle } from 'node:fs/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { errorMessage, InputError } from '../errors.js';
import type { TarSource } from './source.js';

/** What may be asked for again: the reader's offsets go back by no more. */
const KEPT_BYTES = 4096;

/** A tar inside gzip, read from its start to its end. Offsets are those of the tar. */
export class GunzipStream implements TarSource {
  readonly path: string;
  sizeBytes: number | undefined;
  readonly #gunzip: Gunzip;
  readonly #chunks: AsyncIterator<Buffer>;
  #held = Buffer.alloc(0);
  #heldOffsetBytes = 0;

  constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#gunzip = createGunzip();
    const file = handle.createReadStream({ start: 0 });
    file.on('error', (error) => this.#gunzip.destroy(error));
    this.#gunzip.on('close', () => file.destroy());
    this.#chunks = file.pipe(this.#gunzip)[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    // The file is closed with the stream that reads it.
    this.#gunzip.destroy();
    await this.#chunks.return?.();
  }

  async bytesAt(offsetBytes: number, minBytes: number): Promise<Buffer> {
    const end = offsetBytes + minBytes;
    while (this.sizeBytes === undefined && this.#heldOffsetBytes + this.#held.length < end)
      await this.#pull(offsetBytes);
    return this.#held.subarray(Math.max(0, offsetBytes - this.#heldOffsetBytes));
  }

  /** Takes the next piece, and lets go of what lies well before an offset. */
  async #pull(offsetBytes: number): Promise<void> {
    const position = this.#heldOffsetBytes + this.#held.length;
    let step: IteratorResult<Buffer, unknown>;
    try {
      step = await this.#chunks.next();
    } catch (error) {
      const where = `at byte ${position.toLocaleString('en-US')} of the tar in it`;
      throw new InputError(`Cannot read "${this.path}" ${where}: ${errorMessage(error)}`, {
        path: this.path,
        offsetBytes: position,
        hint: 'The compressed file was not written or transferred to its end, or is damaged; fetch it or make it again.',
        cause: error,
      });
    }
    if (step.done === true) {
      this.sizeBytes = position;
      return;
    }
    const drop = Math.min(this.#held.length, Math.max(0, offsetBytes - KEPT_BYTES - this.#heldOffsetBytes));
    this.#held = Buffer.concat([this.#held.subarray(drop), step.value]);
    this.#heldOffsetBytes += drop;
  }
}
