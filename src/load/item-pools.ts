import type { ItemTable, Leaf } from './item-table.js';

/** What is drawn from for one leaf: its items, or those that one rank has of them. */
export interface ItemPool {
  leaf: Leaf;
  /** `Infinity` where it has no end. */
  length: number;
  /** Item of the table. */
  itemAt(index: number): number;
}

/** All items of each leaf. */
export function listPools(table: ItemTable): ItemPool[] {
  return table.leaves.map((leaf) => ({
    leaf,
    length: leaf.endItem - leaf.firstItem,
    itemAt: (index) => leaf.firstItem + index,
  }));
}

/** Finds out which leaf an item is of, and how long it is. */
export class ItemLookup {
  readonly #table: ItemTable;
  /** By their first item; leaves without items are not there. */
  readonly #leaves: readonly { leaf: Leaf; number: number }[];

  constructor(table: ItemTable) {
    this.#table = table;
    this.#leaves = table.leaves
      .map((leaf, number) => ({ leaf, number }))
      .filter(({ leaf }) => leaf.endItem > leaf.firstItem)
      .toSorted((a, b) => a.leaf.firstItem - b.leaf.firstItem);
  }

  /** Number of the leaf, in the order of the table. */
  leafOf(item: number): number {
    let low = 0;
    let high = this.#leaves.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#leaves[middle]!.leaf.firstItem <= item) low = middle;
      else high = middle - 1;
    }
    const found = this.#leaves[low];
    if (found === undefined || item < found.leaf.firstItem || item >= found.leaf.endItem) {
      throw new RangeError(`There is no item ${item}`);
    }
    return found.number;
  }

  /** Whole microseconds, at the speed of the recording. */
  durationMicros(item: number): number {
    if (item < this.#table.rowCount) return this.#table.durationsMicros[item]!;
    return this.#table.leaves[this.leafOf(item)]!.excerpts!.durationMicros;
  }

  /** 0 for excerpts. */
  tokens(item: number): number {
    return item < this.#table.rowCount ? (this.#table.tokenCounts?.[item] ?? 0) : 0;
  }
}
