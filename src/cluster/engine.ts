import type { PlanFolder } from './plan-folder.js';

/** What runs tasks somewhere. */
export type EngineName = 'slurm' | 'ray';

/** What an engine knows of the job of a task. */
export interface EngineJob {
  /** As the engine calls it. */
  id: string;
  /** `gone`: the engine knows it no longer, or lost it with a node. */
  state: 'queued' | 'running' | 'ended' | 'failed' | 'stopped' | 'gone';
  /** Why it waits or failed, in the engine's words. */
  reason: string | undefined;
}

/** What was handed to an engine: plain JSON, kept in `engine.json` of the plan's folder before and after each step, so that any launcher can go on. */
export interface EngineRecord {
  engine: EngineName;
  /** What the engine was asked for: partition, memory, address …; never a secret. */
  options: Readonly<Record<string, unknown>>;
  /** How often tasks that failed are tried again. */
  retries: number;
  /** At most so many run at once; null leaves it to the engine. */
  maxRunning: number | null;
  /** The command that a worker runs, before `run DIR …`. */
  workerCommand: readonly string[];
  /** The folder of the plan as workers name it. */
  remoteFolder: string;
  /** The engine's own facts: job ids, scripts, attempts. */
  facts: Readonly<Record<string, unknown>>;
}

/** One engine. Every call can be repeated: what is submitted already is found again by names made of the plan's hash and the task. */
export interface Engine {
  /**
   * Sees that these tasks are queued, running or over; those that failed before are submitted anew.
   *
   * @returns the record with what it has to remember
   * @throws {OutputError} when the engine cannot be reached or refuses the jobs, in its words.
   */
  submit(plan: PlanFolder, record: EngineRecord, tasks: readonly number[], attempt: number): Promise<EngineRecord>;
  /** What the engine says of tasks; those that it knows nothing of are missing. One call of the engine for all, not one a task. */
  look(plan: PlanFolder, record: EngineRecord, tasks: readonly number[]): Promise<Map<number, EngineJob>>;
  /** Ends all jobs of the plan. */
  cancel(plan: PlanFolder, record: EngineRecord): Promise<number>;
  /** The last lines that the job of a task wrote; undefined where there are none. */
  log(plan: PlanFolder, record: EngineRecord, task: number): Promise<string | undefined>;
}
