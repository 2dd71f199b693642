// Decodes and batches one epoch of a source in this process and its decoders, and prints what it took, as JSON:
//
//     node bench/load-batches.js SOURCE JOBS [kept]     kept: memory of batches is not handed back
import { readFileSync } from 'node:fs';

const RATE = 16_000;
/** Places in /proc/self/stat behind the name: time of this process, and of those that it waited for, in ticks. */
const TIMES = { from: 11, to: 15 };
const TICKS_A_SECOND = 100;
/** From this share of the rows on, start and first batches are behind. */
const STEADY_FROM = 0.1;

const [source, jobs, kept] = process.argv.slice(2);
/** As a trainer does that has copied the batch to its device. */
const handsBack = kept !== 'kept';
const { createLoader } = await import('../dist/index.js');
const startSeconds = performance.now() / 1000;
const cpuBefore = cpuSeconds();
const loader = await createLoader({ source, maxDuration: 600, bucketCount: 30, jobs: Number(jobs) });
const sums = { rows: 0, batches: 0, samples: 0, padded: 0 };
const marks = [];
for await (const { ids, audio, audioLengths } of loader.batches()) {
  sums.batches += 1;
  sums.rows += ids.length;
  marks.push({ rows: sums.rows, seconds: performance.now() / 1000 });
  sums.samples += audioLengths.reduce((sum, length) => sum + length, 0);
  sums.padded += audio.length;
  if (handsBack) loader.recycle({ audio });
}
const endSeconds = performance.now() / 1000;
await loader.close();
const { rows, batches, samples, padded } = sums;
if (loader.failures.count > 0) throw new Error(`${loader.failures.count} items could not be read`);
const steady = marks.find((mark) => mark.rows >= STEADY_FROM * rows);
console.log(
  JSON.stringify({
    rows,
    batches,
    hours: samples / RATE / 3600,
    paddingShare: 1 - samples / padded,
    loopSeconds: endSeconds - startSeconds,
    loopCpuSeconds: cpuSeconds() - cpuBefore,
    startSeconds,
    firstSeconds: marks[0].seconds,
    steadyRows: rows - steady.rows,
    steadySeconds: endSeconds - steady.seconds,
  }),
);

/** Of this process and of those that have ended. */
function cpuSeconds() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(TIMES.from, TIMES.to).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
}
