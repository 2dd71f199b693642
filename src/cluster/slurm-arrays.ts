/** Tasks that one array job runs. */
export interface TaskArray {
  /** Ascending. */
  tasks: readonly number[];
  /** Index 0 is this task, index 1 the next one …; null where a list says which task an index runs, by its position in `tasks`. */
  offset: number | null;
}

/**
 * Divides tasks into as few array jobs as Slurm takes.
 *
 * ```text
 * tasks      0 1 2 … 999 | 1000 … 1999 | 2000 2003        limit 1000
 * indices    0 1 2 … 999 |    0 …  999 |    0    3
 * offset     0           | 1000        | 2000
 * ```
 *
 * Stretches with an offset can be read off the script; where tasks lie so far apart that they would need more jobs, lists name them.
 *
 * @param tasks ascending
 * @param limit of indices: they end below it
 * @param most elements of one array
 */
export function planArrays(tasks: readonly number[], limit: number, most = limit): TaskArray[] {
  const size = Math.min(limit, most);
  const arrays: TaskArray[] = [];
  for (let at = 0; at < tasks.length;) {
    // Index and task are the same where they can be.
    const offset = (tasks[at] ?? 0) < limit ? 0 : (tasks[at] ?? 0);
    let end = at;
    while (end < tasks.length && end - at < size && (tasks[end] ?? 0) - offset < limit) end += 1;
    arrays.push({ tasks: tasks.slice(at, end), offset });
    at = end;
  }
  if (arrays.length <= Math.ceil(tasks.length / size) + 1) return arrays;
  const lists: TaskArray[] = [];
  for (let at = 0; at < tasks.length; at += size) lists.push({ tasks: tasks.slice(at, at + size), offset: null });
  return lists;
}

/** The indices of an array, as `sbatch --array` takes them: `0-99,103`. */
export function indicesOf({ tasks, offset }: TaskArray): string {
  if (offset === null) return formatRanges(tasks.map((_, index) => index));
  return formatRanges(tasks.map((task) => task - offset));
}

/** Ascending numbers as `0-99,103,105-106`. */
export function formatRanges(numbers: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < numbers.length;) {
    const first = numbers[at] ?? 0;
    let last = first;
    at += 1;
    while (numbers[at] === last + 1) {
      last += 1;
      at += 1;
    }
    ranges.push(first === last ? `${first}` : `${first}-${last}`);
  }
  return ranges.join(',');
}

/** The numbers of such a text. */
export function parseRanges(text: string): number[] {
  const numbers: number[] = [];
  for (const range of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/u.exec(range);
    if (match === null) continue;
    const last = Number(match[2] ?? match[1]);
    for (let number = Number(match[1]); number <= last; number += 1) numbers.push(number);
  }
  return numbers;
}
