import { InputError } from '../errors.js';
import { shuffledIndices } from '../random/keyed.js';
import type { PlanOptions, Sizing } from './options.js';

/** The rows of each shard, in the order of its tar. */
export interface Split {
  /** Positions in the list of rows, shard after shard. */
  order: Uint32Array;
  /** Where each shard begins in `order`, and where the last one ends. */
  starts: Uint32Array;
}

const SECONDS_AN_HOUR = 3600;
const MICROS = 1e6;
/** What the numbers are drawn for. */
const ROLE = 'build/order';
const TIES_ROLE = 'build/ties';

/**
 * How many shards there are to be.
 *
 * @throws {InputError} when there are not rows enough for a row in each.
 */
export function countShards(sizing: Sizing, rows: number, micros: () => number): number {
  if (sizing.kind === 'samples-per-tar') return Math.ceil(rows / sizing.each);
  if (sizing.kind === 'duration-per-tar') {
    const shards = Math.ceil(micros() / MICROS / (sizing.each * SECONDS_AN_HOUR));
    return Math.min(rows, Math.max(1, shards));
  }
  if (sizing.count > rows) {
    throw new InputError(`Cannot make ${sizing.count} shards of ${rows} ${rows === 1 ? 'row' : 'rows'}`, {
      hint: `Give --num-tars ${rows} or less: a shard without a row is of no use, and stops some loaders.`,
    });
  }
  return sizing.count;
}

/** Spreads rows over shards, at random by the seed; the order in each shard is uniformly so. */
export function splitRows(
  count: number,
  shards: number,
  { balanceBy, seed }: Pick<PlanOptions, 'balanceBy' | 'seed'>,
  micros: (row: number) => number,
): Split {
  const order = shuffledIndices(count, seed, ROLE);
  if (balanceBy === 'samples') return { order, starts: evenStarts(count, shards) };
  return splitByDuration(order, shuffledIndices(count, seed, TIES_ROLE), shards, micros);
}

function evenStarts(count: number, shards: number): Uint32Array {
  const least = Math.floor(count / shards);
  const larger = count % shards;
  return Uint32Array.from({ length: shards + 1 }, (_, shard) => shard * least + Math.min(shard, larger));
}

/**
 * The longest rows first, each into the shard that is shortest so far. Whatever shard gets a row is the shortest then, so in the end the longest
 * shard is ahead of the shortest by its last row at most.
 *
 * @param ties the order of rows of one length. It must have nothing to do with `order`: else the earlier of two long rows, say, would always be in the
 *   first shard, and the order of its rows would tell of their lengths.
 */
function splitByDuration(
  order: Uint32Array,
  ties: Uint32Array,
  shards: number,
  micros: (row: number) => number,
): Split {
  const count = order.length;
  const durations = new Float64Array(count);
  for (let at = 0; at < count; at += 1) durations[at] = micros(ties[at] ?? 0);
  const longestFirst = Uint32Array.from({ length: count }, (_, at) => at).sort(
    (a, b) => (durations[b] ?? 0) - (durations[a] ?? 0) || a - b,
  );
  const heap = new ShardHeap(shards);
  const shardOf = new Uint32Array(count);
  for (const at of longestFirst) shardOf[ties[at] ?? 0] = heap.giveToShortest(durations[at] ?? 0);
  const starts = new Uint32Array(shards + 1);
  for (const shard of shardOf) starts[shard + 1] = (starts[shard + 1] ?? 0) + 1;
  for (let shard = 1; shard <= shards; shard += 1) starts[shard] = (starts[shard] ?? 0) + (starts[shard - 1] ?? 0);
  const next = starts.slice();
  const split = new Uint32Array(count);
  for (const row of order) {
    const shard = shardOf[row] ?? 0;
    const place = next[shard] ?? 0;
    split[place] = row;
    next[shard] = place + 1;
  }
  return { order: split, starts };
}

/** The shards by their length so far, the shortest on top; of equal ones that with fewer rows, then the lower number. */
class ShardHeap {
  readonly #heap: Uint32Array;
  readonly #micros: Float64Array;
  readonly #rows: Uint32Array;

  constructor(shards: number) {
    this.#heap = Uint32Array.from({ length: shards }, (_, shard) => shard);
    this.#micros = new Float64Array(shards);
    this.#rows = new Uint32Array(shards);
  }

  giveToShortest(micros: number): number {
    const shard = this.#heap[0] ?? 0;
    this.#micros[shard] = (this.#micros[shard] ?? 0) + micros;
    this.#rows[shard] = (this.#rows[shard] ?? 0) + 1;
    this.#sink();
    return shard;
  }

  #sink(): void {
    const heap = this.#heap;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && this.#isBefore(heap[child] ?? 0, heap[least] ?? 0)) least = child;
      }
      if (least === at) return;
      const moved = heap[at] ?? 0;
      heap[at] = heap[least] ?? 0;
      heap[least] = moved;
      at = least;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const byMicros = (this.#micros[a] ?? 0) - (this.#micros[b] ?? 0);
    if (byMicros !== 0) return byMicros < 0;
    const byRows = (this.#rows[a] ?? 0) - (this.#rows[b] ?? 0);
    return byRows === 0 ? a < b : byRows < 0;
  }
}
