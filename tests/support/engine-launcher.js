// Launches a plan on an engine in a process of its own, for tests that kill it.
//
// Takes as its argument the JSON of `{ engine, folder, record, pollMs }`; prints a line of JSON for each note and look, and the result at last.
import { hostname } from 'node:os';
import { launch } from '../../dist/cluster/launch.js';
import { openPlanFolder } from '../../dist/cluster/plan-folder.js';

const { engine: name, folder, record, pollMs } = JSON.parse(process.argv[2]);
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const { createEngine } = await import(`../../dist/cluster/${name}-engine.js`);
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort(new Error('SIGTERM')));
const onNote = (note) => say({ note });
const plan = await openPlanFolder(folder);
try {
  const { isDone, failed, status } = await launch(plan, {
    engine: createEngine(process.env, { onNote, signal: stop.signal }),
    record,
    host: hostname(),
    pid: process.pid,
    signal: stop.signal,
    pollMs,
    onNote,
    onProgress: ({ status: { counts }, jobs, isAttached }) =>
      say({
        counts,
        isAttached,
        jobs: [...jobs].map(([task, { id, state, reason }]) => ({ task, id, state, reason })),
      }),
  });
  say({ isDone, failed, failures: status.failed.map(({ failure }) => failure) });
} catch (error) {
  say({ error: { name: error.name, message: error.message, hint: error.hint } });
  process.exitCode = 1;
}
