// Tasks of a planned cut that look as if they had been run: tars of members that are no audio, beside true rows and outcomes.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildRow, plannedDuration } from '../dist/cut/row.js';
import { formatEnd, formatHead, formatOutcome, TASK_FILES } from '../dist/cut/task-outcomes.js';
import { openTaskPlan, readTaskPlan } from '../dist/cut/task-plan.js';
import { openPlanFolder } from '../dist/cluster/plan-folder.js';
import { TaskStates } from '../dist/cluster/task-states.js';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '../dist/tar/header.js';

const PAYLOAD = Buffer.alloc(64, 'audio');
const PADDING = Buffer.alloc(paddingBytes(PAYLOAD.length));
const DIGITS = 5;
/** Long enough ago for its runner to be taken for gone. */
const SILENT_SECONDS = 600;

/**
 * Lays down what tasks leave.
 *
 * @param {string} folder of the plan
 * @param {number} from the first task
 * @param {number} to the one after the last
 * @returns {Promise<{ members: number, bytes: number }>} Of all tars.
 */
export async function makeUpTasks(folder, from, to) {
  const { plan } = await openPlanFolder(folder);
  const facts = await readTaskPlan(plan.folder, plan.hash);
  const states = new TaskStates(folder, plan.extents.length);
  const made = { members: 0, bytes: 0 };
  for (const extent of plan.extents.slice(from, to)) {
    const { members, outcome } = await makeUpTask(plan, facts, extent);
    noteDone(states, folder, extent.task, outcome);
    made.members += members;
    made.bytes += outcome.bytes;
  }
  return made;
}

async function makeUpTask({ folder, hash }, facts, { task, first, end, micros }) {
  const home = path.join(folder, 'tasks', String(task).padStart(DIGITS, '0'));
  mkdirSync(home, { recursive: true });
  const taskPlan = await openTaskPlan(folder, facts, task);
  const blocks = [];
  const rows = [];
  const outcomes = new Map();
  try {
    const { settings } = taskPlan;
    for await (const { recording, snippet } of taskPlan.membersInOrder()) {
      const samples = Math.round(plannedDuration(snippet) * settings.targetSampleRate);
      const durationSeconds = samples / settings.targetSampleRate;
      rows.push(`${buildRow(recording, snippet, { durationSeconds, settings }).line}\n`);
      blocks.push(tarHeader({ name: snippet.member, sizeBytes: PAYLOAD.length }), PAYLOAD, PADDING);
      const { index } = recording;
      if (!outcomes.has(index)) outcomes.set(index, { recording: index, snippets: [], warnings: [] });
      outcomes.get(index).snippets.push([snippet.ordinal, samples, 0, null]);
    }
  } finally {
    await taskPlan.close();
  }
  const tar = Buffer.concat([...blocks, END_OF_ARCHIVE]);
  const head = { hash, first, end };
  const outcome = { units: end - first, audioSeconds: micros / 1e6, bytes: tar.length, failures: {} };
  const lines = [formatHead(head), ...[...outcomes.values()].map(formatOutcome), formatEnd(head, outcome)];
  writeFileSync(path.join(home, TASK_FILES.tar), tar);
  writeFileSync(path.join(home, TASK_FILES.manifest), rows.join(''));
  writeFileSync(path.join(home, TASK_FILES.outcomes), Buffer.concat(lines));
  return { members: rows.length, outcome };
}

/** As `TaskStates` does, without waiting for the disk. */
function noteDone(states, folder, task, outcome) {
  const place = (suffix) => path.join(folder, 'states', `${states.nameOf(task)}.${suffix}`);
  writeFileSync(place('done'), `${JSON.stringify(outcome)}\n`);
  for (const suffix of ['beat', 'lock', 'failed']) rmSync(place(suffix), { force: true });
}

/**
 * Has the folder of a plan say that tasks run, are silent and have failed.
 *
 * @param {string} folder of the plan
 * @param {number} count of its tasks
 * @param {{ running: number[], stale: number[], failed: number[] }} tasks
 */
export function makeUpStates(folder, count, { running, stale, failed }) {
  const states = new TaskStates(folder, count);
  const place = (task, suffix) => path.join(folder, 'states', `${states.nameOf(task)}.${suffix}`);
  const beat = { units: 40, audioSeconds: 1200, bytes: 4e7, host: 'node-17', pid: 4711, seconds: 60 };
  for (const task of [...running, ...stale]) {
    writeFileSync(place(task, 'beat'), `${JSON.stringify(beat)}\n`);
    writeFileSync(place(task, 'lock'), '{}\n');
  }
  const before = Date.now() / 1000 - SILENT_SECONDS;
  for (const task of stale) utimesSync(place(task, 'beat'), before, before);
  const failure = { message: 'Cannot write: no space left on device', where: 'node-17, process 4711', tries: 1 };
  for (const task of failed) writeFileSync(place(task, 'failed'), `${JSON.stringify(failure)}\n`);
}
