// The results of bench/scale.js as text.
import { figure, markdownTable } from './tables.js';

const MB = 2 ** 20;
/** The memory of commands that end sooner is looked at too seldom to tell how high it was. */
const LEAST_SECONDS = 5;
/** Calls that a metadata server answers. */
const METADATA = ['open', 'stat', 'list', 'mkdir', 'rename', 'link', 'unlink', 'truncate', 'utimes'];
/** Calls of which the data is elsewhere, or that end what `open` began. */
const DATA = ['read', 'write', 'copy', 'sync'];

/**
 * Sets all tables.
 *
 * @param results What bench/scale.js measures.
 * @returns {string} Markdown.
 */
export function printScaleReport(results) {
  return [
    headLine(results),
    stepsTable(results),
    callsTable(results),
    readingsTable(results),
    filesTable(results),
  ].join('\n');
}

function headLine({ machine, settings, made, manifestBytes }) {
  const { cpu, cores, memoryGb, kernel, node } = machine;
  const work = `${count(settings.recordings)} recordings (${megabytes(manifestBytes)} of rows) in ${count(settings.tasks)} tasks`;
  const snippets = `${count(made.members)} snippets (${megabytes(made.bytes)} of tars)`;
  return `${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, Node.js ${node}; ${work}, ${snippets}\n`;
}

function stepsTable({ steps, settings, made }) {
  return markdownTable(
    ['command', 'wall s', 'CPU s', 'memory', 'CPU µs a recording', 'CPU µs a snippet'],
    steps.map(({ name, wallSeconds, cpuSeconds, peakBytes }) => [
      `\`${name}\``,
      figure(wallSeconds, 2),
      figure(cpuSeconds, 2),
      wallSeconds < LEAST_SECONDS ? '–' : megabytes(peakBytes),
      figure((cpuSeconds * 1e6) / settings.recordings),
      figure((cpuSeconds * 1e6) / made.members),
    ]),
  );
}

function callsTable({ steps, watching }) {
  const rows = [...steps, { name: 'status --watch, one more reading', calls: watching.calls }];
  return markdownTable(
    ['file-system calls of', ...METADATA, ...DATA],
    rows.map(({ name, calls }) => [`\`${name}\``, ...[...METADATA, ...DATA].map((call) => count(calls[call] ?? 0))]),
  );
}

function readingsTable({ watching }) {
  const { openSeconds, readings, counts } = watching;
  const [first, ...others] = readings;
  const states = Object.entries(counts)
    .map(([state, tasks]) => `${count(tasks)} ${state}`)
    .join(', ');
  return markdownTable(
    [`how it stands (${states})`, 'ms'],
    [
      ['opening the plan', figure(openSeconds * 1000)],
      ['first reading', figure(first * 1000)],
      ['each one after it, at most', figure(Math.max(...others) * 1000)],
    ],
  );
}

function filesTable({ planned, done, finals, shards }) {
  const rows = {
    'the plan': planned,
    'the plan, all tasks done': done,
    'the finals': finals,
    'the finals --as-shards': shards,
  };
  return markdownTable(
    ['on the disk', 'files', 'folders', 'size'],
    Object.entries(rows).map(([name, sizes]) => [
      name,
      count(sizes.files),
      count(sizes.folders),
      megabytes(sizes.bytes),
    ]),
  );
}

function megabytes(bytes) {
  return `${count(Math.round(bytes / MB))} MB`;
}

function count(number) {
  return number.toLocaleString('en');
}
