import path from 'node:path';
import { formatShardLine } from '../manifest/shard-list.js';
import type { ShardSection } from './metrics-writer.js';
import type { CutOutputs } from './options.js';
import type { ShardSizes } from './run-journal.js';
import { placesOf } from './shard-files.js';
import type { ShardFigures, ShardTally } from './shard-tally.js';

/** What the metrics say about the shards that were made; undefined where the snippets are not split. */
export function describeShards(
  outputs: CutOutputs,
  tally: ShardTally,
  sizes: readonly ShardSizes[],
  isComplete: boolean,
): ShardSection | undefined {
  if (!outputs.isSharded) return undefined;
  const shards = sizes.map(({ shard, tarBytes: bytes }) => ({ ...figuresOf(outputs, tally, shard), bytes }));
  // Before its end a run does not know which shards stay empty.
  const empty = isComplete ? tally.listEmpty() : [];
  return { shards, emptyShards: empty.map((shard) => figuresOf(outputs, tally, shard).name) };
}

/** The same of shards that are only planned. */
export function describePlannedShards(outputs: CutOutputs, tally: ShardTally): ShardSection | undefined {
  if (!outputs.isSharded) return undefined;
  const numbers = Array.from({ length: tally.count }, (_, shard) => shard);
  return { shards: numbers.map((shard) => ({ ...figuresOf(outputs, tally, shard), bytes: null })), emptyShards: [] };
}

/** Writes the list that ATdataset reads: a line for each shard that was made. */
export async function writeShardList(
  outputs: CutOutputs,
  tally: ShardTally,
  sizes: readonly ShardSizes[],
  write: (chunk: string) => Promise<void>,
): Promise<void> {
  for (const { shard } of sizes) {
    const { tar: tarPath, manifest: manifestPath } = placesOf(outputs, shard);
    const entry = { tarPath, manifestPath, hours: tally.hoursOf(shard), sampleCount: tally.snippetsOf(shard) };
    await write(`${formatShardLine(entry)}\n`);
  }
}

/** The files of shards as the metrics name them. */
export function listShardFiles(outputs: CutOutputs, shards: readonly ShardFigures[]): string[] {
  const beside = (base: string, name: string): string => path.join(path.dirname(base), name);
  return shards.flatMap(({ name, manifest }) => [beside(outputs.tar, name), beside(outputs.manifest, manifest)]);
}

function figuresOf(outputs: CutOutputs, tally: ShardTally, shard: number): Omit<ShardFigures, 'bytes'> {
  const { tar, manifest } = placesOf(outputs, shard);
  return {
    name: path.basename(tar),
    manifest: path.basename(manifest),
    snippets: tally.snippetsOf(shard),
    hours: tally.hoursOf(shard),
  };
}
