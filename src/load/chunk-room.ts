/** Some seconds of several items. */
const CHUNK_BYTES = 4 * 2 ** 20;

/** Room for the samples of one group of items, which goes to another thread as a whole: chunks that come back are used for the next group. */
export class ChunkRoom {
  #chunks: ArrayBuffer[] = [];
  #at = 0;
  #filledBytes = 0;

  /** Begins a group with what chunks there are. */
  begin(chunks: readonly ArrayBuffer[]): void {
    this.#chunks = [...chunks];
    this.#at = 0;
    this.#filledBytes = 0;
  }

  /** Ends it: all its chunks, used or not. */
  end(): ArrayBuffer[] {
    const chunks = this.#chunks;
    this.begin([]);
    return chunks;
  }

  /** Room for so many samples, which may hold anything; what no chunk has room for has memory of its own. */
  readonly take = (samples: number): Float32Array<ArrayBuffer> => {
    const bytes = samples * Float32Array.BYTES_PER_ELEMENT;
    if (bytes === 0 || bytes > CHUNK_BYTES) return new Float32Array(samples);
    if (this.#filledBytes + bytes > CHUNK_BYTES) {
      this.#at += 1;
      this.#filledBytes = 0;
    }
    const chunk = (this.#chunks[this.#at] ??= new ArrayBuffer(CHUNK_BYTES));
    const room = new Float32Array(chunk, this.#filledBytes, samples);
    this.#filledBytes += bytes;
    return room;
  };
}
