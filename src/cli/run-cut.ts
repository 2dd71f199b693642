import { UsageError } from '../errors.js';
import type { CutResult } from '../cut/cut.js';
import type { CutOptions } from '../cut/options.js';
import type { CutFlags } from './commands/cut.js';
import type { CliContext } from './context.js';
import { formatCutSummary, summaryAsJson, total } from './cut-summary.js';
import { formatCutProgress } from './cut-progress.js';
import { formatFailureNotice } from './failure-notice.js';
import { listFirstFailures } from './first-failures.js';
import { ProgressLine } from './progress-line.js';

/** Exit code when more of the data failed than was allowed. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom cut`. */
export async function runCut(context: CliContext, flags: CutFlags): Promise<void> {
  const { cut } = await import('../cut/cut.js');
  const { stderr } = context.process;
  checkCutFlags(flags);
  const say = (text: string): void => {
    if (!flags.quiet) stderr.write(`${text}\n`);
  };
  if (flags.hfToken !== undefined) {
    say('warning: other users of this machine can see --hf-token; set HF_TOKEN or give --hf-token-file.');
  }
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const result = await cut(cutOptionsOf(flags), {
      signal: context.signal,
      environment: context.process.env,
      isProcessAlive: (pid) => context.isProcessAlive(pid),
      onProgress: (now) => line.show(() => formatCutProgress(now)),
      onWarning: (message) => line.note(`warning: ${message}`),
      onTokenizerEvent: (event) => {
        if (event.kind === 'retry')
          line.note(`warning: the tokenizer could not be fetched (${event.reason}); trying again`);
        else if (flags.verbose) line.note(`tokenizer: ${event.kind}`);
      },
      onFailure: (failure) => {
        if (flags.verbose) line.note(`${failure.file}:${failure.line}: ${failure.message}`);
      },
    });
    line.end();
    await reportCut(context, result, flags);
  } finally {
    line.end();
  }
}

/** What is said of a result, and how. */
export interface ReportFlags {
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  /** What was allowed, for the error that says that more has failed. */
  maxFailures: { count: number } | { percent: number };
  /** The work was done elsewhere and before: how long the end of it took tells nothing of its speed. */
  isEndOnly?: boolean;
}

/** Prints the summary of a cut and sets the exit code. */
export async function reportCut(
  { process }: CliContext,
  result: CutResult,
  { json, quiet, verbose, maxFailures, isEndOnly = false }: ReportFlags,
): Promise<void> {
  const { stdout, stderr } = process;
  const { skippedRows, failedSnippets } = result.summary;
  if (json) stdout.write(`${JSON.stringify(summaryAsJson(result))}\n`);
  if (!quiet) {
    stderr.write(`${formatCutSummary(isEndOnly ? { ...result, seconds: 0 } : result, verbose)}\n`);
    if (Object.keys(skippedRows).length + Object.keys(failedSnippets).length > 0) {
      stderr.write('The first failure of each reason:\n');
      for (const text of await listFirstFailures(result.outputs.failures)) stderr.write(`  ${text}\n`);
    }
  }
  if (result.isWithinLimit) return;
  const notice = formatFailureNotice({
    failed: [
      [total(skippedRows), 'row'],
      [total(failedSnippets), 'snippet'],
    ],
    maxFailures,
    hasOnError: false,
    file: result.outputs.failures,
  });
  stderr.write(`${notice}\n`);
  process.exitCode = DATA_EXIT_CODE;
}

/** @throws UsageError when flags contradict each other. */
export function checkCutFlags(flags: CutFlags): void {
  if (flags.minDurationSec > flags.maxDurationSec) {
    throw new UsageError(
      `--min-duration-sec ${flags.minDurationSec} is more than --max-duration-sec ${flags.maxDurationSec}`,
    );
  }
  if (flags.audioDir === undefined && flags.audioPathResolution !== 'as_is') {
    throw new UsageError(`--audio-dir is needed with --audio-path-resolution ${flags.audioPathResolution}`, {
      hint: 'Name the folder that holds the recordings, or use --audio-path-resolution as_is.',
    });
  }
  if (flags.dryRun && flags.salvage) throw new UsageError('--dry-run and --salvage exclude each other');
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
}

/** The options that flags stand for. */
export function cutOptionsOf(flags: CutFlags): CutOptions {
  return {
    inputManifest: flags.inputManifest,
    audioDir: flags.audioDir,
    outputDir: flags.outputDir,
    outputManifest: flags.outputManifest,
    outputAudioTarPath: flags.outputAudioTarPath,
    metricsPath: flags.metricsPath,
    numShards: flags.numShards,
    snippetsPerShard: flags.snippetsPerShard,
    hoursPerShard: flags.hoursPerShard,
    maxDurationSeconds: flags.maxDurationSec,
    minDurationSeconds: flags.minDurationSec,
    minOverlapSeconds: flags.minOverlapSec,
    maxSegmentGapSeconds: flags.maxSegmentGapInSnippet,
    tokenizerPath: flags.tokenizerPath,
    tokenizerCacheDir: flags.tokenizerCacheDir,
    hfToken: flags.hfToken,
    hfTokenFile: flags.hfTokenFile,
    repetitionFilter: flags.repetitionFilter,
    ngramN: flags.ngramN,
    ngramMaxCount: flags.ngramMaxCount,
    targetSampleRate: flags.targetSampleRate,
    outputFormat: flags.outputFormat,
    audioFilepathKey: flags.audioFilepathKey,
    audioPathResolution: flags.audioPathResolution,
    datasetName: flags.datasetName,
    channel: flags.channel,
    onClash: flags.onClash,
    dryRun: flags.dryRun,
    jobs: flags.jobs,
    overwrite: flags.overwrite,
    salvage: flags.salvage,
    maxFailures: flags.maxFailures,
    recordingTimeoutSeconds: flags.recordingTimeout,
  };
}
