import path from 'node:path';
import { InputError, OutputError, UsageError } from '../errors.js';
import { sizeOf } from '../run/atomic-file.js';
import { listIndexFiles, removeIndexFiles } from '../shard/index-file-names.js';
import {
  INDEX_KINDS,
  writeIndexes,
  type IndexedDataset,
  type IndexedShard,
  type IndexKind,
} from '../shard/write-indexes.js';
import type { TarContext } from './context.js';
import type { BaseDataset } from './grown.js';
import { datasetFiles, removeIfEmpty, shardFiles, type TarOutputs } from './layout.js';
import type { IndexMetrics, TarMetrics } from './metrics.js';
import { versionOf } from './publish.js';

/** Datasets whose shards and manifests are all in place. */
export interface IndexRun {
  outputs: TarOutputs;
  metrics: Omit<TarMetrics, 'indexes'>;
  /** Undefined for a new dataset. */
  base: BaseDataset | undefined;
  context: Pick<TarContext, 'signal' | 'onProgress'>;
}

/** Hexadecimal digits of the plan's hash in the name of a dataset: wids keeps datasets of one name in one place of its cache. */
const NAME_DIGITS = 8;

/**
 * Writes indexes of the kinds beside the shards of every dataset of a run, those of added rows over all shards.
 *
 * @returns what the metrics say of them, in the order of kinds
 */
export async function writeTarIndexes(kinds: readonly IndexKind[], run: IndexRun): Promise<IndexMetrics[]> {
  const found: IndexMetrics[] = kinds.map((index) => ({ index, warnings: [] }));
  const datasets = await listDatasets(run);
  const totalShards = datasets.reduce((sum, { shards }) => sum + shards.length, 0);
  const { signal, onProgress } = run.context;
  let before = 0;
  for (const dataset of kinds.length === 0 ? [] : datasets) {
    const { warnings } = await writeIndexes(kinds, dataset, {
      signal,
      onProgress: ({ shards, totalShards: own }) => {
        // Each shard is passed over once or more often; all of them count as one.
        const done = before + Math.floor((shards / own) * dataset.shards.length);
        onProgress?.({ stage: 'index', shards: done, totalShards });
      },
    });
    before += dataset.shards.length;
    const where = path.relative(run.outputs.folder, dataset.folder);
    for (const { index, message, hint } of warnings) {
      const text = `${where === '' ? '' : `${where}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
      found.find((entry) => entry.index === index)?.warnings.push(text);
    }
  }
  return found;
}

/**
 * Deals with index files that the run does not write: of a new dataset they are those of a run that was stopped, and removed. Where rows are
 * added they are those of the dataset before.
 *
 * @returns a warning of indexes that lack the new shards
 */
export async function settleOtherIndexes(
  written: readonly IndexKind[],
  { outputs, metrics, base }: IndexRun,
): Promise<string[]> {
  const others = INDEX_KINDS.filter((kind) => !written.includes(kind));
  if (base === undefined) {
    for (const { folder } of metrics.datasets) {
      const place = path.join(outputs.folder, folder);
      await removeIndexFiles(place, others);
      for (const inner of ['.nv-meta', 'shar']) await removeIfEmpty(path.join(place, inner));
    }
    return [];
  }
  const stale: IndexKind[] = [];
  for (const kind of others) if ((await listIndexFiles(outputs.folder, [kind])).length > 0) stale.push(kind);
  if (stale.length === 0) return [];
  return [
    `the indexes for ${stale.join(', ')} tell of the earlier shards alone: --index ${stale.join(',')} writes them anew`,
  ];
}

/**
 * Finds out before anything is packed whether shards that are there already can be indexed with the new ones.
 *
 * @throws UsageError where they lie in another folder; InputError where they are not there
 */
export async function requireIndexable({ folder }: TarOutputs, base: BaseDataset): Promise<void> {
  const baseFolder = path.dirname(path.resolve(base.manifestPath));
  if (baseFolder !== folder) {
    throw new UsageError(`Cannot index the shards in "${folder}" with those in "${baseFolder}"`, {
      hint: 'Indexes are of one folder: give --target-dir the folder of the dataset that gains rows, or leave out --index.',
    });
  }
  for (let shard = 0; shard < base.numShards; shard += 1) {
    const file = path.join(folder, shardFiles({ prefix: '' }, shard, true).tar);
    if ((await sizeOf(file)) !== undefined) continue;
    throw new InputError(`Cannot index the dataset in "${folder}": "${file}" is not there`, {
      path: file,
      hint: 'Put the shard there, or leave out --index.',
    });
  }
}

/** @throws OutputError where rows were added to the dataset since: its indexes are those of more shards */
export async function requireNewest({ outputs, base }: Pick<IndexRun, 'outputs' | 'base'>): Promise<void> {
  const next = path.join(outputs.folder, datasetFiles({ prefix: '' }, (versionOf(base) ?? 0) + 1).metadata);
  if ((await sizeOf(next)) === undefined) return;
  throw new OutputError(`Cannot index the dataset in "${outputs.folder}" without the rows that were added to it`, {
    path: next,
    hint: 'Run the command that added rows last again, with --index.',
  });
}

async function listDatasets({ outputs, metrics, base }: IndexRun): Promise<IndexedDataset[]> {
  const facts = new Map(metrics.shards.map((shard) => [shard.tar, shard]));
  const datasets: IndexedDataset[] = [];
  for (const { folder, first_shard: firstShard, num_shards: count } of metrics.datasets) {
    const prefix = folder === '' ? '' : `${folder}/`;
    const full = path.join(outputs.folder, datasetFiles({ prefix }, versionOf(base)).manifest);
    const ids = Array.from({ length: firstShard + count }, (_, shardId) => shardId);
    const isSharded = metrics.shard_manifests && (await areThere(outputs, prefix, firstShard));
    const shards = ids.map((shardId): IndexedShard => {
      const { tar, manifest } = shardFiles({ prefix }, shardId, true);
      const known = facts.get(tar);
      return {
        tarPath: path.join(outputs.folder, tar),
        ...(isSharded ? { manifestPath: path.join(outputs.folder, manifest) } : { manifestPath: full, shardId }),
        ...(known !== undefined && { members: known.members, tarBytes: known.tar_bytes }),
      };
    });
    const name = `tarred-${(metrics.plan_hash ?? '').slice(0, NAME_DIGITS)}`;
    datasets.push({
      folder: path.join(outputs.folder, folder),
      shards,
      name: folder === '' ? name : `${name}-${folder}`,
    });
  }
  return datasets;
}

/** Whether each of the first shards, which an earlier run made, has a manifest of its own. */
async function areThere({ folder }: TarOutputs, prefix: string, count: number): Promise<boolean> {
  for (let shardId = 0; shardId < count; shardId += 1) {
    if ((await sizeOf(path.join(folder, shardFiles({ prefix }, shardId, true).manifest))) === undefined) return false;
  }
  return true;
}
