import { CanceledError, CutroomError } from '../errors.js';
import { compareCodePoints } from '../tar/order.js';
import { EnergonIndex } from './index-energon.js';
import { LhotseIndex } from './index-lhotse.js';
import { shardsWithRows } from './index-rows.js';
import { readShardLayout } from './index-shard-files.js';
import type { IndexedDataset, IndexKind, WriteIndexesContext, WriteIndexesResult } from './index-types.js';
import { WidsIndex } from './index-wids.js';

export { INDEX_KINDS } from './index-types.js';
export type {
  IndexedDataset,
  IndexedShard,
  IndexKind,
  IndexProgress,
  IndexWarning,
  WriteIndexesContext,
  WriteIndexesResult,
} from './index-types.js';

/**
 * Writes beside the shards of a folder what other loaders want, so that each opens it as it is; no audio is written again. The same shards
 * give the same bytes; earlier indexes are replaced, and are stale from the moment a tar changes.
 *
 * @throws InputError where a tar cannot be read or is not what it is said to be; UsageError where it lies outside the folder; OutputError;
 *   CanceledError when the signal is aborted: files that are there then are whole
 */
export async function writeIndexes(
  kinds: readonly IndexKind[],
  dataset: IndexedDataset,
  context: WriteIndexesContext = {},
): Promise<WriteIndexesResult> {
  try {
    return await writeAll(new Set(kinds), dataset, context);
  } catch (error) {
    if (context.signal?.aborted !== true || error instanceof CutroomError) throw error;
    throw new CanceledError('The indexes were not written to their end: the run was stopped', { cause: error });
  }
}

async function writeAll(
  kinds: ReadonlySet<IndexKind>,
  dataset: IndexedDataset,
  { signal, onProgress }: WriteIndexesContext,
): Promise<WriteIndexesResult> {
  const wids = kinds.has('wids') ? new WidsIndex(dataset) : undefined;
  const energon = kinds.has('energon') ? new EnergonIndex(dataset) : undefined;
  const lhotse = kinds.has('lhotse') ? new LhotseIndex(dataset) : undefined;
  const hasEnergonRows = energon !== undefined && shardsWithRows(dataset) !== undefined;
  const passes = ((wids ?? energon) ? 1 : 0) + (hasEnergonRows ? 1 : 0) + (lhotse === undefined ? 0 : 1);
  let shards = 0;
  const advance = (): void => {
    shards += 1;
    onProgress?.({ shards, totalShards: passes * dataset.shards.length });
  };
  try {
    if (wids !== undefined || energon !== undefined) {
      for (const [number, shard] of dataset.shards.entries()) {
        signal?.throwIfAborted();
        const layout = await readShardLayout(dataset.folder, shard, number, signal);
        wids?.addShard(layout);
        await energon?.addShard(layout, signal);
        advance();
      }
    }
    const files: string[] = [];
    if (wids !== undefined) files.push(...(await wids.finish()));
    if (energon !== undefined) files.push(...(await energon.finish(signal, advance)));
    if (lhotse !== undefined) files.push(...(await lhotse.write(signal, advance)));
    const warnings = [wids, energon, lhotse].flatMap((index) => index?.warnings.list() ?? []);
    return { files: files.toSorted(compareCodePoints), warnings };
  } finally {
    await energon?.discard();
  }
}
