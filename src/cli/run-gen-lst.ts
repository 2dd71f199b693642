import { countWords } from '../count-words.js';
import { UsageError } from '../errors.js';
import type { GenLstFlags } from './commands/gen-lst.js';
import type { CliContext } from './context.js';
import { formatShardProblem, formatListRefusal, formatListSummary, listSummaryAsJson } from './gen-lst-summary.js';
import { count } from './cut-progress.js';
import { ProgressLine } from './progress-line.js';

/** Exit code when no list was written because of the data. */
const DATA_EXIT_CODE = 1;

/** Runs `cutroom gen-lst`. */
export async function runGenLst(context: CliContext, flags: GenLstFlags): Promise<void> {
  const { generateList } = await import('../build/generate-list.js');
  const { stdout, stderr } = context.process;
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  const line = new ProgressLine(stderr, flags.quiet);
  try {
    const { audioPattern, txtDir, output, audioPrefix, txtPrefix, strict, sort, jobs } = flags;
    const options = { audioPattern, txtDir, output, audioPrefix, txtPrefix, strict, sort, jobs };
    const result = await generateList(options, {
      signal: context.signal,
      onProgress: ({ shards, totalShards, samples }) =>
        line.show(
          () => `comparing: ${count(shards)} of ${countWords(totalShards, 'shard')}, ${countWords(samples, 'row')}`,
        ),
      onProblem: (problem) => {
        if (flags.verbose) line.note(formatShardProblem(problem));
      },
    });
    line.end();
    if (flags.json) stdout.write(`${JSON.stringify(listSummaryAsJson(result))}\n`);
    if (!flags.quiet) stderr.write(`${formatListSummary(result, flags.verbose)}\n`);
    if (result.kind === 'refused') {
      stderr.write(`${formatListRefusal(result)}\n`);
      context.process.exitCode = DATA_EXIT_CODE;
    }
  } finally {
    line.end();
  }
}
