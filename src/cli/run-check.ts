import { UsageError } from '../errors.js';
import type { CheckFlags } from './commands/check.js';
import { checkAsJson, formatCheck, formatCheckProgress } from './check-summary.js';
import type { CliContext } from './context.js';
import { ProgressLine } from './progress-line.js';

/** Exit code when something is wrong with the data. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom check`. */
export async function runCheck(context: CliContext, flags: CheckFlags, paths: readonly string[]): Promise<void> {
  const { check } = await import('../check/check.js');
  const { stdout, stderr } = context.process;
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  if (flags.workers !== undefined && flags.worldSize === undefined) {
    throw new UsageError('--workers is given without --world-size', { hint: 'Give both.' });
  }
  if (flags.overwrite && flags.fix === undefined) throw new UsageError('--overwrite is given without --fix');
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const { as, deep, worldSize, workers, fix, overwrite, base, jobs } = flags;
    const result = await check(
      { paths, as, deep, worldSize, workers, fixOut: fix, overwrite, base, jobs },
      { signal: context.signal, onProgress: (now) => line.show(() => formatCheckProgress(now)) },
    );
    line.end();
    // What was found is what the command is asked for: data, unless it goes out as JSON.
    if (flags.json) stdout.write(`${JSON.stringify(checkAsJson(result))}\n`);
    else if (!flags.quiet) stdout.write(`${formatCheck(result, flags.verbose)}\n`);
    if (!result.isClean) context.process.exitCode = DATA_EXIT_CODE;
  } finally {
    line.end();
  }
}
