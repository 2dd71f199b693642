// Plans epochs of a manifest without decoding, and prints what it took, as JSON:
//
//     node bench/plan-batches.js open MANIFEST     opens it and plans all batches of an epoch
//     node bench/plan-batches.js ranks MANIFEST    opens it; then one rank of 1,024, and a restore, in turns with a world of one from the start
import { openSources } from '../dist/load/open-sources.js';
import { createPlanner } from '../dist/load/plan-epochs.js';
import { toSourceSpec } from '../dist/load/source-spec.js';
import { median } from './tables.js';

const LIMITS = { maxDuration: 600, bucketCount: 30 };
const RANKS = 1024;
const RESTORED_BATCH = 10_000;
const TURNS = 5;

const works = { open, ranks };

async function open(manifest) {
  const startMs = performance.now();
  const table = await openSources(toSourceSpec(manifest));
  const openSeconds = (performance.now() - startMs) / 1000;
  const plan = createPlanner(table, { ...LIMITS, worldSize: 1 }).planEpoch(0);
  let rows = 0;
  let micros = 0;
  let paddedMicros = 0;
  let firstSeconds;
  for (let step = 0; step < plan.stepCount; step += 1) {
    const { items } = plan.batchAt(0, step);
    firstSeconds ??= (performance.now() - startMs) / 1000;
    let longest = 0;
    for (const item of items) {
      const duration = table.durationsMicros[item];
      micros += duration;
      longest = Math.max(longest, duration);
    }
    rows += items.length;
    paddedMicros += longest * items.length;
  }
  const loopSeconds = (performance.now() - startMs) / 1000;
  return {
    rows,
    batches: plan.stepCount,
    paddingShare: 1 - micros / paddedMicros,
    loopSeconds,
    openSeconds,
    firstSeconds,
  };
}

async function ranks(manifest) {
  const table = await openSources(toSourceSpec(manifest));
  const seconds = { one: [], many: [], start: [], restore: [] };
  const batches = createPlanner(table, { ...LIMITS, worldSize: 1 }).planEpoch(0).stepCount;
  const batch = Math.min(RESTORED_BATCH, batches - 1);
  const planOf = (worldSize) => createPlanner(table, { ...LIMITS, worldSize });
  for (let turn = 0; turn < TURNS; turn += 1) {
    seconds.one.push(timeOf(() => planOf(1).planEpoch(0).batchAt(0, 0)));
    seconds.many.push(
      timeOf(() =>
        planOf(RANKS)
          .planEpoch(0)
          .batchAt(RANKS / 2, 0),
      ),
    );
    seconds.start.push(timeOf(() => planOf(1).planEpoch(0).batchAt(0, 0)));
    seconds.restore.push(timeOf(() => planOf(1).resume({ seed: 0, epoch: 0, batch, ranks: 1 }).batchAt(0, 0)));
  }
  const medians = Object.fromEntries(Object.entries(seconds).map(([name, each]) => [`${name}Seconds`, median(each)]));
  return { rows: table.rowCount, batches, batch, ...medians };
}

function timeOf(work) {
  const startMs = performance.now();
  work();
  return (performance.now() - startMs) / 1000;
}

const [name, manifest] = process.argv.slice(2);
console.log(JSON.stringify(await works[name](manifest)));
