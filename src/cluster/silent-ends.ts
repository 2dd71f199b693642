import type { EngineJob } from './engine.js';
import type { PlanStatus } from './read-status.js';
import type { TaskStates } from './task-states.js';

/** `missing`: has to be submitted. `silent`: its job ended without a word. `waiting`: nothing to do now. */
export type TaskVerdict = 'missing' | 'silent' | 'waiting';

/** A job that is over may have written its task's state on another machine just now. */
const SETTLE_LOOKS = 3;
/** One that says that all went well is believed for longer: network file systems tell of new files late. */
const ENDED_LOOKS = 15;

/** Judges tasks whose jobs are over by what the tasks say of themselves. A job that was killed says nothing. */
export class SilentEnds {
  readonly #states: TaskStates;
  /** Looks in a row at which a task had a job that is over and no state that says so. */
  readonly #looks = new Map<number, number>();
  /** How often tasks had failed when they were submitted last. */
  readonly #triesBefore = new Map<number, number>();

  constructor(states: TaskStates) {
    this.#states = states;
  }

  /** Tells what to do about a task and its job, at one look. */
  judge({ failed, running }: PlanStatus): (task: number, job: EngineJob | undefined) => TaskVerdict {
    const tries = new Map(failed.map(({ task, failure }) => [task, failure.tries]));
    const runners = new Map(running.map(({ task, beat }) => [task, beat.job]));
    return (task, job) => {
      if (isOwnRunner(runners, task, job)) return this.#wait(task);
      if (job === undefined) return 'missing';
      if (job.state === 'queued' || job.state === 'running') return this.#wait(task);
      const before = this.#triesBefore.get(task);
      const now = tries.get(task) ?? 0;
      // A failure of a try before this launcher came may be that of the job.
      if (before === undefined ? now > 0 : now > before) return 'missing';
      const looks = (this.#looks.get(task) ?? 0) + 1;
      this.#looks.set(task, looks);
      return looks < (job.state === 'ended' ? ENDED_LOOKS : SETTLE_LOOKS) ? 'waiting' : 'silent';
    };
  }

  /** A job that ended without a word counts as a failure, so that it is not tried for ever. */
  async note(task: number, job: EngineJob, { log, where }: { log: string | undefined; where: string }): Promise<void> {
    this.#looks.delete(task);
    if ((await this.#states.readDone(task)) !== undefined) return;
    // What went wrong, and not the advice below it.
    const lines = log?.trimEnd().split('\n') ?? [];
    const last = lines.findLast((line) => !line.startsWith('hint: '))?.trim() ?? '';
    const reason = job.reason === undefined ? '' : ` (${job.reason})`;
    await this.#states.noteFailure(task, {
      message: `Its job ended without finishing the task: ${job.state}${reason}${last === '' ? '' : `: ${last}`}`,
      hint: 'The folder "logs" of the plan has what the job said.',
      where: `${where}, job ${job.id}`,
    });
  }

  /** @returns how often the one of them that failed most has failed */
  noteSubmitted(tasks: readonly number[], { failed }: PlanStatus): number {
    const tries = new Map(failed.map(({ task, failure }) => [task, failure.tries]));
    let most = 0;
    for (const task of tasks) {
      const before = tries.get(task) ?? 0;
      this.#triesBefore.set(task, before);
      this.#looks.delete(task);
      most = Math.max(most, before);
    }
    return most;
  }

  #wait(task: number): 'waiting' {
    this.#looks.delete(task);
    return 'waiting';
  }
}

/** Whether something runs the task that is no job of the engine, or another one than that which is over. */
function isOwnRunner(
  runners: ReadonlyMap<number, string | undefined>,
  task: number,
  job: EngineJob | undefined,
): boolean {
  if (!runners.has(task)) return false;
  const runner = runners.get(task);
  return job === undefined ? runner === undefined : runner !== job.id;
}
