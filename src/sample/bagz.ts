import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage, InputError } from '../errors.js';
import { readZstd, storeAsZstd } from './zstd.js';

const LIMIT_BYTES = 8;
/** No record of ours comes near; a damaged file must not ask for all memory. */
const MAX_RECORD_BYTES = 1 << 30;

/**
 * Records of a bag: they stand one behind the other, and behind them the end of each, as 8 bytes little-endian. With a name in `.bagz` each is
 * compressed by Zstandard; one of no bytes stays so.
 *
 * ```
 * record 0 | record 1 | record 2 | end of 0 | end of 1 | end of 2
 *                                ^ where the last 8 bytes of the file point to
 * ```
 */
export class BagReader implements Disposable {
  /** How many records there are. */
  readonly count: number;
  readonly #path: string;
  readonly #file: number;
  readonly #limitsOffset: number;

  /** @throws InputError where the file cannot be opened or is no bag. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, 'r');
    } catch (error) {
      throw new InputError(`Cannot open "${path}": ${errorMessage(error)}`, {
        path,
        cause: error,
        hint: 'Make the cache anew.',
      });
    }
    try {
      const fileBytes = fstatSync(this.#file).size;
      this.#limitsOffset = fileBytes === 0 ? 0 : this.#readLimit(fileBytes - LIMIT_BYTES);
      const limitsBytes = fileBytes - this.#limitsOffset;
      if (limitsBytes < 0 || limitsBytes % LIMIT_BYTES !== 0)
        this.#refuse('its end does not say where its records end');
      this.count = limitsBytes / LIMIT_BYTES;
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** @throws InputError where the record is damaged; RangeError where there is none. */
  read(index: number): Uint8Array {
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.count)
      throw new RangeError(`"${this.#path}" has ${this.count} records, and no record ${index}`);
    const limitAt = this.#limitsOffset + index * LIMIT_BYTES;
    const start = index === 0 ? 0 : this.#readLimit(limitAt - LIMIT_BYTES);
    const end = this.#readLimit(limitAt);
    if (start > end || end > this.#limitsOffset || end - start > MAX_RECORD_BYTES)
      this.#refuse(`record ${index} goes from byte ${start} to ${end}`);
    const bytes = this.#readBytes(start, end - start);
    if (bytes.length === 0 || !this.#path.endsWith('.bagz')) return bytes;
    try {
      return readZstd(bytes);
    } catch (error) {
      return this.#refuse(`record ${index} cannot be decompressed: ${errorMessage(error)}`);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #readLimit(offset: number): number {
    if (offset < 0) this.#refuse('it is too short');
    return Number(this.#readBytes(offset, LIMIT_BYTES).readBigUInt64LE());
  }

  #readBytes(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let got = 0; got < length;) {
      const size = readSync(this.#file, bytes, got, length - got, offset + got);
      if (size === 0) this.#refuse(`it ends before byte ${offset + length}`);
      got += size;
    }
    return bytes;
  }

  #refuse(state: string): never {
    throw new InputError(`Cannot read "${this.#path}": ${state}`, {
      path: this.#path,
      hint: 'The file is damaged or no bag: make the cache anew.',
    });
  }
}

/** Writes a compressed bag record by record; only where each ends is kept. */
export class BagWriter {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #limits = new Float64Array(1024);
  #count = 0;
  #endBytes = 0;

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  async add(record: Uint8Array): Promise<void> {
    if (record.length > 0) {
      const frame = storeAsZstd(record);
      this.#endBytes += frame.length;
      await this.#write(frame);
    }
    if (this.#count === this.#limits.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#limits);
      this.#limits = larger;
    }
    this.#limits[this.#count] = this.#endBytes;
    this.#count += 1;
  }

  /** Writes where the records end. A bag without records is an empty file. */
  async finish(): Promise<void> {
    for (let from = 0; from < this.#count; from += 4096) {
      const limits = this.#limits.subarray(from, Math.min(from + 4096, this.#count));
      const bytes = Buffer.alloc(limits.length * LIMIT_BYTES);
      for (const [index, limit] of limits.entries()) bytes.writeBigUInt64LE(BigInt(limit), index * LIMIT_BYTES);
      await this.#write(bytes);
    }
  }
}
