import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError } from '../errors.js';
import { removeFile, removeFolder, writeFileAtomic, type ChunkWriter } from '../run/atomic-file.js';
import { clearWork } from '../shard/outcome-file.js';
import type { PackFailure } from '../shard/plan.js';
import { estimateBins } from './bins.js';
import type { DatasetPlan } from './dataset-plan.js';
import type { BaseDataset } from './grown.js';
import { datasetFiles, shardFiles, type TarOutputs } from './layout.js';
import { createdDatetime, formatMetadata, type TarredMetadata } from './metadata.js';
import type { TarMetrics } from './metrics.js';
import type { ResolvedTarOptions } from './options.js';
import type { TarSummary } from './summary.js';

/** A run whose shards are made. */
export interface DoneRun {
  outputs: TarOutputs;
  options: ResolvedTarOptions;
  datasets: readonly DatasetPlan[];
  /** Seconds of each row, by its number; NaN where they are not known. */
  durations: readonly number[] | Float64Array;
  base: BaseDataset | undefined;
  failures: readonly PackFailure[];
  summary: TarSummary;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Writes what belongs to whole datasets: manifests, metadata, failures. */
export async function publishDatasets(run: DoneRun): Promise<void> {
  const { outputs, datasets, failures, summary } = run;
  await removeFile(outputs.metrics);
  for (const [index, dataset] of datasets.entries()) {
    const { manifest, metadata } = datasetFiles(dataset, versionOf(run.base));
    await writeFileAtomic(path.join(outputs.folder, manifest), (write) => writeFullManifest(run, dataset, write));
    const text = formatMetadata(
      describeDataset(run, dataset, summary.datasets[index]?.smallestShard.rows ?? 0),
      createdDatetime(run.environment),
    );
    await writeFileAtomic(path.join(outputs.folder, metadata), (write) => write(text));
  }
  await writeFileAtomic(outputs.failures, async (write) => {
    for (const failure of failures) await write(`${JSON.stringify(failure)}\n`);
  });
}

/** Writes the metrics, to be called last: they are the sign that all is there. */
export async function publishMetrics(outputs: TarOutputs, metrics: TarMetrics): Promise<void> {
  await writeFileAtomic(outputs.metrics, (write) => write(`${JSON.stringify(metrics, null, 2)}\n`));
  await clearWorkFolder(outputs);
}

/** Removes what a run that is done leaves in its work folder, but for the lock. */
export async function clearWorkFolder(outputs: TarOutputs): Promise<void> {
  const { workFolder } = outputs;
  for (const file of [outputs.plan, `${outputs.plan}.next`]) await removeFile(file);
  await removeFolder(path.join(workFolder, 'manifests'));
  await removeBucketFolders(workFolder);
  await removeFile(outputs.identity);
  await clearWork(workFolder);
}

async function removeBucketFolders(workFolder: string): Promise<void> {
  for (const name of await readdir(workFolder).catch(() => [])) {
    if (/^bucket\d+$/u.test(name)) await removeFolder(path.join(workFolder, name));
  }
}

/** The version that a dataset with added rows gets; undefined for a new one. */
export function versionOf(base: BaseDataset | undefined): number | undefined {
  return base === undefined ? undefined : base.metadata.version + 1;
}

/** The manifests of all shards behind each other; before them the rows of the dataset that gains others, as they stand. */
async function writeFullManifest(
  { outputs, options, base }: DoneRun,
  dataset: DatasetPlan,
  write: ChunkWriter,
): Promise<void> {
  if (base !== undefined) await copyLines(base.manifestPath, write);
  for (let index = 0; index < dataset.partition.ends.length; index += 1) {
    const { manifest } = shardFiles(dataset, dataset.firstShard + index, options.shardManifests);
    await copyLines(path.join(outputs.folder, manifest), write);
  }
}

async function copyLines(file: string, write: ChunkWriter): Promise<void> {
  let last: Buffer | undefined;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 18 })) {
      last = chunk as Buffer;
      await write(last);
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, { path: file, cause: error });
  }
  if (last !== undefined && last.at(-1) !== 0x0a) await write('\n');
}

/** The metadata of a dataset, as NeMo's converter notes them. */
function describeDataset(
  { options, base, durations }: DoneRun,
  { bucket, partition, firstShard }: DatasetPlan,
  smallestShard: number,
): TarredMetadata {
  const bins = (): number[] =>
    estimateBins(
      Float64Array.from(partition.rows, (row) => durations[row] ?? Number.NaN),
      options.dynamicBucketsNum,
    );
  return {
    ...describeOptionsOf(options),
    version: versionOf(base) ?? 0,
    // Rows that are added later come in shards of this size; where all members of a shard failed, it is no guide.
    samplesPerShard: base?.samplesPerShard ?? Math.max(1, smallestShard),
    isConcatenated: base !== undefined,
    numShards: firstShard + partition.ends.length,
    maxDurationSeconds: bucket?.maxSeconds ?? options.maxDurationSeconds,
    minDurationSeconds: bucket?.minSeconds ?? options.minDurationSeconds,
    bucketing: bucket === undefined ? { numBuckets: options.dynamicBucketsNum, binsSeconds: bins() } : undefined,
    history: base?.metadata.history ?? [],
  };
}

/** The part of the metadata that options say. */
export function describeOptionsOf(
  options: ResolvedTarOptions,
): Omit<TarredMetadata, 'version' | 'samplesPerShard' | 'isConcatenated' | 'numShards' | 'bucketing' | 'history'> {
  const { shuffle, shuffleSeed, forceCodec, forceSamplingRate } = options;
  return {
    shuffle,
    shuffleSeed: shuffleSeed ?? (shuffle ? 0 : undefined),
    maxDurationSeconds: options.maxDurationSeconds,
    minDurationSeconds: options.minDurationSeconds,
    sortInShards: options.sortInShards,
    sliceWithOffset: options.sliceWithOffset,
    shardManifests: options.shardManifests,
    keepFilesTogether: options.keepFilesTogether,
    forceCodec,
    forceSamplingRate,
  };
}
