/** What waits to be used again, at most. */
const MAX_BYTES = 64 * 2 ** 20;
/** Sizes are rounded up to so many samples, so that a room fits the next item too. */
const STEP_SAMPLES = 1 << 14;
/** A room that is so much larger than what it is wanted for is left for another. */
const MAX_WASTE = 4;

/** Memory for samples that is used again: getting new memory from the system costs as much as copying what goes into it twice. */
export class SampleRooms {
  readonly #free: ArrayBuffer[] = [];
  #bytes = 0;

  /** Room for so many samples, which may hold anything. */
  take(samples: number): Float32Array<ArrayBuffer> {
    const bytes = samples * Float32Array.BYTES_PER_ELEMENT;
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= bytes && byteLength <= bytes * MAX_WASTE);
    const [found] = at < 0 ? [] : this.#free.splice(at, 1);
    this.#bytes -= found?.byteLength ?? 0;
    const step = STEP_SAMPLES * Float32Array.BYTES_PER_ELEMENT;
    return new Float32Array(found ?? new ArrayBuffer(Math.ceil(bytes / step) * step), 0, samples);
  }

  /** Takes back the memory of what `take` gave, which nobody looks at any more. */
  giveBack(room: ArrayBuffer): void {
    if (this.#bytes + room.byteLength > MAX_BYTES) return;
    this.#bytes += room.byteLength;
    this.#free.push(room);
  }
}
