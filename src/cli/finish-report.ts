import type { BuildResult } from '../build/build.js';
import type { PlanFolder } from '../cluster/plan-folder.js';
import type { FinishResult } from '../cluster/task-kind.js';
import type { CutResult } from '../cut/cut.js';
import type { ScanResult } from '../sample/scan.js';
import type { TarResult } from '../tarred/tar-dataset.js';
import type { CliContext } from './context.js';
import { reportBuild } from './run-build.js';
import { reportCut } from './run-cut.js';
import { reportScan } from './run-scan.js';
import { reportTar } from './run-tar.js';

/** Exit code when more of the data failed than was allowed. */
const DATA_EXIT_CODE = 1;

/** What is said of an end, and how. */
export interface FinishReportFlags {
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  /** Tasks were done just now: where a job of the cluster has made the outputs of them since, that is no news. */
  isFresh?: boolean;
}

/** Prints the summary that the command of a plan prints, and sets its exit code. */
export async function reportFinish(
  context: CliContext,
  { record }: PlanFolder,
  { kind, summary, outputs, isWithinLimit }: FinishResult,
  { json, quiet, verbose, isFresh = false }: FinishReportFlags,
): Promise<void> {
  const { maxFailures = { count: 0 }, onError = 'fail' } = record.request as {
    maxFailures?: { count: number } | { percent: number };
    onError?: 'fail' | 'skip';
  };
  const flags = { json, quiet, verbose, maxFailures, onError, isEndOnly: true };
  if (summary === null) {
    const { stdout, stderr } = context.process;
    if (json) stdout.write(`${JSON.stringify({ result: kind, outputs, within_max_failures: isWithinLimit })}\n`);
    if (!quiet) stderr.write(`${['Salvaged what is done:', ...outputs.map((file) => `  ${file}`)].join('\n')}\n`);
    if (!isWithinLimit) context.process.exitCode = DATA_EXIT_CODE;
    return;
  }
  switch (record.kind) {
    case 'cut':
      await reportCut(context, freshly(summary as CutResult, 'cut', isFresh), flags);
      break;
    case 'build':
      await reportBuild(context, freshly(summary as BuildResult, 'built', isFresh), flags);
      break;
    case 'tar':
      await reportTar(context, freshly(summary as TarResult, 'packed', isFresh), flags);
      break;
    case 'scan':
      reportScan(context, summary as ScanResult, flags);
      break;
  }
}

function freshly<Result extends { kind: string }>(result: Result, kind: Result['kind'], isFresh: boolean): Result {
  return isFresh && result.kind === 'already_done' ? { ...result, kind } : result;
}
