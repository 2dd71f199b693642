import { setImmediate } from 'node:timers/promises';
import { wholeMessage } from '../errors.js';

/** What a process of a pool says to its parent. */
export type ChildMessage =
  | { kind: 'ready' }
  | { kind: 'report'; report: unknown }
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; message: string };

/** Tells the parent how far a job is; between two reports the process notices that its parent is gone. */
export type Report = (report: unknown) => Promise<void>;

/**
 * Makes this process one of a `ProcessPool`: it does the jobs that its parent sends, one at a time, until the parent
 * is gone. Signals that a terminal or a scheduler sends to the whole group are left to the parent.
 */
export function serveJobs<J>(handle: (job: J, report: Report) => Promise<unknown>): void {
  const say = (message: ChildMessage): void => void process.send?.(message);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', (job) => {
    const report: Report = async (what) => {
      say({ kind: 'report', report: what });
      await setImmediate();
    };
    handle(job as J, report).then(
      (value) => say({ kind: 'done', value }),
      (error: unknown) => say({ kind: 'failed', message: wholeMessage(error) }),
    );
  });
  say({ kind: 'ready' });
}
