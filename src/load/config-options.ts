import type { BucketBins, PlanOptions } from './batch-options.js';
import { countOf, describe, listOf, numberOf, type ConfigFields } from './config-fields.js';
import { configError, type ConfigNode } from './config-node.js';
import type { RowFilters } from './item-table.js';

/** What a configuration says beside its sources. */
export interface ConfigOptions {
  plan: PlanOptions;
  filters: RowFilters;
  /** Hz. */
  sampleRate: number | undefined;
  textField: string | undefined;
}

/** A key that was passed over, and why. */
export interface IgnoredKey {
  key: string;
  reason: string;
}

/** Keys of `readOptions`; those of sources aside. */
export const OPTION_KEYS: readonly string[] = [
  ...['sample_rate', 'text_field', 'min_duration', 'max_duration', 'min_tps', 'max_tps', 'min_tokens', 'max_tokens'],
  ...['batch_size', 'batch_duration', 'quadratic_duration', 'use_bucketing', 'num_buckets', 'bucket_duration_bins'],
  ...['bucket_batch_size', 'bucket_buffer_size', 'bucketing_2d_strict_mode', 'bucketing_batch_size'],
  ...['bucketing_strategy', 'tarred_shard_strategy', 'shuffle', 'seed', 'drop_last', 'perturb_speed'],
  ...['min_chars_per_second', 'max_chars_per_second', 'max_batch_duration', 'max_samples', 'token_buckets'],
  ...['strategy', 'strict', 'last_batch', 'oversized', 'stop', 'epoch_items', 'num_copies', 'speeds'],
];

/** Longer than any item: the bound of a bucket without one. */
export const OPEN_END_SECONDS = 1e9;

/** NeMo perturbs by these. */
const NEMO_SPEEDS = [0.9, 1, 1.1];

/**
 * The options of a configuration: keys of NeMo, and those of `PlanOptions` in its spelling.
 *
 * @throws {UsageError} that names the line.
 */
export function readOptions(fields: ConfigFields, ignored: IgnoredKey[]): ConfigOptions {
  const filters = readFilters(fields);
  const plan: PlanOptions = {
    ...readLimits(fields),
    ...readBuckets(fields, filters.maxDurationSeconds, ignored),
    seed: readSeed(fields),
    shuffle: fields.takeFlag('shuffle'),
    strategy: readStrategy(fields),
    strict: fields.takeFlag('strict'),
    lastBatch: readLastBatch(fields),
    oversized: fields.takeChoice('oversized', ['error', 'drop', 'alone']),
    stop: fields.takeChoice('stop', ['first_exhausted', 'all_exhausted']),
    epochItems: fields.takeCount('epoch_items', 1),
    numCopies: fields.takeCount('num_copies', 1),
    speeds: readSpeeds(fields),
  };
  const sampleRate = fields.takeCount('sample_rate', 1);
  return { plan: withoutUndefined(plan), filters, sampleRate, textField: fields.takeText('text_field') };
}

function readFilters(fields: ConfigFields): RowFilters {
  return withoutUndefined<RowFilters>({
    minDurationSeconds: readBound(fields, 'min_duration'),
    maxDurationSeconds: readBound(fields, 'max_duration'),
    minCharactersPerSecond: readBound(fields, 'min_chars_per_second'),
    maxCharactersPerSecond: readBound(fields, 'max_chars_per_second'),
    minTokensPerSecond: readBound(fields, 'min_tps'),
    maxTokensPerSecond: readBound(fields, 'max_tps'),
    minTokens: readBound(fields, 'min_tokens'),
    maxTokens: readBound(fields, 'max_tokens'),
  });
}

/** NeMo's -1 and infinity bound nothing. */
function readBound(fields: ConfigFields, key: string): number | undefined {
  const node = fields.take(key);
  if (node === undefined) return undefined;
  if (Array.isArray(node.value)) {
    throw configError(`"${key}" is a list, one bound a bucket`, node, 'Give one bound for all rows.');
  }
  const bound = numberOf(node, `"${key}"`);
  if (key.startsWith('min') && (bound === -1 || bound === 0)) return undefined;
  if (key.startsWith('max') && bound === Number.POSITIVE_INFINITY) return undefined;
  if (bound >= 0 && Number.isFinite(bound)) return bound;
  throw configError(`"${key}" is ${bound}, and must be a number from 0 on`, node);
}

function readLimits(fields: ConfigFields): PlanOptions {
  const batchSize = fields.takeCount('batch_size', 1);
  const batchDuration = readSeconds(fields, 'batch_duration');
  const maxDuration = readSeconds(fields, 'max_batch_duration');
  const maxSamples = fields.takeCount('max_samples', 1);
  const quadraticDuration = readSeconds(fields, 'quadratic_duration');
  const hasDuration = batchDuration !== undefined || maxDuration !== undefined;
  const limits = { batchDuration, maxDuration, quadraticDuration };
  // Beside a limit of duration NeMo's batch_size is the most items that a batch has.
  if (hasDuration) return { ...limits, maxSamples: maxSamples ?? batchSize };
  return { ...limits, maxSamples, batchSize };
}

function readSeconds(fields: ConfigFields, key: string): number | undefined {
  const node = fields.take(key);
  if (node === undefined) return undefined;
  const seconds = numberOf(node, `"${key}"`);
  if (seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw configError(`"${key}" is ${seconds}, and must be seconds above 0`, node);
}

function readBuckets(fields: ConfigFields, maxSeconds: number | undefined, ignored: IgnoredKey[]): PlanOptions {
  const useBucketing = fields.takeFlag('use_bucketing');
  const count = fields.takeCount('num_buckets', 1);
  const binsNode = fields.take('bucket_duration_bins');
  const sizesNode = fields.take('bucket_batch_size');
  const bucketWindow = fields.takeCount('bucket_buffer_size', 1);
  const strict2d = fields.takeFlag('bucketing_2d_strict_mode');
  const tokenBuckets = fields.takeCount('token_buckets', 1);
  const bucketOrder = fields.takeChoice('bucketing_strategy', [
    ...(['synced_randomized', 'fixed_order', 'fully_randomized'] as const),
  ]);
  const adaptive = readAdaptive(fields.take('bucketing_batch_size'));
  if (useBucketing === false || (useBucketing === undefined && binsNode === undefined && count === undefined)) {
    const asked = { num_buckets: count, bucket_duration_bins: binsNode, bucket_batch_size: sizesNode };
    for (const [key, value] of Object.entries({ ...asked, token_buckets: tokenBuckets })) {
      if (value !== undefined) ignored.push({ key, reason: 'use_bucketing is not true' });
    }
    return { bucketOrder, bucketBatchSizes: adaptive };
  }
  if (adaptive !== undefined && sizesNode !== undefined) {
    throw configError('both "bucket_batch_size" and "bucketing_batch_size" are given', sizesNode);
  }
  const sizes = sizesNode === undefined ? undefined : listOf(sizesNode, '"bucket_batch_size"').map(sizeOf);
  const shared = { bucketOrder, bucketWindow, strict2d, bucketBatchSizes: sizes ?? adaptive };
  if (binsNode === undefined) return { ...shared, bucketCount: count ?? DEFAULT_BUCKETS, tokenBuckets };
  if (count !== undefined) ignored.push({ key: 'num_buckets', reason: 'bucket_duration_bins are given' });
  if (tokenBuckets !== undefined) ignored.push({ key: 'token_buckets', reason: 'bucket_duration_bins are given' });
  return { ...shared, bins: readBins(binsNode, sizes?.length, maxSeconds) };
}

/** NeMo's. */
const DEFAULT_BUCKETS = 30;

/**
 * NeMo's bins are bounds between buckets, the last of which is open, unless there are as many batch sizes: then they are upper bounds. Here they
 * are always upper bounds.
 */
function readBins(node: ConfigNode, sizes: number | undefined, maxSeconds: number | undefined): BucketBins {
  const bins = listOf(node, '"bucket_duration_bins"');
  if (bins.every(({ value }) => Array.isArray(value))) return bins.map(readPair);
  const bounds = bins.map((bin) => numberOf(bin, 'a bin'));
  const wrong = bounds.findIndex((bound, at) => !(bound > (bounds[at - 1] ?? 0) && Number.isFinite(bound)));
  if (wrong >= 0) throw configError(`the bin ${bounds[wrong]} is not above the one before it`, bins[wrong]!);
  const last = bounds.at(-1) ?? 0;
  if (sizes === bounds.length || (maxSeconds !== undefined && last >= maxSeconds)) return bounds;
  return [...bounds, maxSeconds ?? OPEN_END_SECONDS];
}

function readPair(node: ConfigNode): [number, number] {
  const [seconds, tokens, ...others] = listOf(node, 'a bin');
  if (seconds === undefined || tokens === undefined || others.length > 0) {
    throw configError('a bin of two dimensions has seconds and tokens', node);
  }
  return [numberOf(seconds, 'the seconds of a bin'), countOf(tokens, 'the tokens of a bin', 1)];
}

function readAdaptive(node: ConfigNode | undefined): PlanOptions['bucketBatchSizes'] {
  if (node === undefined) return undefined;
  return Array.isArray(node.value) ? listOf(node, '"bucketing_batch_size"').map(sizeOf) : sizeOf(node);
}

function sizeOf(node: ConfigNode): number {
  return countOf(node, 'a batch size', 1);
}

function readSeed(fields: ConfigFields): number | undefined {
  const node = fields.take('seed');
  if (node === undefined || typeof node.value !== 'string') return node && countOf(node, '"seed"', 0);
  const hint = 'Give a whole number: all ranks and workers are told apart by themselves.';
  throw configError(`"seed" is ${describe(node)}: no two trainings would be alike`, node, hint);
}

function readStrategy(fields: ConfigFields): PlanOptions['strategy'] {
  const own = fields.takeChoice('strategy', ['exact', 'scatter', 'replicate']);
  const nemo = fields.takeChoice('tarred_shard_strategy', ['exact', 'scatter', 'replicate']);
  if (own === undefined || nemo === undefined || own === nemo) return own ?? nemo;
  throw configError(`"strategy" is ${own}, and "tarred_shard_strategy" ${nemo}`, fields.node);
}

function readLastBatch(fields: ConfigFields): PlanOptions['lastBatch'] {
  const own = fields.takeChoice('last_batch', ['partial', 'pad', 'drop']);
  const dropsLast = fields.takeFlag('drop_last');
  if (own === undefined || dropsLast === undefined || dropsLast === (own === 'drop')) {
    return own ?? (dropsLast === true ? 'drop' : undefined);
  }
  throw configError(`"last_batch" is ${own}, and "drop_last" ${dropsLast}`, fields.node);
}

function readSpeeds(fields: ConfigFields): number[] | undefined {
  const node = fields.take('speeds');
  const perturbs = fields.takeFlag('perturb_speed') === true;
  if (node === undefined) return perturbs ? NEMO_SPEEDS : undefined;
  return listOf(node, '"speeds"').map((speed) => {
    const factor = numberOf(speed, 'a speed');
    if (factor > 0 && Number.isFinite(factor)) return factor;
    throw configError(`a speed is ${factor}, and must be above 0`, speed);
  });
}

function withoutUndefined<Shape extends object>(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Shape;
}
