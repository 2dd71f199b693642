// Reads how a plan stands, again and again as `cutroom status --watch` does, and prints what each reading takes: `node status-readings.js DIR N`.
import { openPlanFolder } from '../dist/cluster/plan-folder.js';
import { StatusReader } from '../dist/cluster/read-status.js';

const [folder, count] = process.argv.slice(2);
const startMs = performance.now();
const plan = await openPlanFolder(folder);
const openSeconds = (performance.now() - startMs) / 1000;
const reader = new StatusReader(plan);
const readings = [];
let counts;
for (let k = 0; k < Number(count); k += 1) {
  const fromMs = performance.now();
  ({ counts } = await reader.read());
  readings.push((performance.now() - fromMs) / 1000);
}
console.log(JSON.stringify({ openSeconds, readings, counts }));
