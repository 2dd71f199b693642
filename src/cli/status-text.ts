import type { PlanFolder } from '../cluster/plan-folder.js';
import type { PlanStatus } from '../cluster/read-status.js';
import { countWords } from '../count-words.js';
import { count, duration } from './cut-progress.js';

/** So many tasks are listed unless all are asked for. */
const LISTED_TASKS = 20;

/** How a plan stands, as a table with the tasks that run or failed. */
export function formatStatus(
  plan: PlanFolder,
  status: PlanStatus,
  { isVerbose, engine }: { isVerbose: boolean; engine?: string | undefined },
): string {
  const { counts } = status;
  const rows: [string, string][] = [
    ['plan', `${plan.record.kind}, ${countWords(plan.record.tasks, 'task')}, ${describeUnits(plan)}`],
    ['tasks', describeCounts(counts)],
    ['work', describeWork(status)],
  ];
  const speed = describeSpeed(status);
  if (speed !== undefined) rows.push(['speed', speed]);
  if (engine !== undefined) rows.push(['jobs', engine]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    ...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    ...listTasks(
      'running',
      status.running.map((running) => describeRunning(plan, status, running)),
      isVerbose,
    ),
    ...listTasks('stale', status.stale.map(describeStale), isVerbose),
    ...listTasks('failed', status.failed.map(describeFailed), isVerbose),
  ].join('\n');
}

/** The same on one line. */
export function formatStatusLine(plan: PlanFolder, status: PlanStatus): string {
  const speed = describeSpeed(status);
  return `${describeCounts(status.counts)} of ${countWords(plan.record.tasks, 'task')}, ${describeWork(status)}${speed === undefined ? '' : `, ${speed}`}`;
}

/** The same as plain data. */
export function statusAsJson(plan: PlanFolder, status: PlanStatus): Record<string, unknown> {
  const { counts, hours, bytes, rate, secondsLeft, running, stale, failed } = status;
  const rounded = (value: number): number => Number(value.toFixed(6));
  return {
    plan: plan.folder,
    command: plan.record.kind,
    hash: plan.record.hash,
    tasks: plan.record.tasks,
    ...counts,
    hours_done: hours === null ? null : rounded(hours.done),
    hours_total: hours === null ? null : rounded(hours.total),
    bytes_done: bytes?.done ?? null,
    bytes_total: bytes?.total ?? null,
    ...(hours === null ? { bytes_per_sec: rounded(rate) } : { times_real_time: rounded(rate * 3600) }),
    left_sec: secondsLeft === undefined ? null : rounded(secondsLeft),
    running_tasks: running.map(({ task, beat, silentSeconds }) => ({
      task,
      host: beat.host,
      pid: beat.pid,
      job: beat.job ?? null,
      share: rounded(shareOf(plan, status, task, beat)),
      silent_sec: rounded(silentSeconds),
    })),
    stale_tasks: stale.map(({ task, silentSeconds }) => ({ task, silent_sec: rounded(silentSeconds) })),
    failed_tasks: failed.map(({ task, failure }) => ({ task, ...failure })),
  };
}

/** `3 done, 1 running, 2 waiting`. */
export function describeCounts(counts: PlanStatus['counts']): string {
  const states = ['done', 'running', 'stale', 'failed', 'waiting'] as const;
  const parts = states.flatMap((state) => {
    const number = counts[state];
    return number === 0 && state !== 'done' ? [] : [`${count(number)} ${state}`];
  });
  return parts.join(', ');
}

/** `12.30 of 40.00 h`. */
export function describeWork({ hours, bytes, counts }: PlanStatus): string {
  if (hours !== null) return `${hours.done.toFixed(2)} of ${hours.total.toFixed(2)} h`;
  if (bytes !== null) return `${(bytes.done / 1e9).toFixed(2)} of ${(bytes.total / 1e9).toFixed(2)} GB`;
  return `${countWords(counts.done, 'task')} done`;
}

/** `350 × real time, 3 min 10 s left`; undefined while nothing runs. */
export function describeSpeed({ hours, rate, secondsLeft }: PlanStatus): string | undefined {
  if (rate <= 0) return undefined;
  const speed = hours === null ? `${(rate / 1e6).toFixed(0)} MB a second` : `${(rate * 3600).toFixed(0)} × real time`;
  return secondsLeft === undefined ? speed : `${speed}, ${duration(secondsLeft)} left`;
}

function describeUnits({ record }: PlanFolder): string {
  return countWords(record.units.count, record.units.name.replace(/s$/u, ''));
}

function describeRunning(
  plan: PlanFolder,
  status: PlanStatus,
  { task, beat, silentSeconds }: PlanStatus['running'][number],
): string {
  const share = `${(shareOf(plan, status, task, beat) * 100).toFixed(0)} %`;
  const job = beat.job === undefined ? `process ${beat.pid}` : `job ${beat.job}`;
  const silent = silentSeconds >= 30 ? `, silent for ${duration(silentSeconds)}` : '';
  return `${task}  ${share.padStart(5)}  ${beat.host}, ${job}, for ${duration(beat.seconds + silentSeconds)}${silent}`;
}

function describeStale({ task, silentSeconds }: PlanStatus['stale'][number]): string {
  return `${task}  nothing heard for ${duration(silentSeconds)}: its runner is gone, or cut off; it is taken over when it is run again`;
}

/** `7  what went wrong (where, 2 tries)`, and the remedy on a line of its own. */
export function describeFailed({ task, failure }: PlanStatus['failed'][number]): string {
  const tries = failure.tries > 1 ? `, ${countWords(failure.tries, 'try', 'tries')}` : '';
  const hint = failure.hint === undefined ? '' : `\n    hint: ${failure.hint}`;
  const message = failure.message.trim().replaceAll(/\s*\n\s*/gu, ' ');
  return `${task}  ${message} (${failure.where}${tries})${hint}`;
}

function listTasks(name: string, lines: readonly string[], isVerbose: boolean): string[] {
  if (lines.length === 0) return [];
  const shown = isVerbose ? lines : lines.slice(0, LISTED_TASKS);
  const hidden = lines.length - shown.length;
  return [
    `${name}:`,
    ...shown.map((line) => `  ${line}`),
    ...(hidden > 0 ? [`  and ${count(hidden)} more; --verbose lists all`] : []),
  ];
}

function shareOf(
  { plan }: PlanFolder,
  { hours }: PlanStatus,
  task: number,
  { audioSeconds, bytes, units }: { audioSeconds: number; bytes: number; units: number },
): number {
  const extent = plan.extents[task];
  if (extent === undefined) return 0;
  const whole = hours === null ? extent.bytes : extent.micros === undefined ? undefined : extent.micros / 1e6;
  const done = hours === null ? bytes : audioSeconds;
  if (whole === undefined || whole === 0) return Math.min(1, units / Math.max(1, extent.end - extent.first));
  return Math.min(1, done / whole);
}
