import type { EngineJob } from '../cluster/engine.js';
import type { LaunchProgress } from '../cluster/launch.js';
import type { PlanFolder } from '../cluster/plan-folder.js';
import type { PlanStatus } from '../cluster/read-status.js';
import { countWords } from '../count-words.js';
import { count } from './cut-progress.js';
import { describeFailed, describeSpeed, describeWork } from './status-text.js';

/** So many tasks that failed are listed unless all are asked for. */
const LISTED_TASKS = 20;

/** `running: 3 of 40 tasks, 4 running, 33 queued, 1.50 of 20.00 h, 350 × real time, 3 min 10 s left`. */
export function formatLaunchProgress(plan: PlanFolder, { status, jobs }: LaunchProgress): string {
  const { counts } = status;
  const queued = [...jobs.values()].filter(({ state }) => state === 'queued').length;
  const parts = [
    `${count(counts.done)} of ${countWords(plan.record.tasks, 'task')}`,
    ...[
      [counts.running, 'running'] as const,
      [queued, 'queued'] as const,
      [counts.failed, 'failed'] as const,
      [counts.stale, 'stale'] as const,
    ].flatMap(([number, word]) => (number === 0 ? [] : [`${count(number)} ${word}`])),
    describeWork(status),
  ];
  const speed = describeSpeed(status);
  if (speed !== undefined) parts.push(speed);
  else if (counts.running === 0 && queued > 0) parts.push(...firstReason(jobs));
  return `running: ${parts.join(', ')}`;
}

/** The last error of each task that failed. */
export function listFailedTasks({ failed }: PlanStatus, isVerbose: boolean): string[] {
  const shown = isVerbose ? failed : failed.slice(0, LISTED_TASKS);
  const hidden = failed.length - shown.length;
  return [
    ...shown.map((task) => `task ${describeFailed(task)}`),
    ...(hidden > 0 ? [`and ${countWords(hidden, 'task')} more; --verbose lists all`] : []),
  ];
}

/** What the jobs of a plan do by the word of an engine: `3 running, 33 queued (Resources)`. */
export function describeJobs(jobs: ReadonlyMap<number, EngineJob>): string {
  const numbers = new Map<string, number>();
  for (const { state, reason } of jobs.values()) {
    const name = state === 'queued' && reason !== undefined ? `queued (${reason})` : state;
    numbers.set(name, (numbers.get(name) ?? 0) + 1);
  }
  if (numbers.size === 0) return 'no job waits or runs';
  return [...numbers].map(([name, number]) => `${count(number)} ${name}`).join(', ');
}

function firstReason(jobs: ReadonlyMap<number, EngineJob>): string[] {
  for (const { state, reason } of jobs.values())
    if (state === 'queued' && reason !== undefined) return [`waiting: ${reason}`];
  return [];
}
