import { UsageError } from '../errors.js';
import type { ScanResult } from '../sample/scan.js';
import type { ScanOptions } from '../sample/scan-options.js';
import type { ScanFlags } from './commands/scan.js';
import type { CliContext } from './context.js';
import { ProgressLine } from './progress-line.js';
import type { ReportFlags } from './run-cut.js';
import { formatScanFailure, formatScanProgress, formatScanSummary, scanSummaryAsJson } from './scan-summary.js';

/** Exit code when files could not be read. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom scan`. */
export async function runScan(context: CliContext, flags: ScanFlags, sources: readonly string[]): Promise<void> {
  const { scan } = await import('../sample/scan.js');
  const { stderr } = context.process;
  checkScanFlags(flags);
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const result = await scan(scanOptionsOf(flags, sources), {
      signal: context.signal,
      isProcessAlive: (pid) => context.isProcessAlive(pid),
      onProgress: (now) => line.show(() => formatScanProgress(now)),
      onFailure: (failure) => {
        if (flags.verbose) line.note(formatScanFailure(failure));
      },
      onNotice: (message) => {
        if (!flags.quiet) line.note(`warning: ${message}`);
      },
    });
    line.end();
    reportScan(context, result, flags);
  } finally {
    line.end();
  }
}

/** Prints the summary of a scan and sets the exit code. */
export function reportScan(
  { process }: CliContext,
  result: ScanResult,
  { json, quiet, verbose, onError, isEndOnly = false }: Omit<ReportFlags, 'maxFailures'> & { onError: 'fail' | 'skip' },
): void {
  const { stdout, stderr } = process;
  if (json) stdout.write(`${JSON.stringify(scanSummaryAsJson(result))}\n`);
  if (!quiet) stderr.write(`${formatScanSummary(isEndOnly ? { ...result, seconds: 0 } : result, verbose)}\n`);
  const isFailed = Object.keys(result.summary.failed).length > 0;
  // A scan of no file is of no use, whatever may fail.
  if ((isFailed && onError === 'fail') || result.summary.files === 0) {
    if (quiet) stderr.write(`error: some files cannot be read; see "${result.outputs.failures}"\n`);
    process.exitCode = DATA_EXIT_CODE;
  }
}

/** @throws UsageError when flags contradict each other. */
export function checkScanFlags(flags: ScanFlags): void {
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
}

/** The options that flags stand for. */
export function scanOptionsOf(flags: ScanFlags, sources: readonly string[]): ScanOptions {
  const { out, filepaths, base, extensions, jobs, overwrite, recordingTimeout } = flags;
  return {
    sources,
    out,
    filepaths,
    base,
    extensions,
    jobs,
    overwrite,
    recordingTimeoutSeconds: recordingTimeout,
    loudness: loudnessOf(flags),
  };
}

function loudnessOf({ lufs, lufsWindow, sampleRate, mono }: ScanFlags): ScanOptions['loudness'] {
  const given = { '--lufs-window': lufsWindow, '--sample-rate': sampleRate, '--mono': mono };
  if (!lufs) {
    const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
    if (name === undefined) return undefined;
    throw new UsageError(`${name} is given without --lufs`, { hint: 'It says how loudness is measured: add --lufs.' });
  }
  return {
    ...(lufsWindow === undefined ? {} : { windowSeconds: lufsWindow }),
    ...(sampleRate === undefined ? {} : { sampleRate: sampleRate === 'native' ? null : sampleRate }),
    ...(mono === undefined ? {} : { mono }),
  };
}
