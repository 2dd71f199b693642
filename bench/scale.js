// Measures what a plan of very many tasks takes beside its audio: `cutroom plan cut`, `status` and `finish`; prints Markdown tables. What the
// figures mean for a cluster is in docs/scale.md.
//
//     npm run bench:scale -- [--recordings 1000000] [--tasks 10000] [--out DIR] [--json]
//
// The recordings are made up, and so is what the tasks have made of them: true rows, and tars of tiny members that are no audio.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.js';
import { makeUpStates, makeUpTasks } from './made-up-tasks.js';
import { writeManyRows } from './many-rows.js';
import { measure } from './process-tree.js';
import { printScaleReport } from './scale-report.js';

/** Of the tasks, while half of them are done. */
const SHARES = { running: 50, stale: 1000, failed: 1000 };
const READINGS = 5;

const settings = readSettings();
const out = path.resolve(settings.out, `scale-${settings.recordings}-${settings.tasks}`);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const manifest = path.join(out, 'rows.jsonl');
const plan = path.join(out, 'plan');
const finals = path.join(out, 'finals');
const callsFile = path.join(out, 'calls.jsonl');
const results = { machine: describeMachine(), settings, steps: [] };
try {
  await measureAll();
} finally {
  rmSync(out, { recursive: true, force: true });
}
console.log(settings.json ? JSON.stringify(results, undefined, 2) : printScaleReport(results));

async function measureAll() {
  const { recordings, tasks } = settings;
  say(`Making ${recordings} rows`);
  results.manifestBytes = writeManyRows(manifest, recordings);
  const flags = ['--input-manifest', manifest, '--audio-dir', out, '--output-dir', finals, '--max-duration-sec', '30'];
  await runStep('plan', ['plan', 'cut', ...flags, '--tasks', String(tasks), '--plan', plan, '--quiet']);
  results.planned = sizesIn(plan);

  say(`Making up half of ${tasks} tasks`);
  const half = tasks >> 1;
  const first = await makeUpTasks(plan, 0, half);
  const others = Array.from({ length: tasks - half }, (_, k) => half + k);
  const took = { running: [], stale: [], failed: [] };
  for (const [name, share] of Object.entries(SHARES)) took[name] = others.splice(0, Math.ceil(tasks / share));
  makeUpStates(plan, tasks, took);
  await runStep('status, half done', ['status', plan, '--json']);
  results.watching = await watch();

  say('Making up the others');
  const second = await makeUpTasks(plan, half, tasks);
  results.made = { members: first.members + second.members, bytes: first.bytes + second.bytes };
  results.done = sizesIn(plan);
  await runStep('status, all done', ['status', plan, '--json']);
  await runStep('finish', ['finish', plan, '--quiet']);
  results.finals = sizesIn(finals);
  await runStep('finish again', ['finish', plan, '--quiet']);
  rmSync(finals, { recursive: true });
  await runStep('finish --as-shards', ['finish', plan, '--as-shards', '--quiet']);
  results.shards = sizesIn(finals);
}

/** One command, and what it asked of the file system. */
async function runStep(name, args) {
  say(`cutroom ${args[0]}: ${name}`);
  const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const { wallSeconds, cpuSeconds, peakBytes } = await measure([...counting(), main, ...args]);
  results.steps.push({ name, wallSeconds, cpuSeconds, peakBytes, calls: takeCalls() });
}

/** What the first reading of the states and those after it take; and what one more of them asks of the file system. */
async function watch() {
  say('Reading the states again and again');
  const program = fileURLToPath(new URL('status-readings.js', import.meta.url));
  const { stdout } = await measure([...counting(), program, plan, String(READINGS)]);
  const calls = takeCalls();
  await measure([...counting(), program, plan, String(READINGS - 1)]);
  const fewer = takeCalls();
  const more = Object.entries(calls).map(([name, count]) => [name, count - (fewer[name] ?? 0)]);
  return { ...JSON.parse(stdout), calls: Object.fromEntries(more.filter(([, count]) => count > 0)) };
}

function counting() {
  const hook = fileURLToPath(new URL('count-calls.js', import.meta.url));
  return ['env', `CUTROOM_CALLS=${callsFile}`, process.execPath, '--import', hook];
}

/** What all processes of the last command have counted. */
function takeCalls() {
  const sums = {};
  for (const line of readFileSync(callsFile, 'utf8').trimEnd().split('\n')) {
    for (const [name, count] of Object.entries(JSON.parse(line))) sums[name] = (sums[name] ?? 0) + count;
  }
  rmSync(callsFile);
  return sums;
}

/** Files and folders below a folder. */
function sizesIn(folder) {
  const sizes = { files: 0, folders: 1, bytes: 0 };
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) {
      sizes.folders += 1;
      continue;
    }
    sizes.files += 1;
    sizes.bytes += statSync(path.join(entry.parentPath, entry.name)).size;
  }
  return sizes;
}

function readSettings() {
  const { values } = parseArgs({
    options: {
      recordings: { type: 'string', default: '1000000' },
      tasks: { type: 'string', default: '10000' },
      out: { type: 'string', default: 'bench-output' },
      json: { type: 'boolean', default: false },
    },
  });
  for (const [name, least] of [
    ['recordings', 1],
    ['tasks', 4],
  ]) {
    const number = Number(values[name]);
    if (!Number.isInteger(number) || number < least) {
      throw new RangeError(`--${name} ${values[name]} is not a whole number from ${least} on`);
    }
  }
  return { ...values, recordings: Number(values.recordings), tasks: Number(values.tasks) };
}

function say(text) {
  process.stderr.write(`${text} …\n`);
}
