/** Some seconds of several items. */
const CHUNK_BYTES = 4 * 2 ** 20;
/** Chunks that wait to be used again, at most: some more than a batch of ten minutes at 16 kHz takes. */
const MAX_FREE = 16;

/**
 * Memory for samples of items that are wanted for about the same time, which is used again: getting new memory from the system costs as much as
 * copying what goes into it five times. Items of all lengths lie in chunks of one length, so that each fits what comes next:
 *
 * ```
 * chunk 1   | item 1 | item 2      | item 3    |..|    free once all three were given back
 * chunk 2   | item 4            |· · · · · · · · ·     the next ones go here
 * ```
 */
export class SampleChunks {
  readonly #free: Chunk[] = [];
  readonly #chunks = new WeakMap<ArrayBufferLike, Chunk>();
  #chunk: Chunk | undefined;
  #filledBytes = CHUNK_BYTES;

  /** Room for so many samples, which may hold anything. */
  readonly take = (samples: number): Float32Array<ArrayBuffer> => {
    const bytes = samples * Float32Array.BYTES_PER_ELEMENT;
    if (bytes === 0 || bytes > CHUNK_BYTES) return new Float32Array(samples);
    if (this.#chunk === undefined || this.#filledBytes + bytes > CHUNK_BYTES) {
      this.#chunk = this.#free.pop() ?? this.#make();
      this.#filledBytes = 0;
    }
    const start = this.#filledBytes;
    this.#chunk.given.add(start);
    this.#filledBytes += bytes;
    return new Float32Array(this.#chunk.memory, start, samples);
  };

  /** Takes back what `take` gave, or the start of it; nobody looks at it any more. Memory of others, and what was given back before, is left alone. */
  giveBack({ buffer, byteOffset }: Pick<ArrayBufferView, 'buffer' | 'byteOffset'>): void {
    const chunk = this.#chunks.get(buffer);
    if (chunk === undefined || !chunk.given.delete(byteOffset) || chunk.given.size > 0) return;
    if (chunk === this.#chunk) this.#filledBytes = 0;
    else if (this.#free.length < MAX_FREE) this.#free.push(chunk);
  }

  #make(): Chunk {
    const chunk: Chunk = { memory: new ArrayBuffer(CHUNK_BYTES), given: new Set() };
    this.#chunks.set(chunk.memory, chunk);
    return chunk;
  }
}

interface Chunk {
  memory: ArrayBuffer;
  /** Where what is in use begins. */
  given: Set<number>;
}
