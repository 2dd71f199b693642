// A process with a pool in which all are busy; prints the numbers of their processes, for tests that end the parent.
import { ProcessPool } from '../../dist/run/process-pool.js';

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

const [program, job] = process.argv.slice(2);
const pool = new ProcessPool({ program: new URL(program), size: 2, silenceMs: 60_000 });
const pids = await Promise.all([1, 2].map(() => pool.run({ do: 'answer' }).then(({ value }) => value.pid)));
const jobs = [1, 2].map(() => pool.run(JSON.parse(job)));
console.log(JSON.stringify(pids));
console.log(JSON.stringify(await Promise.all(jobs)));
await pool.close();
