import type { ItemLookup } from './item-pools.js';
import type { ItemTable, Leaf } from './item-table.js';

/** Excerpts of larger datasets are not told apart: an epoch takes them one after the other. */
const MAX_MARKED = 2 ** 31;

/** Which items were seen: a bit each. */
export class ItemMarks {
  readonly #rows: Uint8Array;
  readonly #rowCount: number;
  readonly #leaves: readonly Leaf[];
  readonly #lookup: ItemLookup;
  /** Of leaves of excerpts, made when the first of them is seen. */
  readonly #excerpts = new Map<Leaf, Uint8Array>();
  readonly #seen = new Map<Leaf, number>();

  constructor(table: ItemTable, lookup: ItemLookup) {
    this.#rowCount = table.rowCount;
    this.#rows = new Uint8Array(Math.ceil(table.rowCount / 8));
    this.#leaves = table.leaves;
    this.#lookup = lookup;
  }

  /** True when the item was not seen before. */
  mark(item: number): boolean {
    if (item < this.#rowCount) return setBit(this.#rows, item);
    const leaf = this.#leaves[this.#lookup.leafOf(item)]!;
    const seen = this.#seen.get(leaf) ?? 0;
    if (!this.#isNew(leaf, item, seen)) return false;
    this.#seen.set(leaf, seen + 1);
    return true;
  }

  #isNew(leaf: Leaf, item: number, seen: number): boolean {
    const length = leaf.endItem - leaf.firstItem;
    if (length > MAX_MARKED) return seen < length;
    let bits = this.#excerpts.get(leaf);
    if (bits === undefined) {
      bits = new Uint8Array(Math.ceil(length / 8));
      this.#excerpts.set(leaf, bits);
    }
    return setBit(bits, item - leaf.firstItem);
  }

  /**
   * Marks so many items of a leaf of excerpts that come after those that were marked.
   *
   * @returns how many of them were not seen before
   */
  markNext(number: number, count: number): number {
    const leaf = this.#leaves[number]!;
    const seen = this.#seen.get(leaf) ?? 0;
    const marked = Math.min(count, leaf.endItem - leaf.firstItem - seen);
    this.#seen.set(leaf, seen + marked);
    return marked;
  }

  /** Excerpts of a leaf that were not seen. */
  unmarkedOf(leaf: Leaf): number {
    return leaf.endItem - leaf.firstItem - (this.#seen.get(leaf) ?? 0);
  }
}

function setBit(bits: Uint8Array, at: number): boolean {
  const mask = 1 << (at & 7);
  const byte = Math.floor(at / 8);
  if ((bits[byte]! & mask) !== 0) return false;
  bits[byte]! |= mask;
  return true;
}
