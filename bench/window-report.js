// The results of the bench of windows as text.
import { figure, markdownTable, ratio } from './tables.js';

const MB = 2 ** 20;
const FORMAT_NAMES = {
  flac: 'FLAC 48 kHz stereo',
  wav: 'WAV 16 kHz mono',
  mp3: 'MP3 128 kbit/s',
  opus: 'Opus 64 kbit/s',
  ogg: 'Vorbis, quality 4',
};
/** CPU of a window, as parts of audiotree's from the same files, or from FLAC where it does not read them. */
const TARGETS = { flac: 0.5, wav: 1, mp3: 1, opus: 1 };

/**
 * Sets all tables that there are results for.
 *
 * @param results What bench/windows.js measures.
 * @returns {string} Markdown.
 */
export function printWindowReport(results) {
  const { cpu, cores, memoryGb, kernel, node } = results.machine;
  const { short, long, describe, scans, loudness } = results;
  return [
    `${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, Node.js ${node}\n`,
    ...(short.length === 0 ? [] : [drawTable(results)]),
    ...(long.length === 0 ? [] : [longTable(results)]),
    ...(describe.length === 0 ? [] : [describeTable(results)]),
    ...(scans.length === 0 ? [] : [scanTable(results)]),
    ...(short.length === 0 ? [] : [hoursTable(results)]),
    ...(loudness === undefined ? [] : [loudnessTable(results)]),
  ].join('\n');
}

function drawTable({ short, settings }) {
  const flac = short.find(({ format }) => format === 'flac')?.peer;
  const rows = short.flatMap(({ format, draw, kept, peer }) => [
    { format, draw, peer, name: FORMAT_NAMES[format] },
    ...(kept === undefined ? [] : [{ format, draw: kept, peer, name: `${FORMAT_NAMES[format]}, excerpts kept` }]),
  ]);
  return markdownTable(
    [
      `1 s windows of ${settings.minutes} files of 1 min`,
      'a second',
      'CPU ms each',
      'audiotree, CPU ms',
      'of audiotree',
      'memory',
    ],
    rows.map(({ name, format, draw, peer }) => {
      const cpuMs = (1000 * draw.cpuSeconds) / draw.windows;
      const theirs = peer ?? flac;
      const isOther = peer === undefined && theirs !== undefined;
      return [
        name,
        whole(draw.windows / draw.wallSeconds),
        figure(cpuMs, 2),
        isOther ? '–' : figure(peer?.cpuMs, 2),
        `${ratio(theirs && cpuMs / theirs.cpuMs, TARGETS[format])}${isOther ? ', its FLAC' : ''}`,
        megabytes(draw.processBytes),
      ];
    }),
  );
}

function longTable({ long, settings }) {
  const ms = ({ cpuSeconds, windows }) => (1000 * cpuSeconds) / windows;
  return markdownTable(
    [
      `1 s windows of a file of ${settings.hours} h`,
      'first tenth, CPU ms',
      'last tenth, CPU ms',
      'ratio',
      'last, a second',
      'first window, s',
      'memory',
    ],
    long.map(({ format, first, start, end, processBytes }) => [
      FORMAT_NAMES[format],
      figure(ms(start), 2),
      figure(ms(end), 2),
      figure(ms(end) / ms(start), 2),
      whole(end.windows / end.wallSeconds),
      figure(first.wallSeconds, 3),
      megabytes(processBytes),
    ]),
  );
}

function describeTable({ describe }) {
  return markdownTable(
    ['describe', 'slots', 'a second', 'a CPU second', 'target', 'memory of Node.js and dataset', 'target'],
    describe.map(({ files, slots, count, wallSeconds, cpuSeconds, bytes }) => [
      `${whole(files)} files`,
      whole(slots),
      whole(count / wallSeconds),
      whole(count / cpuSeconds),
      '≥ 1,000,000',
      megabytes(bytes),
      '< 200 MB',
    ]),
  );
}

function scanTable({ scans }) {
  return markdownTable(
    ['scan of small WAV and FLAC files', 'files', 'wall s', 'files a second', 'target', 'CPU s', 'memory'],
    scans.map(({ name, files, wallSeconds, cpuSeconds, peakBytes }) => [
      name,
      whole(files),
      figure(wallSeconds, 2),
      whole(files / wallSeconds),
      '≥ 2,000',
      figure(cpuSeconds, 2),
      megabytes(peakBytes),
    ]),
  );
}

function hoursTable({ short, settings }) {
  const hours = settings.minutes / 60;
  return markdownTable(
    ['scan of files of 1 min, one job', 'hours a minute', 'with loudness', 'memory', 'with loudness'],
    short.map(({ format, headers, loudness }) => [
      FORMAT_NAMES[format],
      whole((60 * hours) / headers.wallSeconds),
      figure((60 * hours) / loudness.wallSeconds),
      megabytes(headers.peakBytes),
      megabytes(loudness.peakBytes),
    ]),
  );
}

function loudnessTable({ loudness, long, settings }) {
  const { hours, ours, start, parallel, peer } = loudness;
  const ofPeer = (own, theirs) => ratio(peer && own / theirs(peer), 0.5);
  const measuring = ours.cpuSeconds - start.cpuSeconds;
  const rows = [
    [`${hours} h of FLAC, one job`, ours, ofPeer(ours.cpuSeconds, wholeOf)],
    [
      'the same, without the start of the command',
      { cpuSeconds: measuring, peakBytes: ours.peakBytes },
      ofPeer(measuring, ({ loudnessCpuSeconds }) => loudnessCpuSeconds),
    ],
    ['the same, a job a core', parallel, '–'],
  ];
  const one = long.find((each) => each.loudness !== undefined)?.loudness;
  if (one !== undefined) rows.push([`one FLAC file of ${settings.hours} h, one job`, one, '–']);
  const table = rows.map(([name, { wallSeconds, cpuSeconds, peakBytes }, of]) => [
    name,
    figure(wallSeconds, 1),
    figure(cpuSeconds, 1),
    of,
    `${megabytes(peakBytes)} (< 300 MB)`,
  ]);
  if (peer !== undefined) {
    const memory = megabytes(peer.peakBytes);
    table.push(
      [`audiotree, the same ${hours} h`, '–', figure(wholeOf(peer), 1), '–', memory],
      ['the same, without its start', '–', figure(peer.loudnessCpuSeconds, 1), '–', memory],
    );
  }
  return markdownTable(['loudness', 'wall s', 'CPU s', 'of audiotree', 'memory'], table);
}

function wholeOf({ startCpuSeconds, loudnessCpuSeconds }) {
  return startCpuSeconds + loudnessCpuSeconds;
}

function whole(value) {
  return Math.round(value).toLocaleString('en');
}

function megabytes(bytes) {
  return `${Math.round(bytes / MB)} MB`;
}
