import { readFile } from 'node:fs/promises';
import type { Document } from 'yaml';
import { errorMessage } from '../errors.js';
import { reportDataset } from './dataset-kinds.js';
import type { ShardRuns } from './dataset-nemo-index.js';
import type { NemoLayout } from './dataset-nemo-layout.js';
import type { DatasetTotals } from './dataset-shards.js';
import type { CheckContext } from './finding.js';

/** Compares what the metadata of the newest version says with the shards that are there. */
export async function checkMetadata(
  { manifests, metadata, tars, sharded }: NemoLayout,
  index: ReadonlyMap<number, ShardRuns> | undefined,
  totals: DatasetTotals,
  context: CheckContext,
): Promise<void> {
  const file = metadata.get(manifests.at(-1)?.version ?? 0);
  if (file === undefined) return;
  const tell = (message: string): void => reportDataset(context, { kind: 'wrong_metadata', message, file });
  const { parseDocument } = await import('yaml');
  let document: Document.Parsed;
  try {
    document = parseDocument(await readFile(file, 'utf8'));
  } catch (error) {
    tell(`it cannot be read: ${errorMessage(error)}`);
    return;
  }
  const [fault] = document.errors;
  if (fault !== undefined) {
    tell(`it is no YAML: ${fault.message.split('\n')[0]}`);
    return;
  }
  const shardCount = new Set([...tars.keys(), ...(index ?? sharded).keys()]).size;
  const numShards = document.getIn(['dataset_config', 'num_shards']);
  if (typeof numShards === 'number' && numShards !== shardCount) {
    tell(`it says num_shards: ${numShards}, and there are ${shardCount}`);
  }
  const perShard = document.get('num_samples_per_shard');
  const rows = totals.shards.map((shard) => shard.rows);
  if (typeof perShard !== 'number' || rows.length === 0 || !totals.isReadable) return;
  const least = rows.reduce((a, b) => Math.min(a, b));
  const most = rows.reduce((a, b) => Math.max(a, b));
  if (perShard >= least && perShard <= most) return;
  tell(`it says num_samples_per_shard: ${perShard}, and shards have ${least === most ? least : `${least} to ${most}`}`);
}
