export interface SampleRoomsOptions {
  /** What waits to be used again, at most. */
  maxBytes?: number;
  /** Rooms are so large, or a multiple of it, so that one fits the next item too. */
  stepSamples?: number;
}

const MAX_BYTES = 64 * 2 ** 20;
const STEP_SAMPLES = 1 << 14;
/** A room that is so much larger than what it is wanted for is left for another. */
const MAX_WASTE = 4;

/** Memory for samples that is used again: getting new memory from the system costs as much as copying what goes into it five times. */
export class SampleRooms {
  readonly #maxBytes: number;
  readonly #stepBytes: number;
  readonly #free: ArrayBuffer[] = [];
  /** Rooms that may be taken back. */
  readonly #given = new WeakSet<ArrayBuffer>();
  #bytes = 0;

  constructor({ maxBytes = MAX_BYTES, stepSamples = STEP_SAMPLES }: SampleRoomsOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#stepBytes = stepSamples * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Room for so many samples, which may hold anything. */
  readonly take = (samples: number): Float32Array<ArrayBuffer> => {
    const bytes = samples * Float32Array.BYTES_PER_ELEMENT;
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= bytes && byteLength <= bytes * MAX_WASTE);
    const [found] = at < 0 ? [] : this.#free.splice(at, 1);
    this.#bytes -= found?.byteLength ?? 0;
    const room = found ?? new ArrayBuffer(Math.ceil(bytes / this.#stepBytes) * this.#stepBytes);
    this.#given.add(room);
    return new Float32Array(room, 0, samples);
  };

  /** Takes back what `take` gave, or a part of it; nobody looks at it any more. Memory of others, and what was given back before, is left alone. */
  giveBack({ buffer }: Float32Array): void {
    // Twice given back, it would be given to two.
    if (!(buffer instanceof ArrayBuffer && this.#given.delete(buffer))) return;
    this.#bytes += buffer.byteLength;
    this.#free.push(buffer);
    // The one that nobody wanted for the longest.
    while (this.#bytes > this.#maxBytes) this.#bytes -= this.#free.shift()?.byteLength ?? this.#bytes;
  }
}
