import type { PathMapping } from './path-map.js';

/** How work is divided: into so many tasks, or into tasks of so many hours of audio. */
export type TaskDivision = { count: number } | { hours: number };

/** A stretch of a plan that is done alone, anywhere: its units (recordings in the order of their names, shards, files) are [first, end). */
export interface TaskExtent {
  /** From 0. */
  task: number;
  first: number;
  end: number;
  /** Audio of it where durations are known, else bytes. */
  micros: number | undefined;
  bytes: number | undefined;
}

/** What a kind of work lays down in the folder of a plan. */
export interface PlannedTasks {
  extents: readonly TaskExtent[];
  /** SHA-256, in hex, of all that decides the outputs: input, options, version. */
  hash: string;
  /** Options that decide the outputs, by the names of the metrics file: to tell what differs. */
  options: Readonly<Record<string, unknown>>;
  /** Units over all tasks, and what they are called: `recordings`, `shards`, `files`. */
  units: { count: number; name: string };
  /** Rows that planning refused: they are in the finals' failures. */
  failedRows: number;
}

/** How far a task is. */
export interface TaskProgress {
  units: number;
  /** Seconds of audio done. */
  audioSeconds: number;
  bytes: number;
}

/** What a task is given beside its plan. */
export interface TaskContext {
  jobs: number;
  /** Stops the task; what is finished is kept. */
  signal: AbortSignal;
  onProgress?: ((progress: TaskProgress) => void) | undefined;
  /** Folders of the plan that this machine has elsewhere: see `mapPath`. */
  mappings: readonly PathMapping[];
}

/** How a task ended. Written whole as the sign that it is done. */
export interface TaskOutcome {
  units: number;
  audioSeconds: number;
  /** Of its output. */
  bytes: number;
  /** What failed in it (snippets, members, files), by reason; it is done all the same. */
  failures: Readonly<Record<string, number>>;
}

/**
 * Divides units into contiguous stretches of about equal weight: no stretch is empty, and each but for single heavy units is at most one unit
 * above the mean.
 *
 * @param weights of each unit, 0 or more
 * @returns where each stretch begins, and at last the number of units: strictly ascending from 0
 * @throws {RangeError} when the count is no whole number from 1 on.
 */
export function divideEvenly(weights: ArrayLike<number>, count: number): number[] {
  if (!(Number.isSafeInteger(count) && count >= 1)) {
    throw new RangeError(`Cannot divide into ${count} tasks: it must be a whole number from 1 on`);
  }
  const units = weights.length;
  const stretches = Math.min(count, units);
  let left = 0;
  for (let at = 0; at < units; at += 1) left += weights[at] ?? 0;
  const starts = [0];
  let at = 0;
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const others = stretches - stretch - 1;
    const share = left / (others + 1);
    let taken = 0;
    const last = units - others;
    while (at < last) {
      const weight = weights[at] ?? 0;
      // Ends where the stretch comes nearest to its share.
      if (at > (starts.at(-1) ?? 0) && taken + weight / 2 > share && others > 0) break;
      taken += weight;
      at += 1;
    }
    left -= taken;
    starts.push(at);
  }
  return starts;
}
