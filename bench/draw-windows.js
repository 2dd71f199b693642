// Draws windows of 1 s at 16 kHz mono in this process, and prints what it took, as JSON:
//
//     node bench/draw-windows.js draw SCAN WINDOWS           in the order of training, from all files of a scan; each is handed back
//     node bench/draw-windows.js keep SCAN WINDOWS           the same, none is
//     node bench/draw-windows.js ends SCAN WINDOWS           by turns from the first and the last tenth of its one file
//     node --expose-gc bench/draw-windows.js describe FILES SECONDS COUNT   without decoding, of so many files of so many seconds
import { createWindowedDataset } from '../dist/index.js';
import { Dice } from './dice.js';

const WINDOW = { durationSeconds: 1, hopSeconds: 1, sampleRate: 16_000, mono: true };
/** Windows drawn from one end before the other has its turn. */
const TURN = 10;

const works = { draw, keep, ends, describe };

async function draw(scan, windows) {
  return await drawAll(scan, windows, (dataset, excerpt) => dataset.recycle(excerpt));
}

async function keep(scan, windows) {
  return await drawAll(scan, windows, () => undefined);
}

async function drawAll(scan, windows, use) {
  const dataset = await createWindowedDataset({ ...WINDOW, scan, numEpochs: null });
  const iterator = dataset.iterate();
  await iterator.next();
  const took = await meter(async () => {
    for (let k = 0; k < windows; k += 1) use(dataset, (await iterator.next()).value);
  });
  return { windows: Number(windows), ...took };
}

async function ends(scan, windows) {
  const dataset = await createWindowedDataset({ ...WINDOW, scan, shuffle: false });
  const tenth = Math.floor(dataset.length / 10);
  const dice = new Dice(17);
  const first = await meter(() => dataset.get(dataset.length - 1));
  const sums = [0, 0].map(() => ({ windows: 0, wallSeconds: 0, cpuSeconds: 0 }));
  for (let k = 0; k < windows; k += 2 * TURN) {
    for (const [end, sum] of sums.entries()) {
      const from = end === 0 ? 0 : dataset.length - tenth;
      const took = await meter(async () => {
        for (let n = 0; n < TURN; n += 1) dataset.recycle(await dataset.get(dice.between(from, from + tenth - 1)));
      });
      sum.windows += TURN;
      sum.wallSeconds += took.wallSeconds;
      sum.cpuSeconds += took.cpuSeconds;
    }
  }
  return { first, start: sums[0], end: sums[1] };
}

async function describe(files, seconds, count) {
  let durations = new Map(Array.from({ length: files }, (_, file) => [pathOf(file), Number(seconds)]));
  let filepaths = [...durations.keys()];
  const dataset = await createWindowedDataset({ ...WINDOW, filepaths, durations, checkFiles: false });
  [durations, filepaths] = [];
  globalThis.gc();
  // What the paths of the bench itself took is gone by now: all that is left is the process and the dataset.
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  let checksum = 0;
  const look = (from) => {
    for (let index = from; index < from + Number(count); index += 1) checksum += dataset.describe(index).startFrame;
  };
  look(0);
  const took = await meter(() => look(Number(count)));
  return { slots: dataset.plan.slots.length, count: Number(count), bytes: heapUsed + arrayBuffers, checksum, ...took };
}

function pathOf(file) {
  return `/data/recordings/${String(Math.floor(file / 1000)).padStart(4, '0')}/${String(file).padStart(7, '0')}.flac`;
}

async function meter(work) {
  const startMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wallSeconds: (performance.now() - startMs) / 1000, cpuSeconds: (user + system) / 1e6 };
}

const [name, ...values] = process.argv.slice(2);
console.log(JSON.stringify(await works[name](...values)));
