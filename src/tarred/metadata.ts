import { readFile } from 'node:fs/promises';
import { Document, isMap, isSeq, parseDocument, Scalar, type YAMLMap } from 'yaml';
import { errorMessage, InputError, systemCode } from '../errors.js';

/** What NeMo's converter notes of a tarred dataset: `metadata.yaml`, with its keys in its order. */
export interface TarredMetadata {
  /** Of rows that are added to a dataset: of the dataset as it is then. */
  version: number;
  /** Rows of the smallest shard. */
  samplesPerShard: number;
  isConcatenated: boolean;
  numShards: number;
  shuffle: boolean;
  maxDurationSeconds: number | undefined;
  minDurationSeconds: number | undefined;
  shuffleSeed: number | undefined;
  sortInShards: boolean;
  sliceWithOffset: boolean;
  shardManifests: boolean;
  keepFilesTogether: boolean;
  forceCodec: string | undefined;
  /** Written where it is set: converters of 2025 do not know the key. */
  forceSamplingRate: number | undefined;
  /** Undefined for a bucket, which is not bucketed again. */
  bucketing: { numBuckets: number; binsSeconds: readonly number[] } | undefined;
  /** Records of the dataset before, the oldest first. */
  history: readonly YAMLMap[];
}

/** YAML of a dataset's metadata. */
export function formatMetadata(metadata: TarredMetadata, created: string): string {
  const { bucketing, forceSamplingRate } = metadata;
  const document = new Document({
    created_datetime: created,
    version: metadata.version,
    num_samples_per_shard: metadata.samplesPerShard,
    is_concatenated_manifest: metadata.isConcatenated,
    dataset_config: {
      num_shards: metadata.numShards,
      shuffle: metadata.shuffle,
      max_duration: floatOf(metadata.maxDurationSeconds),
      min_duration: floatOf(metadata.minDurationSeconds),
      shuffle_seed: metadata.shuffleSeed ?? null,
      sort_in_shards: metadata.sortInShards,
      slice_with_offset: metadata.sliceWithOffset,
      shard_manifests: metadata.shardManifests,
      keep_files_together: metadata.keepFilesTogether,
      force_codec: metadata.forceCodec ?? null,
      ...(forceSamplingRate !== undefined && { force_sampling_rate: forceSamplingRate }),
      use_lhotse: bucketing !== undefined,
      use_bucketing: bucketing !== undefined,
      num_buckets: bucketing?.numBuckets ?? null,
      bucket_duration_bins: bucketing?.binsSeconds.map(floatOf) ?? null,
    },
    history: metadata.history,
  });
  return document.toString({ indentSeq: false, lineWidth: 0 });
}

/** A number that stays a float in Python: `20.0`. */
function floatOf(seconds: number | undefined): Scalar | null {
  if (seconds === undefined) return null;
  const scalar = new Scalar(seconds);
  scalar.minFractionDigits = 1;
  return scalar;
}

/**
 * The time in metadata, in the converter's format. Outputs do not depend on the clock: it is what `SOURCE_DATE_EPOCH` says, in UTC, and else the
 * beginning of time, as in the headers of the tars.
 */
export function createdDatetime(environment: Readonly<Record<string, string | undefined>>): string {
  const epoch = environment['SOURCE_DATE_EPOCH'] ?? '';
  const seconds = /^\d{1,11}$/u.test(epoch) ? Number(epoch) : 0;
  const [date = '', time = ''] = new Date(seconds * 1000).toISOString().slice(0, 19).split('T');
  const [year = '', month = '', day = ''] = date.split('-');
  return `${month}-${day}-${year} ${time.replaceAll(':', '-')}`;
}

/** What rows that are added to a dataset have to know of it. */
export interface BaseMetadata {
  version: number;
  samplesPerShard: number;
  numShards: number;
  /** Options of the dataset, for those that are not given. */
  maxDurationSeconds: number | undefined;
  minDurationSeconds: number | undefined;
  shuffle: boolean;
  shuffleSeed: number | undefined;
  sortInShards: boolean;
  shardManifests: boolean;
  sliceWithOffset: boolean;
  keepFilesTogether: boolean;
  forceCodec: string | undefined;
  forceSamplingRate: number | undefined;
  /** All records of the dataset, itself last, each without its history. */
  history: YAMLMap[];
}

/**
 * Reads the metadata of a dataset.
 *
 * @throws InputError when it cannot be read, or does not say how many shards and rows there are
 */
export async function readMetadata(path: string): Promise<BaseMetadata> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error);
    throw new InputError(`Cannot read the metadata "${path}": ${reason}`, { path, cause: error });
  });
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line;
    throw new InputError(`Cannot read the metadata "${path}": ${fault.message.split('\n')[0]}`, { path, line });
  }
  const get = (key: string): unknown => document.getIn(['dataset_config', key]);
  const wholeOf = (value: unknown, key: string, least: number): number => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
    throw new InputError(`Cannot read the metadata "${path}": "${key}" is no whole number from ${least} on`, {
      path,
      hint: 'Name the metadata.yaml that was written beside the dataset.',
    });
  };
  return {
    version: wholeOf(document.get('version'), 'version', 0),
    samplesPerShard: wholeOf(document.get('num_samples_per_shard'), 'num_samples_per_shard', 1),
    numShards: wholeOf(get('num_shards'), 'num_shards', 1),
    maxDurationSeconds: numberOf(get('max_duration')),
    minDurationSeconds: numberOf(get('min_duration')),
    shuffle: get('shuffle') === true,
    shuffleSeed: numberOf(get('shuffle_seed')),
    sortInShards: get('sort_in_shards') === true,
    shardManifests: get('shard_manifests') !== false,
    sliceWithOffset: get('slice_with_offset') === true,
    keepFilesTogether: get('keep_files_together') === true,
    forceCodec: typeof get('force_codec') === 'string' ? (get('force_codec') as string) : undefined,
    forceSamplingRate: numberOf(get('force_sampling_rate')),
    history: historyOf(document),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function historyOf(document: ReturnType<typeof parseDocument>): YAMLMap[] {
  const earlier = document.get('history');
  const records = isSeq(earlier) ? earlier.items.filter((item) => isMap(item)) : [];
  if (isMap(document.contents)) {
    const own = document.contents.clone() as YAMLMap;
    own.set('history', []);
    records.push(own);
  }
  return records;
}
