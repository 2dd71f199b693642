import { countWords } from '../count-words.js';
import { UsageError } from '../errors.js';
import type { EpochOrder } from './batch-list.js';
import type { ItemPool } from './item-pools.js';
import type { ItemTable, Leaf } from './item-table.js';

/** Which rows each rank reads when shards are dealt out. */
export interface ShardShares {
  /** Of each rank, a pool for each leaf. */
  poolsOf(rank: number): ItemPool[];
  /** Shards that no rank reads, over all leaves. */
  lostShards: number;
  shardCount: number;
  /** Rows of these. */
  lostRows: Uint32Array;
}

/**
 * Deals shards out as `scatter` of WebDataset and NeMo does: of each source's S shards, rank r of W reads [r · floor(S / W), (r + 1) · floor(S / W)),
 * and the last S mod W are never read.
 *
 * @throws {UsageError} when a source has no shards, or fewer than ranks.
 */
export function shareShards(table: ItemTable, ranks: number): ShardShares {
  const rowsOfParts = listRowsOfParts(table);
  const shares = table.leaves.map((leaf, number) => {
    const shards = listShards(table, leaf, number);
    const each = Math.floor(shards.length / ranks);
    if (each === 0 && leaf.endItem > leaf.firstItem) {
      throw new UsageError(
        `Cannot scatter "${leaf.name}": it has ${countWords(shards.length, 'shard')} for ${countWords(ranks, 'rank')}`,
        { hint: 'Use strategy "exact", which deals rows out, or fewer ranks.' },
      );
    }
    const rowsOf = (from: number, end: number): Uint32Array =>
      concatenate(shards.slice(from, end).flatMap((parts) => parts.map((part) => rowsOfParts(part))));
    return { leaf, rowsOf, each, shardCount: shards.length };
  });
  const sum = (of: (share: (typeof shares)[number]) => number): number =>
    shares.reduce((total, share) => total + of(share), 0);
  return {
    poolsOf: (rank) =>
      shares.map(({ leaf, rowsOf, each }) => {
        const rows = rowsOf(rank * each, (rank + 1) * each);
        return { leaf, length: rows.length, itemAt: (index) => rows[index]! };
      }),
    shardCount: sum(({ shardCount }) => shardCount),
    lostShards: sum(({ shardCount }) => shardCount % ranks),
    lostRows: concatenate(shares.map(({ rowsOf, each, shardCount }) => rowsOf(each * ranks, shardCount))),
  };
}

/** Parts of each shard of a leaf, in order. */
function listShards({ parts }: ItemTable, { name, excerpts }: Leaf, leaf: number): number[][] {
  const shards = new Map<string, number[]>();
  for (const [number, part] of parts.entries()) {
    if (part.leaf !== leaf) continue;
    if (part.tarPath === undefined) throw noShards(name);
    const of = shards.get(part.tarPath);
    if (of === undefined) shards.set(part.tarPath, [number]);
    else of.push(number);
  }
  if (excerpts !== undefined) throw noShards(name);
  return [...shards.values()];
}

function noShards(name: string): UsageError {
  return new UsageError(`Cannot scatter "${name}": it has no shards`, {
    hint: 'Use strategy "exact", which deals rows out.',
  });
}

/** The rows of each part, in order. */
function listRowsOfParts({ rowCount, rowParts, parts }: ItemTable): (part: number) => Uint32Array {
  const ends = new Uint32Array(parts.length + 1);
  for (let row = 0; row < rowCount; row += 1) ends[rowParts[row]! + 1]! += 1;
  for (let part = 1; part < ends.length; part += 1) ends[part]! += ends[part - 1]!;
  const next = ends.slice();
  const rows = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row += 1) {
    rows[next[rowParts[row]!]!] = row;
    next[rowParts[row]!]! += 1;
  }
  return (part) => rows.subarray(ends[part], ends[part + 1]);
}

function concatenate(lists: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let next = 0;
  for (const list of lists) {
    all.set(list, next);
    next += list.length;
  }
  return all;
}

/** Rows as draws, for reports. */
export function rowsAsDraws(rows: Uint32Array): EpochOrder {
  return { length: rows.length, itemAt: (position) => rows[position]!, passAt: () => 0 };
}
