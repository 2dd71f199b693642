// The results of the bench of shards as text.
import { figure, markdownTable } from './tables.js';

const MB = 2 ** 20;
/** Seconds that the work on a million rows may take. */
const ROW_LIMITS = { tar: 30, check: 30, 'gen-lst': 20 };

/**
 * Sets all tables that there are results for.
 *
 * @param results What bench/shards.js measures.
 * @returns {string} Markdown.
 */
export function printShardReport({ machine, settings, corpus, packing, rows }) {
  const { cpu, cores, memoryGb, kernel, node } = machine;
  const lines = [`${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, Node.js ${node}\n`];
  const title = `${corpus.count.toLocaleString('en')} utterances, ${figure(corpus.hours, 2)} h`;
  lines.push(
    markdownTable(
      [title, 'wall s', 'CPU s', 'utterances a minute', 'hours a minute', 'memory'],
      packing.map(({ name, wallSeconds, cpuSeconds, peakBytes }) => [
        name,
        figure(wallSeconds, 2),
        figure(cpuSeconds, 2),
        Math.round((corpus.count / wallSeconds) * 60).toLocaleString('en'),
        figure((corpus.hours / wallSeconds) * 60),
        `${Math.round(peakBytes / MB)} MB`,
      ]),
    ),
  );
  const ratios = ratiosOf(packing);
  if (ratios.length > 0) lines.push(markdownTable(['atdataset 0.2.6 takes', 'times', 'target'], ratios));
  if (rows.length > 0) {
    lines.push(
      markdownTable(
        ['work', 'wall s', 'target', 'CPU s', 'memory'],
        rows.map(({ name, wallSeconds, cpuSeconds, peakBytes }) => [
          name,
          figure(wallSeconds),
          settings.rows === 1_000_000 ? `≤ ${ROW_LIMITS[name.split(/[ ,]/u)[0]]}` : '–',
          figure(cpuSeconds),
          `${Math.round(peakBytes / MB)} MB`,
        ]),
      ),
    );
  }
  return lines.join('\n');
}

function ratiosOf(packing) {
  const of = (name) => packing.find((work) => work.name === name);
  const [ours, two] = [of('build FLAC, 1 jobs'), of('build FLAC, 2 jobs')];
  const [theirs, theirTwo] = [of('atdataset build FLAC, 1 workers'), of('atdataset build FLAC, 2 workers')];
  if (theirs === undefined) return [];
  return [
    ['CPU, one job', figure(theirs.cpuSeconds / ours.cpuSeconds), '≥ 4'],
    ['wall time, two jobs', figure(theirTwo.wallSeconds / two.wallSeconds), '≥ 4'],
  ];
}
