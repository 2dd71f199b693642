import { setTimeout as sleep } from 'node:timers/promises';
import { CanceledError } from '../errors.js';
import type { StatusFlags } from './commands/status.js';
import type { CliContext } from './context.js';
import { formatStatus, formatStatusLine, statusAsJson } from './status-text.js';

const TERMINAL_MS = 1_000;
const LOG_MS = 10_000;
const CLEAR_BELOW = '\u001b[J';

/** Runs `cutroom status`. */
export async function runStatus(context: CliContext, flags: StatusFlags, folder: string): Promise<void> {
  const { openPlanFolder } = await import('../cluster/plan-folder.js');
  const { StatusReader } = await import('../cluster/read-status.js');
  const { stdout } = context.process;
  const plan = await openPlanFolder(folder);
  const reader = new StatusReader(plan);
  const isRedrawn = flags.watch && stdout.isTerminal && !flags.json;
  let shownLines = 0;
  for (;;) {
    const status = await reader.read();
    const isOver = status.counts.done === plan.record.tasks;
    if (flags.json) stdout.write(`${JSON.stringify(statusAsJson(plan, status))}\n`);
    else if (flags.watch && !stdout.isTerminal && !isOver) stdout.write(`${formatStatusLine(plan, status)}\n`);
    else {
      const text = formatStatus(plan, status, flags.verbose);
      stdout.write(`${isRedrawn && shownLines > 0 ? `\u001b[${shownLines}A\r${CLEAR_BELOW}` : ''}${text}\n`);
      shownLines = countLines(text, stdout.columns ?? 80);
    }
    if (!flags.watch || isOver) return;
    try {
      await sleep(isRedrawn ? TERMINAL_MS : LOG_MS, undefined, { signal: context.signal });
    } catch (error) {
      throw new CanceledError('Stopped watching; the tasks go on', { cause: error });
    }
  }
}

/** How many lines of a terminal a text takes. */
function countLines(text: string, columns: number): number {
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
}
