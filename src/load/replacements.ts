import { ItemLookup } from './item-pools.js';
import type { ItemTable, Leaf } from './item-table.js';
import { passRandom } from './speed-of.js';

/** Items that are looked at for a place whose item cannot be read. */
const PROBES = 64;
/** Of them, how many are offered. */
const OFFERS = 4;
const WORD = 2 ** 32;

/**
 * Items that may stand in the place of one that cannot be read, the best first: no longer than it and of no more tokens, so that no limit of its
 * batch is passed; of its leaf, or at least of its static bucket; of those that are drawn the closest in duration. A pure function of table, seed,
 * item and pass: ranks, workers and what else is in the batch change nothing.
 */
export class Replacements {
  readonly #table: ItemTable;
  readonly #lookup: ItemLookup;
  readonly #randomOf: ReturnType<typeof passRandom>;

  constructor(table: ItemTable, seed: number) {
    this.#table = table;
    this.#lookup = new ItemLookup(table);
    this.#randomOf = passRandom(seed, 'load/replacement');
  }

  /** Up to four items; none where all are longer. */
  offers(item: number, pass: number): number[] {
    const leaf = this.#leafOf(item);
    if (leaf.excerpts !== undefined) {
      return this.#probe(item, pass, leaf.firstItem, leaf.endItem, 0).slice(0, OFFERS);
    }
    const near = this.#closest(item, this.#probe(item, pass, leaf.firstItem, leaf.endItem, 0));
    if (near.length > 0) return near;
    const isInBucket = (other: number): boolean => this.#leafOf(other).bucket === leaf.bucket;
    return this.#closest(item, this.#probe(item, pass, 0, this.#table.rowCount, PROBES).filter(isInBucket));
  }

  /** Items of [first, end) in a drawn order, without the item itself: all where there are few. */
  #probe(item: number, pass: number, first: number, end: number, firstLane: number): number[] {
    const random = this.#randomOf(pass);
    const count = Math.min(end - first, WORD);
    const draw = (probe: number): number =>
      random(item % WORD, firstLane + probe + 2 * PROBES * Math.floor(item / WORD));
    const from = Math.floor((draw(0) / WORD) * count);
    const probes =
      count <= PROBES
        ? Array.from({ length: count }, (_, step) => first + ((from + step) % count))
        : Array.from({ length: PROBES }, (_, probe) => first + Math.floor((draw(probe) / WORD) * count));
    return [...new Set(probes)].filter((other) => other !== item);
  }

  #leafOf(item: number): Leaf {
    return this.#table.leaves[this.#lookup.leafOf(item)]!;
  }

  #closest(item: number, others: readonly number[]): number[] {
    const { durationsMicros, tokenCounts } = this.#table;
    const longest = durationsMicros[item] ?? 0;
    const mostTokens = tokenCounts?.[item] ?? 0;
    return others
      .filter((other) => durationsMicros[other]! <= longest && (tokenCounts?.[other] ?? 0) <= mostTokens)
      .sort((a, b) => durationsMicros[b]! - durationsMicros[a]!)
      .slice(0, OFFERS);
  }
}
