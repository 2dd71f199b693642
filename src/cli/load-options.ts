import { readFile } from 'node:fs/promises';
import { InputError, UsageError, errorMessage, systemCode } from '../errors.js';
import type { BucketBins, PlanOptions } from '../load/batch-options.js';
import { OPEN_END_SECONDS } from '../load/config-options.js';
import type { RowFilters } from '../load/item-table.js';
import type { ConfigOptions, LoaderConfig } from '../load/parse-config.js';
import { isLimited } from '../load/plan-settings.js';
import type { NemoSource, NemoTarredSource, PathSource, SourceSpec } from '../load/sources.js';
import type { LimitFlags, PlanFlags, RowFlags, SourceFlags } from './load-flags.js';
import { readBins, type BinsFlag, type SourceFlag } from './load-values.js';

/** What a command line, and the configuration that it names, say of what is loaded. */
export interface LoadRequest {
  source: SourceSpec;
  filters: RowFilters;
  /** Options of the configuration, which flags go before. */
  configured: ConfigOptions | undefined;
  /** Keys of the configuration that change nothing, in words. */
  notices: string[];
}

/**
 * All sources that a command line names, as one, and which of their rows are kept.
 *
 * @param paths sources without a flag
 * @param others sources of further kinds, which a command has flags of its own for; they come last
 * @throws {UsageError} when there is none, manifests and tars do not go together, or tokens are bounded without a tokenizer; {InputError} when
 * the configuration cannot be read.
 */
export async function readLoadRequest(
  flags: SourceFlags & RowFlags,
  paths: readonly string[],
  others: readonly SourceSpec[] = [],
): Promise<LoadRequest> {
  const config = await readConfig(flags);
  const sources: SourceSpec[] = [
    ...paths.map((path): PathSource => ({ type: 'path', path })),
    ...(flags.source ?? []).map(toPathSource),
    ...pairManifests(flags.manifest ?? [], flags.tars ?? []),
    ...(config === undefined ? [] : [config.source]),
    ...others,
  ];
  return {
    source: joinSources(sources, flags),
    filters: filtersOf(flags, config?.options.filters),
    configured: config?.options,
    notices: (config?.ignored ?? []).map(({ key, reason }) => `"${key}" of ${flags.config} is passed over: ${reason}`),
  };
}

async function readConfig({ config, section }: SourceFlags): Promise<LoaderConfig | undefined> {
  if (config === undefined && section !== undefined) throw new UsageError('--section is given without --config');
  if (config === undefined) return undefined;
  const { readLoaderConfig } = await import('../load/parse-config.js');
  return await readLoaderConfig(config, { section });
}

function joinSources(sources: readonly SourceSpec[], { staticBuckets, temperature }: SourceFlags): SourceSpec {
  const [first] = sources;
  if (first === undefined) {
    throw new UsageError('There is no source', { hint: 'Give a path, --source, --manifest or --config.' });
  }
  if (staticBuckets) {
    if (temperature !== undefined) throw new UsageError('--temperature is of mixtures, not of static buckets');
    return { type: 'buckets', buckets: sources };
  }
  if (sources.length === 1 && temperature === undefined) return first;
  return { type: 'group', sources, temperature };
}

function toPathSource({ name, path, weight }: SourceFlag): PathSource {
  return { type: 'path', path, name, weight };
}

function pairManifests(manifests: readonly string[], tars: readonly string[]): (NemoSource | NemoTarredSource)[] {
  if (tars.length === 0) return manifests.map((manifest) => ({ type: 'nemo', manifests: [manifest] }));
  if (manifests.length === 1) return [{ type: 'nemo_tarred', manifests, tars }];
  if (manifests.length === tars.length) {
    return manifests.map((manifest, at) => ({ type: 'nemo_tarred', manifests: [manifest], tars: [tars[at]!] }));
  }
  throw new UsageError(`There are ${manifests.length} of --manifest and ${tars.length} of --tars`, {
    hint: 'Give each --manifest its --tars, in the same order, or one --manifest for all.',
  });
}

function filtersOf(flags: RowFlags, configured: RowFilters = {}): RowFilters {
  const filters: RowFilters = {
    minDurationSeconds: flags.minLength ?? configured.minDurationSeconds,
    maxDurationSeconds: flags.maxLength ?? configured.maxDurationSeconds,
    minCharactersPerSecond: flags.minCharRate ?? configured.minCharactersPerSecond,
    maxCharactersPerSecond: flags.maxCharRate ?? configured.maxCharactersPerSecond,
    minTokensPerSecond: flags.minTokenRate ?? configured.minTokensPerSecond,
    maxTokensPerSecond: flags.maxTokenRate ?? configured.maxTokensPerSecond,
    minTokens: flags.minTokens ?? configured.minTokens,
    maxTokens: flags.maxTokens ?? configured.maxTokens,
  };
  const { minTokensPerSecond, maxTokensPerSecond, minTokens, maxTokens } = filters;
  const bounds = [minTokensPerSecond, maxTokensPerSecond, minTokens, maxTokens];
  if (flags.tokenizer === undefined && bounds.some((bound) => bound !== undefined)) {
    throw new UsageError('Rows are bounded by tokens, and there is no tokenizer to count them', {
      hint: 'Give --tokenizer, or bound characters with --min-char-rate and --max-char-rate.',
    });
  }
  return filters;
}

/** True when a plan looks at tokens. */
export function needsTokens({ tokenizer }: RowFlags, { tokenBuckets, bins }: PlanOptions): boolean {
  return tokenizer !== undefined || tokenBuckets !== undefined || Array.isArray(bins?.[0]);
}

/**
 * Options of a plan: those of flags, else those of a configuration.
 *
 * @throws {UsageError} when flags exclude each other; {InputError} when the bins cannot be read.
 */
export async function readPlanOptions(flags: PlanFlags, configured: PlanOptions = {}): Promise<PlanOptions> {
  checkQuadratic(flags, configured);
  return {
    maxDuration: flags.maxDuration ?? configured.maxDuration,
    batchDuration: flags.batchDuration ?? configured.batchDuration,
    quadraticDuration: flags.quadraticDuration ?? configured.quadraticDuration,
    batchSize: flags.batchSize ?? configured.batchSize,
    maxSamples: flags.maxSamples ?? configured.maxSamples,
    ...(await readBuckets(flags, configured)),
    bucketWindow: flags.bucketWindow ?? configured.bucketWindow,
    bucketOrder: flags.bucketOrder ?? configured.bucketOrder,
    strict2d: flags.lenientBins === undefined ? configured.strict2d : !flags.lenientBins,
    seed: flags.seed ?? configured.seed,
    shuffle: flags.shuffle ?? configured.shuffle,
    strategy: flags.strategy ?? configured.strategy,
    strict: flags.strict ?? configured.strict,
    lastBatch: flags.lastBatch ?? configured.lastBatch,
    oversized: flags.oversized ?? configured.oversized,
    stop: flags.stop ?? configured.stop,
    epochItems: flags.epochItems ?? configured.epochItems,
    numCopies: flags.numCopies ?? configured.numCopies,
    speeds: flags.speeds ?? configured.speeds,
  };
}

/** Buckets of flags take the place of all that a configuration says of them, but for batch sizes of buckets that stay. */
async function readBuckets(flags: PlanFlags, configured: PlanOptions): Promise<PlanOptions> {
  const { buckets, tokenBuckets, bins, bucketBatchSizes } = flags;
  if (buckets !== undefined && bins !== undefined) throw new UsageError('--buckets and --bins exclude each other');
  if (tokenBuckets !== undefined && bins !== undefined) {
    throw new UsageError('--token-buckets and --bins exclude each other', {
      hint: 'Give bins of two dimensions: --bins [[2.5,20],[2.5,40]].',
    });
  }
  if (bins !== undefined) {
    const given = await findBins(bins);
    return { bins: given.bins, bucketBatchSizes: bucketBatchSizes ?? given.batchSizes };
  }
  if (buckets !== undefined) return { bucketCount: buckets, tokenBuckets, bucketBatchSizes };
  return {
    bucketCount: configured.bucketCount,
    tokenBuckets: tokenBuckets ?? configured.tokenBuckets,
    bins: configured.bins,
    bucketBatchSizes: bucketBatchSizes ?? configured.bucketBatchSizes,
  };
}

/** @throws {UsageError} when nothing bounds a batch. */
export function requireLimit(options: PlanOptions): void {
  if (isLimited(options)) return;
  throw new UsageError('Nothing says how large a batch may be', {
    hint: 'Give --max-duration, --batch-duration, --batch-size, --max-samples or --bucket-batch-sizes.',
  });
}

/** @throws {UsageError} when the square is given without what it belongs to. */
export function checkQuadratic(flags: LimitFlags, configured: PlanOptions = {}): void {
  if (flags.quadraticDuration === undefined || (flags.batchDuration ?? configured.batchDuration) !== undefined) return;
  throw new UsageError('--quadratic-duration is given without --batch-duration');
}

interface GivenBins {
  bins: BucketBins;
  batchSizes: number[] | undefined;
}

async function findBins(flag: BinsFlag): Promise<GivenBins> {
  return 'bins' in flag ? { bins: flag.bins, batchSizes: undefined } : await readBinsFile(flag.path);
}

async function readBinsFile(path: string): Promise<GivenBins> {
  const refuse = (state: string, cause?: unknown): InputError =>
    new InputError(`Cannot take bins from "${path}": ${state}`, {
      path,
      hint: 'Give what cutroom bins prints, or the bins themselves: --bins 2.5,5,10.',
      cause,
    });
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw refuse(systemCode(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error), error);
  }
  const fields: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {};
  const bins = readBins(fields['bucket_duration_bins']);
  if (bins === undefined) throw refuse('"bucket_duration_bins" is no list of bounds that ascend');
  const sizes = fields['bucket_batch_size'] ?? undefined;
  if (sizes !== undefined && !isSizes(sizes)) throw refuse('"bucket_batch_size" is no list of whole numbers above 0');
  return { bins: closeBins(bins, fields['num_buckets']), batchSizes: sizes };
}

/** Bounds between buckets, as `--inner` prints them, are one fewer than the buckets: the last one is open. */
function closeBins(bins: BucketBins, bucketCount: unknown): BucketBins {
  const bounds = bins.filter((bin) => typeof bin === 'number');
  return bounds.length === bins.length && bucketCount === bins.length + 1 ? [...bounds, OPEN_END_SECONDS] : bins;
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 1);
}
