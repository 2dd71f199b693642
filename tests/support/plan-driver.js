// Runs or finishes a plan in a process of its own, for tests that kill it. Takes the JSON of `{ folder, task, dieAtUnits }`; without a task the
// plan is finished. Prints how it ended.
import { hostname } from 'node:os';
import { finishPlan } from '../../dist/cluster/finish-plan.js';
import { openPlanFolder } from '../../dist/cluster/plan-folder.js';
import { runTask } from '../../dist/cluster/run-task.js';

const { folder, task, dieAtUnits } = JSON.parse(process.argv[2]);
const { signal } = new AbortController();
try {
  const plan = await openPlanFolder(folder);
  const onProgress = ({ units }) => {
    if (dieAtUnits !== undefined && units >= dieAtUnits) process.kill(process.pid, 'SIGKILL');
  };
  const identity = { host: hostname(), pid: process.pid };
  const ended =
    task === undefined
      ? await finishPlan(plan, { signal })
      : await runTask(plan, task, { jobs: 1, signal, ...identity, onProgress });
  console.log(JSON.stringify({ kind: ended.kind }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
