import { UsageError } from '../errors.js';
import { Balance } from '../random/balance.js';
import { EpochPermutations } from '../random/permutation.js';
import type { EpochOrder } from './batch-list.js';
import type { ItemPool } from './item-pools.js';
import type { PlanSettings } from './plan-settings.js';

/** The endless stream that epochs are cut from. */
export interface DrawStream {
  /** Draws of an epoch: epoch e is draws [e · drawCount, (e + 1) · drawCount). */
  drawCount: number;
  /** Computed per draw; nothing is kept. */
  orderOf(epoch: number): EpochOrder;
  /** Of each pool: its share of the draws. */
  shares: readonly number[];
}

/** Makes a mixture of weights, or gives one that is there already: of fine weights one takes 24 MB. */
export type BalanceOf = (weights: readonly (number | string)[]) => Balance;

/** More are not kept as lists. */
export const MAX_STORED_DRAWS = 2 ** 27;

/**
 * What is drawn, in which order. Without weights each pass has each item once, in a permutation of its own; with weights the pools take
 * turns by exact shares, each in permutations of its own, one a pass, that depend on no other pool. Excerpts are taken in the order of
 * their dataset, which shuffles for itself.
 *
 * @throws {UsageError} when some pools have weights and others have none, or an epoch has no end.
 */
export function createDrawStream(
  pools: readonly ItemPool[],
  settings: PlanSettings,
  balanceOf: BalanceOf = (weights) => new Balance(weights),
): DrawStream {
  const filled = pools.filter((pool) => pool.length > 0);
  checkWeights(pools);
  if (filled.length === 0) return emptyStream(pools.length);
  if (filled.length === 1) {
    const [pool] = filled;
    const drawCount = settings.epochItems ?? endOf(pool!.length);
    return {
      drawCount,
      orderOf: (epoch) => new PoolOrder(pool!, settings, epoch * drawCount, drawCount),
      shares: pools.map((each) => (each === pool ? 1 : 0)),
    };
  }
  return filled[0]!.leaf.weight === undefined
    ? flatStream(pools, settings)
    : mixedStream(pools, filled, settings, balanceOf);
}

function checkWeights(pools: readonly ItemPool[]): void {
  const bare = pools.find((pool) => pool.leaf.weight === undefined);
  const weighted = pools.find((pool) => pool.leaf.weight !== undefined);
  if (bare === undefined || weighted === undefined) return;
  throw new UsageError(`Source "${weighted.leaf.name}" has a weight, and "${bare.leaf.name}" has none`, {
    hint: 'Give all sources of a group a weight, or none.',
  });
}

function endOf(drawCount: number): number {
  if (Number.isSafeInteger(drawCount)) return drawCount;
  throw new UsageError('Cannot plan an epoch: a source has no end, and nothing says when the epoch ends', {
    hint: 'Give epochItems, the draws of an epoch.',
  });
}

function emptyStream(poolCount: number): DrawStream {
  const order: EpochOrder = {
    length: 0,
    itemAt: (position) => outside(position),
    passAt: (position) => outside(position),
  };
  return { drawCount: 0, orderOf: () => order, shares: Array.from({ length: poolCount }, () => 0) };
}

function outside(position: number): never {
  throw new RangeError(`There is no draw ${position}`);
}

/** One pool alone. */
class PoolOrder implements EpochOrder {
  readonly length: number;
  readonly #first: number;
  readonly #walk: PoolWalk;

  constructor(pool: ItemPool, settings: PlanSettings, first: number, length: number) {
    this.length = length;
    this.#first = first;
    this.#walk = new PoolWalk(pool, settings);
  }

  itemAt(position: number): number {
    return this.#walk.itemAt(this.#first + position);
  }

  passAt(position: number): number {
    return this.#walk.passAt(this.#first + position);
  }
}

/** A pool's own endless stream: permutation after permutation. */
class PoolWalk {
  readonly #pool: ItemPool;
  readonly #permutations: EpochPermutations | undefined;

  constructor(pool: ItemPool, settings: PlanSettings) {
    this.#pool = pool;
    const isShuffled = settings.shuffle && pool.leaf.excerpts === undefined;
    this.#permutations = isShuffled
      ? new EpochPermutations(pool.length, settings.seed, `load/order/${pool.leaf.name}`)
      : undefined;
  }

  itemAt(index: number): number {
    const pass = this.passAt(index);
    const place = pass === 0 ? index : index - pass * this.#pool.length;
    return this.#pool.itemAt(this.#permutations === undefined ? place : this.#permutations.at(pass, place));
  }

  passAt(index: number): number {
    return Math.floor(index / this.#pool.length);
  }
}

/** Pools without weights, as if they were one. */
function flatStream(pools: readonly ItemPool[], settings: PlanSettings): DrawStream {
  const ends: number[] = [];
  let total = 0;
  for (const pool of pools) ends.push((total += pool.length));
  if (total === Infinity) {
    throw new UsageError('Cannot mix a source without end with others that have no weights', {
      hint: 'Give each source a weight, and epochItems.',
    });
  }
  const drawCount = settings.epochItems ?? total;
  const all: ItemPool = {
    // Named by no leaf: the order depends on the number of items alone.
    leaf: {
      name: '',
      weight: undefined,
      firstItem: 0,
      endItem: total,
      bucket: undefined,
      tags: {},
      excerpts: undefined,
    },
    length: total,
    itemAt: (index) => {
      const at = firstAbove(ends, index);
      return pools[at]!.itemAt(index - (ends[at - 1] ?? 0));
    },
  };
  return {
    drawCount,
    orderOf: (epoch) => new PoolOrder(all, settings, epoch * drawCount, drawCount),
    shares: pools.map((pool) => pool.length / total),
  };
}

/** The first of ascending numbers that is above a value. */
function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

function mixedStream(
  pools: readonly ItemPool[],
  filled: readonly ItemPool[],
  settings: PlanSettings,
  balanceOf: BalanceOf,
): DrawStream {
  const balance = balanceOf(filled.map((pool) => pool.leaf.weight!));
  const lengths = filled.map((pool) => pool.length);
  const drawCount = settings.epochItems ?? endOf(balance.length(lengths, settings.stop));
  return {
    drawCount,
    orderOf: (epoch) => {
      const walks = filled.map((pool) => new PoolWalk(pool, settings));
      return {
        length: drawCount,
        itemAt: (position) => {
          const { group, index } = balance.at(epoch * drawCount + position);
          return walks[group]!.itemAt(index);
        },
        passAt: (position) => {
          const { group, index } = balance.at(epoch * drawCount + position);
          return walks[group]!.passAt(index);
        },
      };
    },
    shares: pools.map((pool) => (filled.includes(pool) ? balance.weights[filled.indexOf(pool)]! / balance.period : 0)),
  };
}

/**
 * An order as lists.
 *
 * @throws {UsageError} when it has too many draws for that.
 */
export function storeOrder(order: EpochOrder): EpochOrder {
  checkStored(order.length);
  const items = new Float64Array(order.length);
  const passes = new Uint32Array(order.length);
  for (let position = 0; position < order.length; position += 1) {
    items[position] = order.itemAt(position);
    passes[position] = order.passAt(position);
  }
  return {
    length: order.length,
    itemAt: (position) => items[position] ?? outside(position),
    passAt: (position) => passes[position] ?? outside(position),
  };
}

/** @throws {UsageError} when an epoch has too many draws to be kept as a list. */
export function checkStored(drawCount: number): void {
  if (drawCount <= MAX_STORED_DRAWS) return;
  throw new UsageError(`Cannot plan an epoch of ${drawCount} draws at once: at most ${MAX_STORED_DRAWS} fit`, {
    hint: 'Give epochItems: the epoch after it goes on where it ends, so that nothing is favoured.',
  });
}
