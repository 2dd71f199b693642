// The bench's results as text.
import { figure, markdownTable, ratio } from './tables.js';

/** CPU seconds of the whole command, as parts of what others take. */
const TARGETS = {
  flac: { ffmpeg: 1.1, curator: 1.0 },
  mp3: { ffmpeg: 1.0, curator: 0.7 },
  opus: { ffmpeg: 1.1, curator: 0.4 },
  wav: { ffmpeg: 1.0, curator: 1.3 },
};
const FORMAT_NAMES = {
  flac: 'FLAC 48 kHz stereo',
  mp3: 'MP3 128 kbit/s',
  opus: 'Opus 64 kbit/s',
  wav: 'WAV 16 kHz mono',
};
const MB = 2 ** 20;

/**
 * Sets all tables that there are results for.
 *
 * @param results What bench/cut.js measures.
 * @returns {string} Markdown.
 */
export function printReport(results) {
  const { settings, formats } = results;
  return [
    machineLine(results.machine),
    speedTable(formats, settings),
    splitTable(formats),
    ratioTable(formats),
    limitsTable(results),
  ].join('\n');
}

function machineLine({ cpu, cores, memoryGb, kernel, node, ffmpeg }) {
  const programs = `Node.js ${node}, ${ffmpeg === undefined ? 'no ffmpeg' : `ffmpeg ${ffmpeg}`}`;
  return `${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, ${programs}\n`;
}

function speedTable(formats, { jobs }) {
  return markdownTable(
    ['from', 'hours', 'hours a CPU minute', `hours a minute, ${jobs} jobs`, 'memory, 1 job', `memory, ${jobs} jobs`],
    formats.map(({ format, hours, cpuSeconds, wallSeconds, peakBytes, parallelPeakBytes }) => [
      FORMAT_NAMES[format],
      figure(hours, 2),
      figure(hours / (cpuSeconds / 60)),
      figure(hours / (wallSeconds / 60)),
      megabytes(peakBytes),
      megabytes(parallelPeakBytes),
    ]),
  );
}

function splitTable(formats) {
  return markdownTable(
    ['CPU seconds from', 'decode', 'resample', 'encode', 'other', 'all'],
    formats.map(({ format, split, cpuSeconds }) => [
      FORMAT_NAMES[format],
      ...[split.decode, split.resample, split.encode, split.other, cpuSeconds].map((seconds) => figure(seconds)),
    ]),
  );
}

function ratioTable(formats) {
  return markdownTable(
    ['from', 'CPU seconds', 'ffmpeg', 'of ffmpeg', 'Curator', 'of Curator', 'memory of Curator'],
    formats.map(({ format, cpuSeconds, ffmpeg, curator }) => [
      FORMAT_NAMES[format],
      figure(cpuSeconds),
      figure(ffmpeg?.cpuSeconds),
      ratio(ffmpeg?.ratio, TARGETS[format].ffmpeg),
      figure(curator?.cpuSeconds),
      ratio(curator?.ratio, TARGETS[format].curator),
      curator === undefined ? '–' : megabytes(curator.peakBytes),
    ]),
  );
}

function limitsTable({ settings, formats, help, dryRun, long, rows }) {
  const ofJobs = (jobs) => `≤ ${250 + 150 * jobs} MB`;
  const most = (key) => megabytes(Math.max(...formats.map((format) => format[key])));
  const lines = [
    ['`cutroom --help`, wall time', `${figure(help.wallSeconds, 2)} s`, '≤ 0.2 s'],
    [`dry run of ${figure(dryRun.hours, 2)} h, wall time`, `${figure(dryRun.wallSeconds, 2)} s`, '≤ 1 s for 2 h'],
    ['memory of all processes, 1 job', most('peakBytes'), ofJobs(1)],
    [`memory of all processes, ${settings.jobs} jobs`, most('parallelPeakBytes'), ofJobs(settings.jobs)],
  ];
  if (long !== undefined) {
    const name = `one recording of ${long.hours} h, ${FORMAT_NAMES[long.format]}, 1 job`;
    lines.push([`${name}: memory`, megabytes(long.peakBytes), ofJobs(1)]);
    lines.push([`${name}: wall time`, `${figure(long.wallSeconds)} s`, '']);
  }
  if (rows !== undefined) {
    const name = `dry run of ${rows.rows.toLocaleString('en')} rows (${megabytes(rows.sizeBytes)})`;
    lines.push([`${name}: memory`, megabytes(rows.peakBytes), '< 1,024 MB']);
    lines.push([`${name}: wall time`, `${figure(rows.wallSeconds)} s`, '']);
  }
  return markdownTable(['limit', 'measured', 'target'], lines);
}

function megabytes(bytes) {
  return `${Math.round(bytes / MB)} MB`;
}
