import { UsageError } from '../errors.js';
import type { BuildResult } from '../build/build.js';
import type { BuildOptions } from '../build/options.js';
import { buildSummaryAsJson, formatBuildSummary, formatPackFailure } from './build-summary.js';
import type { BuildFlags } from './commands/build.js';
import type { CliContext } from './context.js';
import { formatFailureNotice } from './failure-notice.js';
import { readPackFailures } from './pack-failures.js';
import { formatPackProgress } from './pack-progress.js';
import { ProgressLine } from './progress-line.js';
import type { ReportFlags } from './run-cut.js';

/** Exit code when more of the data failed than was allowed. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom build`. */
export async function runBuild(context: CliContext, flags: BuildFlags): Promise<void> {
  const { build } = await import('../build/build.js');
  const { stderr } = context.process;
  checkBuildFlags(flags);
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const result = await build(buildOptionsOf(flags), {
      signal: context.signal,
      stdin: flags.input === '-' ? context.process.stdin : undefined,
      isProcessAlive: (pid) => context.isProcessAlive(pid),
      onProgress: (now) => line.show(() => formatPackProgress(now)),
    });
    line.end();
    await reportBuild(context, result, flags);
  } finally {
    line.end();
  }
}

/** Prints the summary of a build and sets the exit code. */
export async function reportBuild(
  { process }: CliContext,
  result: BuildResult,
  { json, quiet, verbose, maxFailures, isEndOnly = false }: ReportFlags,
): Promise<void> {
  const { stdout, stderr } = process;
  if (json) stdout.write(`${JSON.stringify(buildSummaryAsJson(result))}\n`);
  if (!quiet) {
    if (verbose && result.kind !== 'part' && result.summary.firstFailures.length > 0)
      for await (const failure of readPackFailures(result.outputs.failures))
        stderr.write(`${formatPackFailure(failure)}\n`);
    stderr.write(`${formatBuildSummary(isEndOnly ? { ...result, seconds: 0 } : result, verbose)}\n`);
  }
  if (result.isWithinLimit) return;
  const { rows, members } = result.failed;
  const notice = formatFailureNotice({
    failed: [
      [rows, 'row'],
      [members, 'member'],
    ],
    maxFailures,
    hasOnError: true,
    // A part leaves the list to the run that ends the dataset.
    file: result.kind === 'part' ? undefined : result.outputs.failures,
  });
  stderr.write(`${notice}\n`);
  process.exitCode = DATA_EXIT_CODE;
}

/** @throws UsageError when flags contradict each other. */
export function checkBuildFlags(flags: BuildFlags): void {
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  if (flags.jobs !== undefined && flags.workers !== undefined)
    throw new UsageError('--jobs and --workers are the same: give one of them');
}

/** The options that flags stand for. */
export function buildOptionsOf(flags: BuildFlags): BuildOptions {
  return {
    input: flags.input,
    outputDir: flags.outputDir,
    numTars: flags.numTars,
    samplesPerTar: flags.samplesPerTar,
    durationPerTar: flags.durationPerTar,
    balanceBy: flags.balanceBy,
    format: flags.format,
    compressionLevel: flags.compressionLevel,
    sampleRate: flags.sampleRate,
    channel: flags.channel,
    copy: flags.copy,
    normalizeText: flags.normalizeText,
    base: flags.base,
    inputFormat: flags.inputFormat,
    onBadId: flags.onBadId,
    seed: flags.seed,
    splitBits: flags.splitBits,
    tarPrefix: flags.tarPrefix,
    noLst: flags.noLst,
    planOnly: flags.planOnly,
    splitStart: flags.splitStart,
    splitEnd: flags.splitEnd,
    jobs: flags.jobs ?? flags.workers,
    onError: flags.onError,
    maxFailures: flags.maxFailures,
    overwrite: flags.overwrite,
    recordingTimeoutSeconds: flags.recordingTimeout,
  };
}
