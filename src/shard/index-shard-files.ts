import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { errorMessage, InputError, UsageError } from '../errors.js';
import { members, type TarMember } from '../tar/reader.js';
import type { IndexedShard } from './index-types.js';

/** A tar as its headers tell it. */
export interface ShardLayout {
  shard: IndexedShard;
  /** 0-based, in the dataset. */
  number: number;
  /** Relative to the folder of the dataset, with `/`. */
  tarName: string;
  tarBytes: number;
  /** Regular files, in the order of the tar. */
  members: readonly TarMember[];
  /** Where the last member ends, padding included. */
  endOffsetBytes: number;
}

/** How many headers are read before others get their turn. */
const MEMBERS_A_TURN = 1000;

/**
 * Reads the headers of a shard.
 *
 * @throws InputError where the tar cannot be read to its end, or is not what it is said to be; UsageError where it lies outside the folder
 */
export async function readShardLayout(
  folder: string,
  shard: IndexedShard,
  number: number,
  signal: AbortSignal | undefined,
): Promise<ShardLayout> {
  const tarName = placeInFolder(folder, shard.tarPath);
  const found: TarMember[] = [];
  const listing = members(shard.tarPath, { isBlocking: true });
  for (let count = 1; ; count += 1) {
    const step = await listing.next();
    if (step.done === true) {
      const tarBytes = await sizeOfTar(shard.tarPath);
      checkFacts(shard, found.length, tarBytes);
      return { shard, number, tarName, tarBytes, members: found, endOffsetBytes: step.value.endOffsetBytes };
    }
    if (step.value.type === 'file') found.push(step.value);
    if (count % MEMBERS_A_TURN !== 0) continue;
    await setImmediate();
    signal?.throwIfAborted();
  }
}

/**
 * A path relative to the folder, with `/`.
 *
 * @throws UsageError where it lies outside
 */
export function placeInFolder(folder: string, filePath: string): string {
  const relative = path.relative(folder, filePath);
  if (relative === '' || path.isAbsolute(relative) || relative.split(path.sep)[0] === '..') {
    throw new UsageError(`Cannot index "${filePath}": it lies outside the folder "${folder}"`, {
      hint: 'Indexes name shards relative to their folder; name the folder that holds all of them.',
    });
  }
  return relative.split(path.sep).join('/');
}

async function sizeOfTar(tarPath: string): Promise<number> {
  try {
    return (await stat(tarPath)).size;
  } catch (error) {
    throw new InputError(`Cannot index "${tarPath}": ${errorMessage(error)}`, { path: tarPath, cause: error });
  }
}

function checkFacts(
  { tarPath, members: wantedCount, tarBytes: wantedBytes }: IndexedShard,
  count: number,
  tarBytes: number,
): void {
  const differs =
    wantedBytes !== undefined && wantedBytes !== tarBytes
      ? `it has ${grouped(tarBytes)} bytes instead of ${grouped(wantedBytes)}`
      : wantedCount !== undefined && wantedCount !== count
        ? `it has ${grouped(count)} members instead of ${grouped(wantedCount)}`
        : undefined;
  if (differs === undefined) return;
  throw new InputError(`Cannot index "${tarPath}": ${differs}`, {
    path: tarPath,
    hint: 'The tar changed since it was made; make it again.',
  });
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
