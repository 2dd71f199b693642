import type { PathMapping } from '../run/path-map.js';
import type { PlannedTasks, TaskContext, TaskExtent, TaskOutcome } from '../run/task.js';

/** What commands can be divided into tasks. */
export type KindName = 'cut' | 'build' | 'tar' | 'scan';

/** A plan as every kind of work gets it to carry it out. */
export interface KindPlan {
  /** The kind's own folder inside the plan's folder: all that it laid down when it planned, and the outputs of its tasks. */
  folder: string;
  extents: readonly TaskExtent[];
  hash: string;
  /** What the command was asked for, as its own options; paths as the machine that planned spells them. */
  request: unknown;
}

/** How the finals were made. */
export interface FinishContext {
  signal: AbortSignal;
  /** Folders of the plan that this machine has elsewhere: see `mapPath`. */
  mappings: readonly PathMapping[];
  /** Finals of the tasks that are done, where others are not. */
  salvage: boolean;
  /** Of `cut`: one tar and manifest a task and a list, instead of one tar. */
  asShards: boolean;
  /** The tasks that are done. */
  done: ReadonlyMap<number, TaskOutcome>;
  onProgress?: ((doneShare: number) => void) | undefined;
}

/** What is there in the end. */
export interface FinishResult {
  kind: 'finished' | 'salvaged' | 'already_done';
  /** Paths of the finals, as this machine has them. */
  outputs: readonly string[];
  /** The result of the command itself, as the library has it: `CutResult`, `BuildResult`, `TarResult` or `ScanResult`; null where there is none. */
  summary: unknown;
  /** False when more failed than the command's limit allows. */
  isWithinLimit: boolean;
}

/** One kind of work, to the rest of the room. All of it can be done again and again without harm. */
export interface TaskKind {
  readonly name: KindName;
  /** Lays down in the folder all that tasks need but the audio. Pure planning. */
  plan(request: unknown, folder: string, context: PlanningContext): Promise<PlannedTasks>;
  /** Does one task. What an earlier try has finished is not done again. @throws CutroomError when it could not be done. */
  run(plan: KindPlan, task: TaskExtent, context: TaskContext): Promise<TaskOutcome>;
  /** Makes the finals, byte for byte those of one run on one machine. */
  finish(plan: KindPlan, context: FinishContext): Promise<FinishResult>;
}

/** What planning is given beside the request. */
export interface PlanningContext {
  division: { count: number } | { hours: number };
  signal: AbortSignal;
  onProgress?: ((rows: number) => void) | undefined;
  onWarning?: ((message: string) => void) | undefined;
  environment: Readonly<Record<string, string | undefined>>;
}
