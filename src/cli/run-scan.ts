import { UsageError } from '../errors.js';
import type { ScanOptions } from '../sample/scan-options.js';
import type { ScanFlags } from './commands/scan.js';
import type { CliContext } from './context.js';
import { ProgressLine } from './progress-line.js';
import { formatScanFailure, formatScanProgress, formatScanSummary, scanSummaryAsJson } from './scan-summary.js';

/** Exit code when files could not be read. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom scan`. */
export async function runScan(context: CliContext, flags: ScanFlags, sources: readonly string[]): Promise<void> {
  const { scan } = await import('../sample/scan.js');
  const { stdout, stderr } = context.process;
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const result = await scan(optionsOf(flags, sources), {
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
    if (flags.json) stdout.write(`${JSON.stringify(scanSummaryAsJson(result))}\n`);
    if (!flags.quiet) stderr.write(`${formatScanSummary(result, flags.verbose)}\n`);
    const isFailed = Object.keys(result.summary.failed).length > 0;
    // A scan of no file is of no use, whatever may fail.
    if ((isFailed && flags.onError === 'fail') || result.summary.files === 0) {
      if (flags.quiet) stderr.write(`error: some files cannot be read; see "${result.outputs.failures}"\n`);
      context.process.exitCode = DATA_EXIT_CODE;
    }
  } finally {
    line.end();
  }
}

function optionsOf(flags: ScanFlags, sources: readonly string[]): ScanOptions {
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
