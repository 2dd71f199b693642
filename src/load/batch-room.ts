import type { SampleRooms } from './sample-rooms.js';

/**
 * Memory of a batch that its items are decoded into, at the places where they will lie in it: what fits is never copied.
 *
 * ```
 * divided   |item 1    |item 2    |item 3    |     parts of the length that the longest item should have
 * batch     |a a a a a |b b b 0 0 |c c c c 0 |     the same memory, where that is its length
 * ```
 */
export class BatchRoom {
  readonly #rooms: SampleRooms;
  readonly #count: number;
  readonly #longest: number;
  #memory: Float32Array<ArrayBuffer> | undefined;

  /** @param longest samples of the longest of the items, as far as is known */
  constructor(rooms: SampleRooms, count: number, longest: number) {
    this.#rooms = rooms;
    this.#count = count;
    this.#longest = longest;
  }

  /** Of what would be divided. */
  get sizeBytes(): number {
    return this.#count * this.#longest * Float32Array.BYTES_PER_ELEMENT;
  }

  /** A part for each item; one that is longer needs memory of its own. */
  readonly divide = (): Float32Array<ArrayBuffer>[] => {
    const longest = this.#longest;
    const memory = this.#rooms.take(this.#count * longest);
    this.#memory = memory;
    return Array.from({ length: this.#count }, (_, at) => memory.subarray(at * longest, (at + 1) * longest));
  };

  /** Memory for the batch: what was divided, if it has so many items of that length after all, and else other memory, to copy them to. */
  readonly take = (count: number, longest: number): Float32Array<ArrayBuffer> => {
    const isAsPlanned = count === this.#count && longest === this.#longest;
    return (isAsPlanned ? this.#memory : undefined) ?? this.#rooms.take(count * longest);
  };

  /** Whether memory was divided for items of another length than they have. */
  isMisjudged(longest: number): boolean {
    return this.#memory !== undefined && longest !== this.#longest;
  }
}
