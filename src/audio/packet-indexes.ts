import type { PacketIndex } from './packet-index.js';

/** Indexes of recordings that were read before, within a bound of memory: the least recently used one is forgotten first. */
export class PacketIndexes {
  readonly #maxBytes: number;
  /** `undefined` for a recording that cannot have an index. */
  readonly #indexes = new Map<string, PacketIndex | undefined>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The index of a recording, made where it is not known. */
  get(path: string, make: () => PacketIndex | undefined): PacketIndex | undefined {
    const isKnown = this.#indexes.has(path);
    const index = isKnown ? this.#indexes.get(path) : make();
    this.forget(path);
    this.#indexes.set(path, index);
    this.#bytes += bytesOf(path, index);
    for (const [oldest] of this.#indexes) {
      if (this.#bytes <= this.#maxBytes || oldest === path) break;
      this.forget(oldest);
    }
    return index;
  }

  forget(path: string): void {
    if (!this.#indexes.has(path)) return;
    this.#bytes -= bytesOf(path, this.#indexes.get(path));
    this.#indexes.delete(path);
  }
}

/** The entry of the map takes some memory too. */
function bytesOf(path: string, index: PacketIndex | undefined): number {
  return 200 + 2 * path.length + (index?.bytes ?? 0);
}
