import { UsageError } from '../errors.js';
import type { BuildOptions } from '../build/options.js';
import { buildSummaryAsJson, formatBuildSummary, formatPackFailure } from './build-summary.js';
import type { BuildFlags } from './commands/build.js';
import type { CliContext } from './context.js';
import { formatFailureNotice } from './failure-notice.js';
import { readPackFailures } from './pack-failures.js';
import { formatPackProgress } from './pack-progress.js';
import { ProgressLine } from './progress-line.js';

/** Exit code when more of the data failed than was allowed. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom build`. */
export async function runBuild(context: CliContext, flags: BuildFlags): Promise<void> {
  const { build } = await import('../build/build.js');
  const { stdout, stderr } = context.process;
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  if (flags.jobs !== undefined && flags.workers !== undefined)
    throw new UsageError('--jobs and --workers are the same: give one of them');
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const result = await build(optionsOf(flags), {
      signal: context.signal,
      stdin: flags.input === '-' ? context.process.stdin : undefined,
      isProcessAlive: (pid) => context.isProcessAlive(pid),
      onProgress: (now) => line.show(() => formatPackProgress(now)),
    });
    line.end();
    if (flags.json) stdout.write(`${JSON.stringify(buildSummaryAsJson(result))}\n`);
    if (!flags.quiet) {
      if (flags.verbose && result.kind !== 'part' && result.summary.firstFailures.length > 0)
        for await (const failure of readPackFailures(result.outputs.failures))
          stderr.write(`${formatPackFailure(failure)}\n`);
      stderr.write(`${formatBuildSummary(result, flags.verbose)}\n`);
    }
    if (!result.isWithinLimit) {
      const { rows, members } = result.failed;
      const notice = formatFailureNotice({
        failed: [
          [rows, 'row'],
          [members, 'member'],
        ],
        maxFailures: flags.maxFailures,
        hasOnError: true,
        // A part leaves the list to the run that ends the dataset.
        file: result.kind === 'part' ? undefined : result.outputs.failures,
      });
      stderr.write(`${notice}\n`);
      context.process.exitCode = DATA_EXIT_CODE;
    }
  } finally {
    line.end();
  }
}

function optionsOf(flags: BuildFlags): BuildOptions {
  const { workers, recordingTimeout, json, quiet, verbose, ...options } = flags;
  void [json, quiet, verbose];
  return { ...options, jobs: flags.jobs ?? workers, recordingTimeoutSeconds: recordingTimeout };
}
