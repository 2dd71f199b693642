import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { InputError, UsageError, errorMessage } from '../errors.js';
import type { BucketBins, PlanOptions } from '../load/batch-options.js';
import type { RowFilters } from '../load/item-table.js';
import type { NemoSource, NemoTarredSource, PathSource, SourceSpec } from '../load/sources.js';
import type { LimitFlags, PlanFlags, RowFlags, SourceFlags } from './load-flags.js';
import { readBins, type BinsFlag, type SourceFlag } from './load-values.js';

/**
 * All sources that a command line names, as one.
 *
 * @param paths sources without a flag
 * @param others sources of further kinds, which a command has flags of its own for; they come last
 * @throws {UsageError} when there is none, or manifests and tars do not go together; {InputError} when the configuration cannot be read.
 */
export async function readSources(
  flags: SourceFlags,
  paths: readonly string[],
  others: readonly SourceSpec[] = [],
): Promise<SourceSpec> {
  const sources: SourceSpec[] = [
    ...paths.map((path): PathSource => ({ type: 'path', path })),
    ...(flags.source ?? []).map(toPathSource),
    ...pairManifests(flags.manifest ?? [], flags.tars ?? []),
  ];
  sources.push(...others);
  const [first] = sources;
  if (first === undefined) {
    throw new UsageError('There is no source', { hint: 'Give a path, --source or --manifest.' });
  }
  if (flags.staticBuckets) {
    if (flags.temperature !== undefined) throw new UsageError('--temperature is of mixtures, not of static buckets');
    return { type: 'buckets', buckets: sources };
  }
  if (sources.length === 1 && flags.temperature === undefined) return first;
  return { type: 'group', sources, temperature: flags.temperature };
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

/** @throws {UsageError} when tokens are bounded and there is no tokenizer. */
export function filtersOf(flags: RowFlags): RowFilters {
  const { minTokenRate, maxTokenRate, minTokens, maxTokens, tokenizer } = flags;
  const bounds = {
    '--min-token-rate': minTokenRate,
    '--max-token-rate': maxTokenRate,
    '--min-tokens': minTokens,
    '--max-tokens': maxTokens,
  };
  const [lone] = Object.entries(bounds).find(([, bound]) => bound !== undefined) ?? [];
  if (lone !== undefined && tokenizer === undefined) {
    throw new UsageError(`${lone} needs a tokenizer`, {
      hint: 'Give --tokenizer, or bound characters with --min-char-rate and --max-char-rate.',
    });
  }
  return {
    minDurationSeconds: flags.minLength,
    maxDurationSeconds: flags.maxLength,
    minCharactersPerSecond: flags.minCharRate,
    maxCharactersPerSecond: flags.maxCharRate,
    minTokensPerSecond: minTokenRate,
    maxTokensPerSecond: maxTokenRate,
    minTokens,
    maxTokens,
  };
}

/** True when a plan looks at tokens. */
export function needsTokens({ tokenizer }: RowFlags, { tokenBuckets, bins }: PlanOptions): boolean {
  return tokenizer !== undefined || tokenBuckets !== undefined || Array.isArray(bins?.[0]);
}

/** @throws {UsageError} when flags exclude each other; {InputError} when the bins cannot be read. */
export async function readPlanOptions(flags: PlanFlags): Promise<PlanOptions> {
  checkQuadratic(flags);
  const { buckets, bins, bucketBatchSizes } = flags;
  if (buckets !== undefined && bins !== undefined) throw new UsageError('--buckets and --bins exclude each other');
  if (flags.tokenBuckets !== undefined && bins !== undefined) {
    throw new UsageError('--token-buckets and --bins exclude each other', {
      hint: 'Give bins of two dimensions: --bins [[2.5,20],[2.5,40]].',
    });
  }
  const given = bins === undefined ? undefined : await findBins(bins);
  return {
    maxDuration: flags.maxDuration,
    batchDuration: flags.batchDuration,
    quadraticDuration: flags.quadraticDuration,
    batchSize: flags.batchSize,
    maxSamples: flags.maxSamples,
    bucketCount: buckets,
    tokenBuckets: flags.tokenBuckets,
    bins: given?.bins,
    bucketBatchSizes: bucketBatchSizes ?? given?.batchSizes,
    bucketWindow: flags.bucketWindow,
    bucketOrder: flags.bucketOrder,
    strict2d: !flags.lenientBins,
    seed: flags.seed,
    shuffle: flags.shuffle,
    strategy: flags.strategy,
    strict: flags.strict,
    lastBatch: flags.lastBatch,
    oversized: flags.oversized,
    stop: flags.stop,
    epochItems: flags.epochItems,
    numCopies: flags.numCopies,
    speeds: flags.speeds,
  };
}

/** @throws {UsageError} when nothing bounds a batch. */
export function requireLimit(options: PlanOptions): void {
  const { maxDuration, batchDuration, batchSize, maxSamples, bucketBatchSizes } = options;
  const limits = [maxDuration, batchDuration, batchSize, maxSamples, bucketBatchSizes];
  if (limits.some((limit) => limit !== undefined)) return;
  throw new UsageError('Nothing says how large a batch may be', {
    hint: 'Give --max-duration, --batch-duration, --batch-size, --max-samples or --bucket-batch-sizes.',
  });
}

/** @throws {UsageError} when the square is given without what it belongs to. */
export function checkQuadratic({ batchDuration, quadraticDuration }: LimitFlags): void {
  if (quadraticDuration === undefined || batchDuration !== undefined) return;
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
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw refuse(errorMessage(error), error);
  }
  const fields: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {};
  const bins = readBins(fields['bucket_duration_bins']);
  if (bins === undefined) throw refuse('"bucket_duration_bins" is no list of bounds that ascend');
  const sizes = fields['bucket_batch_size'] ?? undefined;
  if (sizes !== undefined && !isSizes(sizes)) throw refuse('"bucket_batch_size" is no list of whole numbers above 0');
  return { bins, batchSizes: sizes };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 1);
}
