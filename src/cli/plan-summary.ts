import { countWords } from '../count-words.js';
import type { PlanFolder } from '../cluster/plan-folder.js';
import { count } from './cut-progress.js';

/** What a plan holds, and where to go on. */
export function formatPlanSummary({ folder, record, plan }: PlanFolder, isNew: boolean): string {
  const { tasks, units, failed_rows: failedRows, map } = record;
  const rows: [string, string][] = [
    ['tasks', count(tasks)],
    [units.name, count(units.count)],
    ['work', describeWork(record)],
  ];
  const weights = plan.extents.map(({ micros, bytes }) => (record.hours === null ? (bytes ?? 0) : (micros ?? 0)));
  if (weights.length > 0) {
    const spell = (weight: number): string =>
      record.hours === null ? `${count(Math.round(weight))} bytes` : `${(weight / MICROS_AN_HOUR).toFixed(3)} h`;
    const lightest = weights.reduce((a, b) => Math.min(a, b));
    const heaviest = weights.reduce((a, b) => Math.max(a, b));
    rows.push(['a task', lightest === heaviest ? spell(heaviest) : `${spell(lightest)} to ${spell(heaviest)}`]);
  }
  if (failedRows > 0) rows.push(['rows failed', count(failedRows)]);
  for (const { local, remote } of map) rows.push(['mapped', `${local} to ${remote}`]);
  rows.push(['plan', folder]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    isNew ? 'Planned.' : 'This plan is there already; nothing was done.',
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
  ].join('\n');
}

/** How to go on after planning. */
export function formatNextSteps({ folder, record }: PlanFolder): string {
  const place = quoted(folder);
  if (record.tasks === 0) return `There is nothing to do: cutroom finish ${place}`;
  return [
    'To go on:',
    `  cutroom run ${place} --task N   one of the tasks, ${numbersOf(record.tasks)}, on any machine`,
    `  cutroom run ${place}            all that are left, here`,
    `  cutroom status ${place}`,
    `  cutroom finish ${place}         makes the outputs when all are done`,
  ].join('\n');
}

function numbersOf(taskCount: number): string {
  return taskCount === 1 ? 'which is 0' : `0 to ${taskCount - 1}`;
}

/** The same as plain data. */
export function planAsJson({ folder, record, plan }: PlanFolder, isNew: boolean): Record<string, unknown> {
  const { kind, tasks, units, hours, bytes, failed_rows, hash, cutroom_version } = record;
  const weights = plan.extents.map((extent) => (hours === null ? (extent.bytes ?? 0) : (extent.micros ?? 0) / 1e6));
  const range =
    weights.length === 0
      ? null
      : { lightest: weights.reduce((a, b) => Math.min(a, b)), heaviest: weights.reduce((a, b) => Math.max(a, b)) };
  return {
    result: isNew ? 'planned' : 'already_planned',
    plan: folder,
    command: kind,
    hash,
    cutroom_version,
    tasks,
    units,
    hours,
    bytes,
    [hours === null ? 'task_bytes' : 'task_sec']: range,
    failed_rows,
  };
}

/** `12.500 h of audio`. */
function describeWork({ hours, bytes }: PlanFolder['record']): string {
  if (hours !== null) return `${hours.toFixed(3)} h of audio`;
  return bytes === null ? 'of unknown size' : countWords(bytes, 'byte');
}

/** A path as a shell takes it. */
export function quoted(file: string): string {
  return /^[\w@%+=:,./-]+$/u.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`;
}

const MICROS_AN_HOUR = 3600e6;
