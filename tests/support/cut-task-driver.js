// Runs `runCutTask()` or `finishCutTasks()` in a process of its own, for tests that kill it.
//
// Takes as its argument the JSON of `{ folder, extent, outputFolder, hash, dieAtUnits }` for a task, or of
// `{ folder, options, tasks, hash, dieAtShare }` for the end, of which each task's folder is `<folder>/tasks/<task>`.
import { finishCutTasks } from '../../dist/cut/finish-tasks.js';
import { runCutTask } from '../../dist/cut/run-task.js';

const asked = JSON.parse(process.argv[2]);
const common = { hash: asked.hash, mappings: [], signal: new AbortController().signal, checkpointMs: 0 };
const die = () => process.kill(process.pid, 'SIGKILL');

if (asked.extent === undefined) {
  await finishCutTasks(asked.folder, (task) => `${asked.folder}/tasks/${task}`, asked.options, {
    ...common,
    salvage: false,
    asShards: false,
    done: new Map(asked.tasks.map((task) => [task, {}])),
    onProgress: (share) => share >= asked.dieAtShare && die(),
  });
} else {
  await runCutTask(asked.folder, asked.extent, asked.outputFolder, {
    ...common,
    jobs: 2,
    recordingTimeoutSeconds: 60,
    onProgress: ({ units }) => units >= asked.dieAtUnits && die(),
  });
}
