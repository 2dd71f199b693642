// Runs `packShards()` in a process of its own, as the command line does, for tests that interrupt it.
//
// Takes as its argument the JSON of `{ planPath, options }` and prints one line of JSON: `{ outcomes }` or
// `{ error: { name, code, message, hint } }`.
import { packShards } from '../../dist/shard/pack-shards.js';
import { PlanFile } from '../../dist/shard/plan-file.js';

const { planPath, options } = JSON.parse(process.argv[2]);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop.abort(new Error(signal)));

try {
  const outcomes = await packShards({ ...options, plan: PlanFile.open(planPath), signal: stop.signal });
  console.log(JSON.stringify({ outcomes }));
} catch (error) {
  const { name, code, message, hint, stack } = error;
  console.log(JSON.stringify({ error: { name, code, message, hint, ...(code === undefined ? { stack } : {}) } }));
  process.exitCode = 3;
}
