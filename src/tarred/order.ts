import { CPythonRandom } from '../random/cpython.js';

/** Numbers of rows in the order of the shards, and where each shard ends; it begins where the one before it ends. */
export interface Partition {
  rows: Uint32Array;
  ends: readonly number[];
  /** Rows that no shard holds. */
  dropped: Uint32Array;
}

/** Order and shuffle of rows. */
export interface OrderOptions {
  /** Undefined keeps the order. */
  shuffleSeed: number | undefined;
  /** The file of each row, by the row's number, where rows of a file stand together; they take the place of the first of them. */
  fileNumbers: readonly number[] | undefined;
}

/** Rows in the order in which they are split into shards: as NeMo's converter orders its list, by Python's `random`. */
export function orderRows(rows: Uint32Array, { shuffleSeed, fileNumbers }: OrderOptions): Uint32Array {
  if (fileNumbers === undefined) {
    if (shuffleSeed !== undefined) new CPythonRandom(shuffleSeed).shuffle(rows);
    return rows;
  }
  const groups = groupByFile(rows, fileNumbers);
  const order = Uint32Array.from({ length: groups.count }, (_, index) => index);
  if (shuffleSeed !== undefined) new CPythonRandom(shuffleSeed).shuffle(order);
  const ordered = new Uint32Array(rows.length);
  let at = 0;
  for (const group of order) {
    const members = groups.rows.subarray(groups.starts[group], groups.starts[group + 1]);
    ordered.set(members, at);
    at += members.length;
  }
  return ordered;
}

/** How many files the rows are of. */
export function countFiles(rows: Uint32Array, fileNumbers: readonly number[]): number {
  return groupByFile(rows, fileNumbers).count;
}

interface Groups {
  /** Group by group. */
  rows: Uint32Array;
  /** Where each group begins, and the end of the last. */
  starts: Uint32Array;
  count: number;
}

/** Groups in the order of their first rows; in a group rows keep their order. */
function groupByFile(rows: Uint32Array, fileNumbers: readonly number[]): Groups {
  const groupOf = new Map<number, number>();
  const sizes: number[] = [];
  const groups = new Uint32Array(rows.length);
  for (const [place, row] of rows.entries()) {
    const file = fileNumbers[row] ?? -1;
    let group = groupOf.get(file);
    if (group === undefined) {
      group = sizes.push(0) - 1;
      groupOf.set(file, group);
    }
    sizes[group] = (sizes[group] ?? 0) + 1;
    groups[place] = group;
  }
  const starts = new Uint32Array(sizes.length + 1);
  for (const [group, size] of sizes.entries()) starts[group + 1] = (starts[group] ?? 0) + size;
  const next = starts.slice();
  const sorted = new Uint32Array(rows.length);
  for (const [place, row] of rows.entries()) {
    const group = groups[place] ?? 0;
    const at = next[group] ?? 0;
    sorted[at] = row;
    next[group] = at + 1;
  }
  return { rows: sorted, starts, count: sizes.length };
}

/** How rows are split. */
export interface SplitOptions {
  shardCount: number;
  /** Rows that are too many for equal shards: one more in each of the first shards, or in none. */
  remainder: 'spread' | 'drop';
  /** Where given, rows of one file that follow each other stay in one shard: borders move to the nearest place between two files. */
  fileNumbers: readonly number[] | undefined;
}

/**
 * Splits rows into shards of as many rows each, to within one. With `fileNumbers`, no shard is empty as long as there are as many files as shards.
 *
 * @param rows at least as many as shards
 */
export function splitRows(rows: Uint32Array, { shardCount, remainder, fileNumbers }: SplitOptions): Partition {
  const size = Math.floor(rows.length / shardCount);
  const more = remainder === 'spread' ? rows.length % shardCount : 0;
  const kept = rows.subarray(0, size * shardCount + more);
  const even = Array.from({ length: shardCount }, (_, shard) => size * (shard + 1) + Math.min(more, shard + 1));
  const ends = fileNumbers === undefined ? even : moveBorders(even, kept, fileNumbers);
  return { rows: kept, ends, dropped: rows.subarray(kept.length) };
}

/** Moves each border to the nearest place between two files, the earlier one of two, and leaves a file for each of the shards behind it. */
function moveBorders(even: readonly number[], rows: Uint32Array, fileNumbers: readonly number[]): number[] {
  const places: number[] = [];
  for (let at = 1; at < rows.length; at += 1) {
    if (fileNumbers[rows[at] ?? 0] !== fileNumbers[rows[at - 1] ?? 0]) places.push(at);
  }
  const ends: number[] = [];
  let next = 0;
  for (const [shard, wanted] of even.slice(0, -1).entries()) {
    const last = places.length - (even.length - 1 - shard);
    while (next < last && Math.abs((places[next + 1] ?? 0) - wanted) < Math.abs((places[next] ?? 0) - wanted))
      next += 1;
    ends.push(places[next] ?? rows.length);
    next += 1;
  }
  return [...ends, rows.length];
}

/** Sorts the rows of each shard by duration, the shortest first; equal ones keep their order, and those without a duration come last. */
export function sortShards({ rows, ends }: Partition, durations: readonly number[]): void {
  const durationOf = (row: number): number => {
    const seconds = durations[row] ?? Number.NaN;
    return Number.isNaN(seconds) ? Number.POSITIVE_INFINITY : seconds;
  };
  let start = 0;
  for (const end of ends) {
    const shard = rows.subarray(start, end);
    const compare = (a: number, b: number): number => {
      const [before, after] = [durationOf(a), durationOf(b)];
      return before === after ? 0 : before - after;
    };
    shard.set(Array.from(shard).sort(compare));
    start = end;
  }
}
