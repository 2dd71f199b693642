import { UsageError } from '../errors.js';
import type { BucketBins, PlanOptions } from '../load/batch-options.js';
import { measureHoldings } from '../load/bucket-holdings.js';
import type { ItemTable } from '../load/item-table.js';
import { proposeBatchSize, readMemoryModel, type MemoryModel, type ProposedBatchSize } from '../load/memory-model.js';
import { createPlanner } from '../load/plan-epochs.js';
import { binsAsJson, formatBins, formatBinsAsYaml, type BinsResult, type PaddingSaved } from './bins-summary.js';
import type { BinsFlags } from './commands/bins.js';
import type { CliContext } from './context.js';
import { checkQuadratic, needsTokens, readLoadRequest } from './load-options.js';
import { formatFaults, openTable } from './open-table.js';
import { inFlagNames, withFlagNames } from './option-flags.js';
import { ProgressLine } from './progress-line.js';

/** Exit code when rows are faulty and that was not allowed. */
const DATA_EXIT_CODE = 1;
const DEFAULT_SECONDS = 600;
const DEFAULT_TOKEN_BUCKETS = 2;

/** Runs `cutroom bins`. */
export async function runBins(context: CliContext, flags: BinsFlags, paths: readonly string[]): Promise<void> {
  const { stdout, stderr } = context.process;
  checkFlags(flags);
  const model = flags.memoryModel === undefined ? undefined : await readMemoryModel(flags.memoryModel);
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const tokenBuckets = flags.tokens ? (flags.tokenBuckets ?? DEFAULT_TOKEN_BUCKETS) : undefined;
    const options = { ...limitsOf(flags), bucketCount: flags.buckets, tokenBuckets };
    const loading = await readLoadRequest(flags, paths);
    const { tokenizer } = flags;
    const table = await openTable(context, { ...loading, tokenizer, needsTokens: needsTokens(flags, options) }, line);
    const planner = inFlagNames(() => createPlanner(table, { ...options, worldSize: 1 }));
    const bins = planner.bins ?? [longestSeconds(table.durationsMicros)];
    const batchSizes = sizesOf(bins, flags.maxBatchDuration, model);
    const result: BinsResult = {
      ...{ table, bins, memoryModel: model, isInner: flags.inner, areCharacters: flags.tokenizer === undefined },
      holdings: measureHoldings(table, bins),
      padding: comparePadding(table, bins, batchSizes, flags),
      batchSizes,
    };
    stdout.write(flags.json ? `${JSON.stringify(binsAsJson(result))}\n` : formatBinsAsYaml(result));
    if (!flags.quiet) {
      const faults = formatFaults(table.left, flags.verbose);
      for (const { message } of planner.warnings) stderr.write(`warning: ${withFlagNames(message)}\n`);
      stderr.write(`${faults === undefined ? '' : `${faults}\n`}${formatBins(result)}\n`);
    }
    if (table.left.firstFaults.length > 0 && flags.onError === 'fail') context.process.exitCode = DATA_EXIT_CODE;
  } finally {
    line.end();
  }
}

function checkFlags(flags: BinsFlags): void {
  const { tokens, tokenBuckets, inner, maxBatchDuration, memoryModel } = flags;
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  checkQuadratic(flags);
  if (tokenBuckets !== undefined && !tokens) throw new UsageError('--token-buckets is given without --tokens');
  if (inner && tokens) throw new UsageError('--inner is of bins of one dimension', { hint: 'Leave out --tokens.' });
  if (inner && maxBatchDuration !== undefined) {
    throw new UsageError('--inner and --max-batch-duration exclude each other', {
      hint: 'NeMo takes as many bounds as batch sizes.',
    });
  }
  if (maxBatchDuration === 'auto' && memoryModel === undefined) {
    throw new UsageError('--max-batch-duration auto needs measured memory', {
      hint: 'Give --memory-model FILE; "cutroom bins --help" shows what it holds.',
    });
  }
  if (maxBatchDuration !== 'auto' && memoryModel !== undefined) {
    throw new UsageError('--memory-model is given without --max-batch-duration auto');
  }
}

/** What batches are bounded by for the comparison. A row above the bound is a batch of its own: bins are asked for, not batches. */
function limitsOf({ maxDuration, batchDuration, quadraticDuration }: BinsFlags): PlanOptions {
  const cap = maxDuration ?? (batchDuration === undefined ? DEFAULT_SECONDS : undefined);
  return { maxDuration: cap, batchDuration, quadraticDuration, oversized: 'alone' };
}

function longestSeconds(durationsMicros: Float64Array): number {
  return durationsMicros.reduce((longest, micros) => Math.max(longest, micros), 0) / 1e6;
}

/** Of batches that limits bound where there are any, else of the proposed sizes: then those of the longest items go with one bucket. */
function comparePadding(
  table: ItemTable,
  bins: BucketBins,
  batchSizes: readonly ProposedBatchSize[] | undefined,
  flags: BinsFlags,
): PaddingSaved {
  const hasLimits = flags.maxDuration !== undefined || flags.batchDuration !== undefined;
  const sizes = hasLimits ? undefined : batchSizes?.map(({ batchSize }) => batchSize);
  const limits = limitsOf(flags);
  const one: PlanOptions = sizes === undefined ? limits : { batchSize: Math.min(...sizes) };
  const several: PlanOptions = sizes === undefined ? { ...limits, bins } : { bins, bucketBatchSizes: sizes };
  const { paddingShare, hours } = createPlanner(table, { ...several, worldSize: 1 })
    .planEpoch(0)
    .report();
  const oneBucket = createPlanner(table, { ...one, worldSize: 1 })
    .planEpoch(0)
    .report();
  const budget =
    sizes === undefined ? describeLimits(limits) : `these sizes, or of ${Math.min(...sizes)} in one bucket`;
  return { budget, oneBucketShare: oneBucket.paddingShare, share: paddingShare, hours };
}

function describeLimits({ maxDuration, batchDuration, quadraticDuration }: PlanOptions): string {
  const quadratic = quadraticDuration === undefined ? '' : ` (d + d²/${quadraticDuration})`;
  const parts = [
    ...(maxDuration === undefined ? [] : [`${maxDuration} s`]),
    ...(batchDuration === undefined ? [] : [`${batchDuration} s${quadratic}`]),
  ];
  return `at most ${parts.join(' and ')}`;
}

/** @throws {UsageError} when not even one item of some bucket fits. */
function sizesOf(
  bins: BucketBins,
  maxBatchDuration: number | 'auto' | undefined,
  model: MemoryModel | undefined,
): ProposedBatchSize[] | undefined {
  if (maxBatchDuration === undefined) return undefined;
  return bins.map((bin) => {
    const seconds = typeof bin === 'number' ? bin : bin[0];
    const proposed = proposeOne(seconds, maxBatchDuration, model);
    if (proposed.batchSize > 0) return proposed;
    throw new UsageError(`Not even one row of ${seconds} s fits into a batch`, {
      hint: 'Leave out long rows with --max-length, or allow for more.',
    });
  });
}

function proposeOne(
  seconds: number,
  maxBatchDuration: number | 'auto',
  model: MemoryModel | undefined,
): ProposedBatchSize {
  if (model !== undefined) return proposeBatchSize(model, seconds);
  const batchSize =
    maxBatchDuration === 'auto' ? 0 : Math.floor(Math.round(maxBatchDuration * 1e6) / Math.round(seconds * 1e6));
  return { batchSize, memoryBytes: 0, beyond: [] };
}
