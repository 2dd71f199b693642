import type { EngineRecord } from './engine.js';
import { parseRanges } from './slurm-arrays.js';

/** An array job that was handed to Slurm, and was not canceled with all of the plan. */
export interface Submission {
  /** What it is called: no other job is. */
  name: string;
  /** Its number; null until `sbatch` has answered, and for ever where the one that asked was killed before. */
  job: string | null;
  /** Its tasks, as `0-99,103`. */
  tasks: string;
  /** The task of index 0; null where index n is the n-th of the tasks. */
  offset: number | null;
}

/** What the engine remembers of a plan. */
export interface SlurmFacts {
  /** How many arrays were ever handed over: the next one is named by it. */
  count: number;
  submissions: readonly Submission[];
  /** How often tasks were stopped by the cluster, by task. */
  stops: Readonly<Record<string, number>>;
  /** The job that finishes the plan, where one is asked for. */
  finishJob: string | null;
}

/** The facts of a record, which may be new. */
export function slurmFactsOf({ facts }: EngineRecord): SlurmFacts {
  const { count = 0, submissions = [], stops = {}, finishJob = null } = facts as Partial<SlurmFacts>;
  return { count, submissions, stops, finishJob };
}

/** Which array runs a task, and at what index. */
export interface TaskPlace {
  submission: Submission;
  index: number;
}

/** Where tasks are: in the last array that they were handed over in. */
export function findPlaces(facts: SlurmFacts, tasks: readonly number[]): Map<number, TaskPlace> {
  const wanted = new Set(tasks);
  const places = new Map<number, TaskPlace>();
  for (const submission of facts.submissions.toReversed()) {
    if (places.size === wanted.size) break;
    const { offset } = submission;
    for (const [position, task] of parseRanges(submission.tasks).entries()) {
      if (!wanted.has(task) || places.has(task)) continue;
      places.set(task, { submission, index: offset === null ? position : task - offset });
    }
  }
  return places;
}
