import { readEngineRecord } from '../cluster/engine-record.js';
import { countAnd } from '../count-words.js';
import type { CancelFlags } from './commands/cancel.js';
import type { CliContext } from './context.js';

/** Runs `cutroom cancel`. */
export async function runCancel(context: CliContext, flags: CancelFlags, folder: string): Promise<void> {
  const { stdout, stderr } = context.process;
  const { openPlanFolder } = await import('../cluster/plan-folder.js');
  const plan = await openPlanFolder(folder);
  const record = await readEngineRecord(plan.folder);
  const say = (text: string): void => {
    if (!flags.quiet) stderr.write(`${text}\n`);
  };
  if (record === undefined) {
    if (flags.json) stdout.write(`${JSON.stringify({ result: 'nothing', engine: null, canceled: 0 })}\n`);
    say(
      'No cluster has this plan: there is nothing to cancel. A task that runs here is stopped by Ctrl-C, or by SIGTERM.',
    );
    return;
  }
  const [{ loadEngine }, { writeCancelMark }] = await Promise.all([
    import('../cluster/engines.js'),
    import('../cluster/cancel-mark.js'),
  ]);
  const engine = await loadEngine(record.engine, {
    environment: context.process.env,
    signal: context.signal,
    onNote: (message) => say(`warning: ${message}`),
  });
  // First of all: whoever watches submits nothing from now on.
  await writeCancelMark(plan.folder);
  const canceled = await engine.cancel(plan, record);
  if (flags.json) stdout.write(`${JSON.stringify({ result: 'canceled', engine: record.engine, canceled })}\n`);
  say(
    `${countAnd(canceled, 'job', 'was|were')} canceled. What is done stays done; the same command goes on with the rest.`,
  );
}
