import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { FinishResult } from '../cluster/task-kind.js';
import type { PlanFolder } from '../cluster/plan-folder.js';
import { UsageError } from '../errors.js';
import type { CliContext } from './context.js';
import type { FinishFlags } from './commands/finish.js';
import { reportFinish, type FinishReportFlags } from './finish-report.js';
import { quoted } from './plan-summary.js';
import { ProgressLine } from './progress-line.js';

type AllFinishFlags = FinishFlags & FinishReportFlags;

/** Runs `cutroom finish`. */
export async function runFinish(context: CliContext, flags: FinishFlags, folder: string): Promise<void> {
  if (flags.quiet && flags.verbose) throw new UsageError('--quiet and --verbose exclude each other');
  const { openPlanFolder } = await import('../cluster/plan-folder.js');
  await finishAndReport(context, await openPlanFolder(folder), flags);
}

/** Tasks of a cut have made tars that were copied into the outputs; those of other commands write where it belongs. */
function isAudioTwice({ record }: PlanFolder, { kind }: FinishResult, { asShards, isFresh }: AllFinishFlags): boolean {
  return record.kind === 'cut' && !asShards && (kind === 'finished' || (kind === 'already_done' && isFresh === true));
}

/** Whether any of the files is in the folder, by whatever names. */
async function holdsAny(folder: string, files: readonly string[]): Promise<boolean> {
  const place = `${await realpath(folder)}${path.sep}`;
  for (const file of files) if ((await realpath(file)).startsWith(place)) return true;
  return false;
}

/** Makes the outputs of a plan and prints the summary of its command. */
export async function finishAndReport(
  context: CliContext,
  plan: PlanFolder,
  flags: AllFinishFlags,
): Promise<FinishResult> {
  const { finishPlan } = await import('../cluster/finish-plan.js');
  const line = new ProgressLine(context.process.stderr, flags.quiet);
  try {
    const result = await finishPlan(plan, {
      signal: context.signal,
      salvage: flags.salvage,
      asShards: flags.asShards,
      onRunning: 'wait',
      onWait: ({ host, pid }) => line.note(`process ${pid} on ${host} makes the outputs: waiting for it`),
      onProgress: (share) => line.show(() => `making the outputs: ${(share * 100).toFixed(0)} %`),
      isProcessAlive: (pid) => context.isProcessAlive(pid),
    });
    line.end();
    await reportFinish(context, plan, result, flags);
    if (!flags.quiet && isAudioTwice(plan, result, flags) && !(await holdsAny(plan.folder, result.outputs))) {
      const place = quoted(plan.folder);
      context.process.stderr.write(
        `${place} still holds the tars of the tasks; it may be removed when these outputs are good.\n`,
      );
    }
    return result;
  } finally {
    line.end();
  }
}
