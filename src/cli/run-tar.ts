import { UsageError } from '../errors.js';
import type { PackFailure } from '../shard/plan.js';
import type { TarOptions } from '../tarred/options.js';
import type { TarResult } from '../tarred/tar-dataset.js';
import { formatPackFailure } from './build-summary.js';
import type { TarFlags } from './commands/tar.js';
import type { CliContext } from './context.js';
import { total } from './cut-summary.js';
import { formatFailureNotice } from './failure-notice.js';
import { readPackFailures } from './pack-failures.js';
import { formatPackProgress } from './pack-progress.js';
import { ProgressLine } from './progress-line.js';
import type { ReportFlags } from './run-cut.js';
import { formatTarSummary, tarSummaryAsJson } from './tar-summary.js';

/** Exit code when more of the data failed than was allowed. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom tar`. */
export async function runTar(context: CliContext, flags: TarFlags, manifests: readonly string[]): Promise<void> {
  const { tarDataset } = await import('../tarred/tar-dataset.js');
  const { stderr } = context.process;
  checkTarFlags(flags);
  const line = new ProgressLine(stderr, flags.quiet);
  /** What planning refused, for runs that write no list of it. */
  const refused: PackFailure[] = [];
  const tell = (failure: PackFailure): void => stderr.write(`${formatPackFailure(failure)}\n`);
  try {
    const result = await tarDataset(tarOptionsOf(flags, manifests), {
      signal: context.signal,
      environment: context.process.env,
      isProcessAlive: (pid) => context.isProcessAlive(pid),
      onProgress: (now) => line.show(() => formatPackProgress(now)),
      onFailure: (failure) => {
        if (flags.verbose) refused.push(failure);
      },
    });
    line.end();
    if (flags.verbose && result.kind === 'preview') refused.forEach(tell);
    await reportTar(context, result, flags);
  } catch (error) {
    line.end();
    refused.forEach(tell);
    throw error;
  } finally {
    line.end();
  }
}

/** Prints the summary of a tarred dataset and sets the exit code. */
export async function reportTar(
  { process }: CliContext,
  result: TarResult,
  { json, quiet, verbose, maxFailures, isEndOnly = false }: ReportFlags,
): Promise<void> {
  const { stdout, stderr } = process;
  const { failuresPath, isWithinLimit } = result;
  if (json) stdout.write(`${JSON.stringify(tarSummaryAsJson(result))}\n`);
  if (verbose && failuresPath !== undefined)
    for await (const failure of readPackFailures(failuresPath)) stderr.write(`${formatPackFailure(failure)}\n`);
  if (!quiet) stderr.write(`${formatTarSummary(isEndOnly ? { ...result, seconds: 0 } : result, verbose)}\n`);
  if (isWithinLimit) return;
  const notice = formatFailureNotice({
    failed: [
      [total(result.summary?.failedRows ?? {}), 'row'],
      [total(result.summary?.failedMembers ?? {}), 'member'],
    ],
    maxFailures,
    hasOnError: true,
    file: failuresPath,
  });
  stderr.write(`${notice}\n`);
  process.exitCode = DATA_EXIT_CODE;
}

/** @throws UsageError when flags contradict each other. */
export function checkTarFlags(flags: TarFlags): void {
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  if (flags.jobs !== undefined && flags.workers !== undefined) {
    throw new UsageError('--jobs and --workers are the same: give one of them');
  }
}

/** The options that flags stand for. Paths without a flag are further ones of the list that was begun. */
export function tarOptionsOf(flags: TarFlags, manifests: readonly string[]): TarOptions {
  const { manifestPath = [], concatManifestPaths = [] } = flags;
  const isAdding = concatManifestPaths.length > 0;
  return {
    manifestPaths: isAdding ? manifestPath : [...manifestPath, ...manifests],
    concatManifestPaths: isAdding ? [...concatManifestPaths, ...manifests] : [],
    metadataPath: flags.metadataPath,
    targetDir: flags.targetDir,
    numShards: flags.numShards,
    maxDurationSeconds: flags.maxDuration,
    minDurationSeconds: flags.minDuration,
    shuffle: flags.shuffle,
    shuffleSeed: flags.shuffleSeed,
    sortInShards: flags.sortInShards,
    keepFilesTogether: flags.keepFilesTogether,
    forceCodec: flags.forceCodec,
    forceSamplingRate: flags.forceSamplingRate,
    channel: flags.channel,
    sliceWithOffset: flags.sliceWithOffset,
    subRows: flags.subRows,
    bucketsNum: flags.bucketsNum,
    dynamicBucketsNum: flags.dynamicBucketsNum,
    shardManifests: flags.shardManifests,
    onlyManifests: flags.onlyManifests,
    index: flags.index,
    writeMetadata: flags.writeMetadata,
    dryRun: flags.dryRun,
    remainder: flags.remainder,
    base: flags.base,
    onError: flags.onError,
    maxFailures: flags.maxFailures,
    jobs: flags.jobs ?? (flags.workers === -1 ? undefined : flags.workers),
    overwrite: flags.overwrite,
    recordingTimeoutSeconds: flags.recordingTimeout,
  };
}
