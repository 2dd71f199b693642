import { parentPort, workerData } from 'node:worker_threads';
import { wholeMessage } from '../errors.js';
import { ThreadSigns } from './thread-signs.js';

/** What a thread of a pool says to the one that started it. */
export type ThreadMessage = { kind: 'ready' } | { kind: 'done'; value: unknown } | { kind: 'failed'; message: string };

/** What it is told: a job with its number, or to end. */
export type ThreadOrder = { kind: 'job'; number: number; job: unknown } | { kind: 'end' };

/** The job that a thread is at. */
export interface ThreadTask {
  /** False once nobody waits for the result any more. */
  readonly isWanted: boolean;
  /** Says how far it is, for the case that the thread ends. */
  noteStep(step: number): void;
}

/** What came of a job, with the memory that goes over with it and is gone here. */
export interface ThreadAnswer {
  value: unknown;
  moved: readonly ArrayBuffer[];
}

/**
 * Makes this thread one of a `ThreadPool`: it does the jobs that it is given, one at a time, until it is told to end.
 *
 * @param end gives back what the thread holds.
 */
export function serveThreadJobs<J>(handle: (job: J, task: ThreadTask) => Promise<ThreadAnswer>, end: () => void): void {
  const port = parentPort;
  if (port === null) throw new Error('This program is a thread of another one');
  const signs = new ThreadSigns(workerData as SharedArrayBuffer);
  const say = (message: ThreadMessage, moved: readonly ArrayBuffer[] = []): void => port.postMessage(message, moved);
  const work = async (number: number, job: J): Promise<void> => {
    const task: ThreadTask = {
      get isWanted() {
        return signs.wantedJob === number;
      },
      noteStep: (step) => (signs.step = step),
    };
    try {
      const { value, moved } = await handle(job, task);
      say({ kind: 'done', value }, moved);
    } catch (error) {
      say({ kind: 'failed', message: wholeMessage(error) });
    }
  };
  let last = Promise.resolve();
  port.on('message', (order: ThreadOrder) => {
    last = last.then(async () => {
      if (order.kind === 'job') return await work(order.number, order.job as J);
      end();
      port.close();
    });
  });
  say({ kind: 'ready' });
}
