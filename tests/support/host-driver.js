// Runs tasks of a plan, and then finishes it where it is asked for, as a host of its own does. Takes the JSON of
// `{ folder, tasks, isToFinish, onRunning, pauseMs, patience }`; prints a line of JSON for each step of a task and for each end.
//
// With `pauseMs` a task takes its time: the process stands still for so long whenever it has come further.
import { hostname } from 'node:os';
import { finishPlan } from '../../dist/cluster/finish-plan.js';
import { openPlanFolder } from '../../dist/cluster/plan-folder.js';
import { runTask } from '../../dist/cluster/run-task.js';

const { folder, tasks, isToFinish, onRunning, pauseMs = 0, patience } = JSON.parse(process.argv[2]);
const { signal } = new AbortController();
const host = hostname();
const say = (facts) => process.stdout.write(`${JSON.stringify({ host, ...facts })}\n`);
const still = new Int32Array(new SharedArrayBuffer(4));

const plan = await openPlanFolder(folder);
for (const task of tasks) {
  let last = 0;
  const onProgress = ({ units }) => {
    if (units === last) return;
    last = units;
    say({ task, units });
    Atomics.wait(still, 0, 0, pauseMs);
  };
  const options = { jobs: 1, signal, host, pid: process.pid, onRunning, onProgress, patience };
  const { kind, host: holder } = await runTask(plan, task, options);
  say({ task, kind, holder });
}
if (isToFinish) say({ kind: (await finishPlan(plan, { signal })).kind });
