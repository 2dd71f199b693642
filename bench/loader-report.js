// The results of the bench of the loader as text.
import { figure, markdownTable } from './tables.js';

const MB = 2 ** 20;
const RANKS = 1024;

/**
 * Sets all tables that there are results for.
 *
 * @param results What bench/loader.js measures.
 * @returns {string} Markdown.
 */
export function printLoaderReport(results) {
  const { cpu, cores, memoryGb, kernel, node } = results.machine;
  const { loadBefore, loadAfter } = results;
  const load = `load average ${figure(loadBefore)} before, ${figure(loadAfter)} after`;
  return [
    `${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, Node.js ${node}; ${load}\n`,
    ...(results.decode === undefined ? [] : [decodeTable(results), decodeRatios(results)]),
    ...(results.stream === undefined ? [] : [streamTable(results)]),
    ...(results.plan === undefined ? [] : [planTable(results), planRatios(results)]),
  ].join('\n');
}

function decodeTable({ decode, corpus }) {
  return markdownTable(
    [
      `${whole(corpus.count)} utterances, ${figure(corpus.hours, 2)} h`,
      ...[
        'rows a second',
        'hours a minute',
        'CPU s of the loop',
        'CPU s in all',
        'first batch, s',
        'padding',
        'memory',
      ],
    ],
    decode.map((work) => [
      work.name,
      whole(work.rows / work.loopSeconds),
      figure((60 * work.hours) / work.loopSeconds),
      figure(work.loopCpuSeconds),
      figure(work.cpuSeconds),
      work.batches === undefined ? '–' : figure(work.firstSeconds, 2),
      percent(work.paddingShare),
      megabytes(work.peakBytes),
    ]),
  );
}

function decodeRatios({ decode, corpus, versions }) {
  const of = (name) => decode.find((work) => work.name === name);
  const ours = [0, 1, 2].map((jobs) => [jobs, of(`loader, ${jobs} jobs`)]);
  const rows = [];
  for (const [jobs, work] of ours) {
    const theirs = of(`ATDataloader, ${jobs} workers`);
    if (theirs === undefined) continue;
    const name = `rows a second, of ATDataloader ${versions.atdataset}, ${jobs} workers`;
    rows.push([name, figure(work.rows / work.loopSeconds / (theirs.rows / theirs.loopSeconds), 2), '≥ 3']);
  }
  const bare = of('webdataset and soundfile');
  for (const [jobs, work] of bare === undefined ? [] : ours) {
    rows.push([`CPU of the loop, ${jobs} jobs, of webdataset and soundfile`, figure(cpuRatio(work, bare), 2), '≤ 1.2']);
    rows.push([`CPU in all, ${jobs} jobs, the same`, figure(work.cpuSeconds / bare.cpuSeconds, 2), '≤ 1.2']);
  }
  const most = Math.max(...ours.map(([, { peakBytes }]) => peakBytes));
  rows.push(['memory of all processes, the most', megabytes(most), '< 600 MB']);
  const [, two] = ours[2];
  rows.push([
    `first batch of ${whole(corpus.count)}, 2 jobs, from the start of the process`,
    `${figure(two.firstSeconds, 2)} s`,
    '≤ 1 s',
  ]);
  return markdownTable(['ratio', 'measured', 'target'], rows);
}

function cpuRatio(work, bare) {
  return work.loopCpuSeconds / bare.loopCpuSeconds;
}

/** Like is set against like: what begins with the process, and what begins when a tenth of the rows is there. */
function streamTable({ stream }) {
  const [loader] = stream;
  return markdownTable(
    [
      'to a loop of webdataset in Python',
      'rows a second from the start',
      'of the loader',
      'rows a second, steady',
      'of the loader',
      'target',
      'first, s',
      'CPU s in all',
      'memory',
    ],
    stream.map((work) => [
      work.name,
      whole(rateFromStart(work)),
      figure(rateFromStart(work) / rateFromStart(loader), 2),
      work.steadySeconds === undefined ? '–' : whole(steadyRate(work)),
      work.steadySeconds === undefined ? '–' : figure(steadyRate(work) / steadyRate(loader), 2),
      work === loader ? '–' : '≥ 0.8',
      work.firstSeconds === undefined ? '–' : figure(work.firstSeconds, 2),
      figure(work.cpuSeconds),
      megabytes(work.peakBytes),
    ]),
  );
}

/** Of the loader from the start of its process on; the loop of a stream begins with that process anyway. */
function rateFromStart({ rows, startSeconds = 0, loopSeconds }) {
  return rows / (startSeconds + loopSeconds);
}

function steadyRate({ steadyRows, steadySeconds }) {
  return steadyRows / steadySeconds;
}

function planTable({ plan }) {
  return markdownTable(
    ['planning of all batches', 'rows a second', 's', 'first batch, s', 'batches', 'padding', 'memory', 'target'],
    plan.map(({ name, rows, loopSeconds, firstSeconds, batches, paddingShare, peakBytes }) => [
      name,
      whole(rows / loopSeconds),
      figure(loopSeconds, 2),
      figure(firstSeconds, 2),
      whole(batches),
      percent(paddingShare),
      megabytes(peakBytes),
      name.startsWith('cutroom') ? '< 1536 MB' : '–',
    ]),
  );
}

function planRatios({ plan, ranks }) {
  const rows = [];
  const lhotse = plan.find(({ name }) => name.startsWith('lhotse'));
  const same = plan.find(({ name, rows: count }) => name.startsWith('cutroom') && count === lhotse?.rows);
  if (lhotse !== undefined && same !== undefined) {
    rows.push(['rows a second, of lhotse', figure(lhotse.loopSeconds / same.loopSeconds, 2), '≥ 3']);
    rows.push(['padding, of lhotse', figure(same.paddingShare / lhotse.paddingShare, 2), '≤ 1']);
  }
  const { oneSeconds, manySeconds, startSeconds, restoreSeconds, batch } = ranks;
  const many = `one rank of ${whole(RANKS)}, of a world of one (${figure(oneSeconds, 2)} s)`;
  rows.push([many, figure(manySeconds / oneSeconds, 2), '≤ 1.2']);
  rows.push([`restoring at batch ${whole(batch)}, of starting`, figure(restoreSeconds / startSeconds, 2), '≤ 1']);
  return markdownTable(['ratio', 'measured', 'target'], rows);
}

function percent(share) {
  return share === undefined ? '–' : `${figure(100 * share)} %`;
}

function whole(value) {
  return Math.round(value).toLocaleString('en');
}

function megabytes(bytes) {
  return `${Math.round(bytes / MB)} MB`;
}
