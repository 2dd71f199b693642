import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { isRateHeld, nameRates, type AudioFormat } from '../audio/sample-rates.js';
import { toMicros } from '../audio/times.js';
import { UsageError } from '../errors.js';
import { INDEX_KINDS, type IndexKind } from '../shard/index-types.js';
import type { OptionValue } from '../shard/plan.js';

/** What `tarDataset` is asked for. The names are those of NeMo's converter. */
export interface TarOptions {
  /** NeMo manifests (`.json`, `.jsonl`, `.gz`), or datasets that are packed already: a folder, a `.lst`, a manifest beside its tar. */
  manifestPaths?: readonly string[] | undefined;
  /** The full manifest of a tarred dataset, then manifests of the rows that it gains; needs `metadataPath`. */
  concatManifestPaths?: readonly string[] | undefined;
  /** `metadata.yaml` of the dataset that gains rows. */
  metadataPath?: string | undefined;
  /** Default `./tarred`. */
  targetDir?: string | undefined;
  /** Shards, of each bucket. Taken from the metadata where rows are added to a dataset. */
  numShards?: number | undefined;
  /** Rows of this duration or longer are left out, in seconds. Default: no bound. */
  maxDurationSeconds?: number | undefined;
  /** Shorter rows are left out, in seconds. Default: no bound. */
  minDurationSeconds?: number | undefined;
  /** Shuffles the rows as Python's `random` does. */
  shuffle?: boolean | undefined;
  /** Default 0. */
  shuffleSeed?: number | undefined;
  /** Sorts each shard by duration. */
  sortInShards?: boolean | undefined;
  /** All rows of a file go into one shard. */
  keepFilesTogether?: boolean | undefined;
  /** Format of all members. Default: the bytes of the files as they are. */
  forceCodec?: AudioFormat | undefined;
  /** Hz of all members. Default: those of the files. */
  forceSamplingRate?: number | undefined;
  /** What is made of several channels where audio is encoded. Default `average`. */
  channel?: 'average' | number | undefined;
  /** Each row's span becomes a member of its own. */
  sliceWithOffset?: boolean | undefined;
  /** Rows that repeat a file share its member, under names with `-subN`, as NeMo's converter writes them. */
  subRows?: boolean | undefined;
  /** More than 1: a dataset for each of so many ranges of duration, of equal width. Default 1. */
  bucketsNum?: number | undefined;
  /** Buckets that the duration bins in the metadata are estimated for. Default 30. */
  dynamicBucketsNum?: number | undefined;
  /** False leaves out `sharded_manifests/`. Default true. */
  shardManifests?: boolean | undefined;
  /** Writes manifests and no tars. */
  onlyManifests?: boolean | undefined;
  /** Indexes to be written beside the shards. A finished dataset gets those that it lacks. Default: none. */
  index?: readonly IndexKind[] | undefined;
  /** Writes `default_metadata.yaml` and nothing else. */
  writeMetadata?: boolean | undefined;
  /** Plans only. */
  dryRun?: boolean | undefined;
  /** Rows that the shards do not share evenly: spread over the first of them, or dropped. Default `spread`. */
  remainder?: 'spread' | 'drop' | undefined;
  /** Folder that relative paths of audio are joined to. Default: that of their manifest, else the current one. */
  base?: string | undefined;
  /** Whether a run of which more failed than `maxFailures` allows counts as failed; all that can be done is done either way. Default `fail`. */
  onError?: 'fail' | 'skip' | undefined;
  /** Rows and members that may fail. Default: none. */
  maxFailures?: { count: number } | { percent: number } | undefined;
  /** Processes that make shards. Default: one a core. */
  jobs?: number | undefined;
  /** Replaces outputs of other options or input. */
  overwrite?: boolean | undefined;
  /** A recording whose decoder is silent for so long fails, in seconds. Default 300. */
  recordingTimeoutSeconds?: number | undefined;
}

/** `TarOptions` with every default filled in; folders are absolute. */
export interface ResolvedTarOptions {
  manifestPaths: readonly string[];
  concat: { baseManifest: string; metadataPath: string } | undefined;
  targetDir: string;
  /** Undefined where rows are added to a dataset. */
  numShards: number | undefined;
  maxDurationSeconds: number | undefined;
  minDurationSeconds: number | undefined;
  shuffle: boolean;
  shuffleSeed: number | undefined;
  sortInShards: boolean;
  keepFilesTogether: boolean;
  forceCodec: AudioFormat | undefined;
  forceSamplingRate: number | undefined;
  channel: 'average' | number | undefined;
  sliceWithOffset: boolean;
  subRows: boolean;
  bucketsNum: number;
  dynamicBucketsNum: number;
  shardManifests: boolean;
  onlyManifests: boolean;
  /** Each once, in the order in which they are written. */
  index: readonly IndexKind[];
  writeMetadata: boolean;
  dryRun: boolean;
  remainder: 'spread' | 'drop';
  base: string | undefined;
  /** As it was given: the metrics of the same run in another folder are the same. */
  givenBase: string | undefined;
  onError: 'fail' | 'skip';
  maxFailures: { count: number } | { percent: number };
  jobs: number;
  overwrite: boolean;
  recordingTimeoutSeconds: number;
}

/**
 * Fills in the defaults and checks what can be checked without reading a file.
 *
 * @throws UsageError when options contradict each other
 * @throws RangeError when a number is out of its range
 */
export function resolveTarOptions(options: TarOptions): ResolvedTarOptions {
  const manifests = splitPaths(options.manifestPaths ?? []);
  const [baseManifest, ...added] = splitPaths(options.concatManifestPaths ?? []);
  const resolved: ResolvedTarOptions = {
    manifestPaths: baseManifest === undefined ? manifests : added,
    concat: baseManifest === undefined ? undefined : { baseManifest, metadataPath: options.metadataPath ?? '' },
    targetDir: path.resolve(options.targetDir ?? 'tarred'),
    numShards: options.numShards,
    maxDurationSeconds: options.maxDurationSeconds,
    minDurationSeconds: options.minDurationSeconds,
    shuffle: options.shuffle ?? false,
    shuffleSeed: options.shuffleSeed,
    sortInShards: options.sortInShards ?? false,
    keepFilesTogether: options.keepFilesTogether ?? false,
    forceCodec: options.forceCodec,
    forceSamplingRate: options.forceSamplingRate,
    channel: options.channel,
    sliceWithOffset: options.sliceWithOffset ?? false,
    subRows: options.subRows ?? false,
    bucketsNum: options.bucketsNum ?? 1,
    dynamicBucketsNum: options.dynamicBucketsNum ?? 30,
    shardManifests: options.shardManifests ?? true,
    onlyManifests: options.onlyManifests ?? false,
    index: INDEX_KINDS.filter((kind) => options.index?.includes(kind)),
    writeMetadata: options.writeMetadata ?? false,
    dryRun: options.dryRun ?? false,
    remainder: options.remainder ?? 'spread',
    base: options.base === undefined ? undefined : path.resolve(options.base),
    givenBase: options.base,
    onError: options.onError ?? 'fail',
    maxFailures: options.maxFailures ?? { count: 0 },
    jobs: options.jobs ?? availableParallelism(),
    overwrite: options.overwrite ?? false,
    recordingTimeoutSeconds: options.recordingTimeoutSeconds ?? 300,
  };
  checkNumbers(resolved);
  if (!resolved.writeMetadata) checkInputs(resolved, options, manifests, added);
  checkTogether(resolved);
  return resolved;
}

/** NeMo separates paths by commas; a path that is there as it stands is one path. */
function splitPaths(paths: readonly string[]): string[] {
  return paths.flatMap((named) =>
    named.includes(',') && !existsSync(named) ? named.split(',').filter((part) => part.trim() !== '') : [named],
  );
}

function checkNumbers(options: ResolvedTarOptions): void {
  const { numShards, bucketsNum, dynamicBucketsNum, shuffleSeed, jobs } = options;
  const wholes = { numShards, bucketsNum, dynamicBucketsNum, jobs };
  for (const [name, value] of Object.entries(wholes)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value < 2 ** 31)) {
      throw new RangeError(`${name} must be a whole number from 1 on, not ${value}`);
    }
  }
  if (shuffleSeed !== undefined && !Number.isSafeInteger(shuffleSeed)) {
    throw new RangeError(`shuffleSeed must be a whole number, not ${shuffleSeed}`);
  }
}

function checkInputs(
  { concat, bucketsNum, numShards }: ResolvedTarOptions,
  options: TarOptions,
  manifests: readonly string[],
  added: readonly string[],
): void {
  if (concat === undefined) {
    if (options.metadataPath !== undefined) {
      throw new UsageError('--metadata-path goes with --concat-manifest-paths');
    }
    if (manifests.length === 0) {
      throw new UsageError('No manifest is given', { hint: 'Name one with --manifest-path.' });
    }
    if (numShards === undefined) {
      throw new UsageError('--num-shards is needed', {
        hint: 'Take a multiple of the number of processes that will train, times their loader workers.',
      });
    }
    return;
  }
  if (manifests.length > 0) throw new UsageError('--manifest-path and --concat-manifest-paths exclude each other');
  if (added.length === 0) {
    throw new UsageError('--concat-manifest-paths names the dataset alone', {
      hint: 'Name its tarred_audio_manifest.json first, then the manifests of the rows that it gains.',
    });
  }
  if (concat.metadataPath === '') throw new UsageError('--concat-manifest-paths needs --metadata-path');
  if (bucketsNum > 1) throw new UsageError('--buckets-num and --concat-manifest-paths exclude each other');
  if (numShards !== undefined) {
    throw new UsageError('--num-shards and --concat-manifest-paths exclude each other', {
      hint: 'New shards get as many rows as those of the dataset have.',
    });
  }
}

const NOT_INDEXED = ['onlyManifests', 'dryRun', 'writeMetadata'] as const;

function checkTogether(options: ResolvedTarOptions): void {
  const { minDurationSeconds: min, maxDurationSeconds: max, bucketsNum, forceCodec, forceSamplingRate } = options;
  if (min !== undefined && max !== undefined && toMicros(min) >= toMicros(max)) {
    throw new UsageError(`--min-duration ${min} is not less than --max-duration ${max}`, {
      hint: 'Rows are kept from --min-duration on and below --max-duration.',
    });
  }
  if (bucketsNum > 1 && (min === undefined || max === undefined)) {
    throw new UsageError('--buckets-num needs --min-duration and --max-duration, between which the buckets lie');
  }
  if (options.subRows && options.sliceWithOffset) {
    throw new UsageError('--sub-rows and --slice-with-offset exclude each other');
  }
  if (options.subRows && isForced(options)) {
    throw new UsageError(
      '--sub-rows shares files as they are: it excludes --force-codec, --force-sampling-rate, --channel',
    );
  }
  for (const name of options.index.length === 0 ? [] : NOT_INDEXED) {
    if (!options[name]) continue;
    const flag = name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--index is of shards that are packed: it excludes --${flag}`);
  }
  const format = forceCodec ?? 'flac';
  if (forceSamplingRate !== undefined && !isRateHeld(format, forceSamplingRate)) {
    throw new UsageError(`${format} cannot hold ${forceSamplingRate} Hz: it takes ${nameRates(format)}`);
  }
}

/** Tells whether members have to be of some format, rate or channel. */
export function isForced({
  forceCodec,
  forceSamplingRate,
  channel,
}: Pick<ResolvedTarOptions, 'forceCodec' | 'forceSamplingRate' | 'channel'>): boolean {
  return forceCodec !== undefined || forceSamplingRate !== undefined || channel !== undefined;
}

/** The options that decide the outputs, by their names on the command line. */
export function describeTarOptions(options: ResolvedTarOptions): Record<string, OptionValue> {
  return {
    'num-shards': options.numShards ?? null,
    'max-duration': options.maxDurationSeconds ?? null,
    'min-duration': options.minDurationSeconds ?? null,
    shuffle: options.shuffle,
    'shuffle-seed': options.shuffle ? (options.shuffleSeed ?? 0) : null,
    'sort-in-shards': options.sortInShards,
    'keep-files-together': options.keepFilesTogether,
    'force-codec': options.forceCodec ?? null,
    'force-sampling-rate': options.forceSamplingRate ?? null,
    channel: options.channel ?? null,
    'slice-with-offset': options.sliceWithOffset,
    'sub-rows': options.subRows,
    'buckets-num': options.bucketsNum,
    'dynamic-buckets-num': options.dynamicBucketsNum,
    'shard-manifests': options.shardManifests,
    'only-manifests': options.onlyManifests,
    remainder: options.remainder,
    // A relative path means another file where the base is another folder.
    base: options.givenBase ?? null,
  };
}
