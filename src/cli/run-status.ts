import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, EngineJob } from '../cluster/engine.js';
import { readEngineRecord } from '../cluster/engine-record.js';
import type { PlanFolder } from '../cluster/plan-folder.js';
import { CanceledError, errorMessage } from '../errors.js';
import type { StatusFlags } from './commands/status.js';
import type { CliContext } from './context.js';
import { describeJobs } from './launch-text.js';
import { formatStatus, formatStatusLine, statusAsJson } from './status-text.js';

const TERMINAL_MS = 1_000;
const LOG_MS = 10_000;
/** A cluster's controller is asked less often than the folder is read. */
const ENGINE_MS = 10_000;
const CLEAR_BELOW = '\u001b[J';

/** Runs `cutroom status`. */
export async function runStatus(context: CliContext, flags: StatusFlags, folder: string): Promise<void> {
  const { openPlanFolder } = await import('../cluster/plan-folder.js');
  const { StatusReader } = await import('../cluster/read-status.js');
  const { stdout } = context.process;
  const plan = await openPlanFolder(folder);
  const reader = new StatusReader(plan, { isProcessAlive: (pid) => context.isProcessAlive(pid) });
  const engine = new EngineWord(context, plan);
  const isRedrawn = flags.watch && stdout.isTerminal && !flags.json;
  let shownLines = 0;
  for (;;) {
    const status = await reader.read();
    const isOver = status.counts.done === plan.record.tasks;
    const said = await engine.ask([...reader.open()]);
    if (flags.json) {
      stdout.write(`${JSON.stringify({ ...statusAsJson(plan, status), engine: said.json })}\n`);
    } else if (flags.watch && !stdout.isTerminal && !isOver) {
      stdout.write(`${formatStatusLine(plan, status)}\n`);
    } else {
      const text = formatStatus(plan, status, { isVerbose: flags.verbose, engine: said.text });
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

interface Said {
  text: string | undefined;
  json: unknown;
}

/** What the cluster that has a plan says of its jobs, asked now and then. */
class EngineWord {
  readonly #context: CliContext;
  readonly #plan: PlanFolder;
  #said: Said = { text: undefined, json: null };
  #engine: Promise<Engine> | undefined;
  #askedMs = -Infinity;

  constructor(context: CliContext, plan: PlanFolder) {
    this.#context = context;
    this.#plan = plan;
  }

  async ask(tasks: readonly number[]): Promise<Said> {
    if (performance.now() - this.#askedMs < ENGINE_MS) return this.#said;
    this.#askedMs = performance.now();
    const record = await readEngineRecord(this.#plan.folder);
    if (record === undefined || tasks.length === 0) return (this.#said = { text: undefined, json: null });
    const { engine: name } = record;
    try {
      const { loadEngine } = await import('../cluster/engines.js');
      const { env, stderr } = this.#context.process;
      const onNote = (message: string): void => stderr.write(`note: ${message}\n`);
      this.#engine ??= loadEngine(name, { environment: env, signal: this.#context.signal, onNote, isBrief: true });
      const jobs = await (await this.#engine).look(this.#plan, record, tasks);
      this.#said = { text: `${name}: ${describeJobs(jobs)}`, json: { name, jobs: [...jobs].map(jobAsJson) } };
    } catch (error) {
      // How the tasks stand is in the folder, whether the cluster answers or not.
      if (this.#context.signal.aborted) throw error;
      this.#said = { text: `${name}: ${errorMessage(error)}`, json: { name, error: errorMessage(error) } };
    }
    return this.#said;
  }
}

function jobAsJson([task, { id, state, reason }]: [number, EngineJob]): Record<string, unknown> {
  return { task, id, state, reason: reason ?? null };
}

/** How many lines of a terminal a text takes. */
function countLines(text: string, columns: number): number {
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
}
