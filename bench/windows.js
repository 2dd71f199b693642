// Measures windows of recordings, and scans; prints Markdown tables. What is measured, and how, is in docs/performance.md.
//
//     npm run bench:windows -- [--minutes 60] [--hours 10] [--loudness-hours 2] [--files 20000] [--windows 20000]
//                              [--formats flac,wav,mp3,opus,ogg] [--parts describe,short,long,small,loudness] [--runs 3]
//                              [--out DIR] [--peers VENV] [--json]
//
// --minutes is how many recordings of 1 minute there are of each format, --hours the length of the long one, --peers names a Python
// environment with audiotree 1.0.0 and bagz.
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeCorpora } from './corpora.js';
import { describeMachine } from './machine.js';
import { makeSmallFiles } from './small-files.js';
import { median } from './tables.js';
import { runAudiotree, runDraw, runScan, runScanAgain } from './window-contestants.js';
import { printWindowReport } from './window-report.js';

const PARTS = ['describe', 'short', 'long', 'small', 'loudness'];
const FORMATS = ['flac', 'wav', 'mp3', 'opus', 'ogg'];
/** What audiotree reads of them. */
const PEER_FORMATS = ['flac', 'wav'];
/** Of which excerpts are not handed back, too. */
const KEPT_FORMAT = 'flac';
const LOUDNESS = ['--lufs', '--lufs-window', '1.0', '--sample-rate', '44100', '--mono'];
/** Recordings that share the hours of loudness, as in ../shared/peers. */
const LOUDNESS_RECORDINGS = 12;
/** Ten thousand windows each: 10^10 slots in all. */
const MANY_FILES = { files: 1_000_000, seconds: 10_000, count: 2_000_000 };

const settings = readSettings();
const out = path.resolve(settings.out, 'windows');
mkdirSync(out, { recursive: true });
const results = { machine: describeMachine(), settings, describe: [], short: [], long: [], scans: [] };
const parts = {
  describe: measureDescribe,
  short: measureShort,
  long: measureLong,
  small: measureSmallFiles,
  loudness: measureLoudness,
};
for (const [name, measurePart] of Object.entries(parts)) if (settings.parts.includes(name)) await measurePart();
console.log(settings.json ? JSON.stringify(results, undefined, 2) : printWindowReport(results));

function readSettings() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      hours: { type: 'string', default: '10' },
      'loudness-hours': { type: 'string', default: '2' },
      files: { type: 'string', default: '20000' },
      windows: { type: 'string', default: '20000' },
      formats: { type: 'string', default: FORMATS.join(',') },
      parts: { type: 'string', default: PARTS.join(',') },
      runs: { type: 'string', default: '3' },
      out: { type: 'string', default: 'bench-output' },
      peers: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { 'loudness-hours': loudnessHours, minutes, hours, files, windows, runs, ...rest } = values;
  const numbers = { minutes, hours, loudnessHours, files, windows, runs };
  for (const [name, text] of Object.entries(numbers)) {
    numbers[name] = Number(text);
    const isLength = name === 'hours' || name === 'loudnessHours';
    if (!(numbers[name] > 0 && (isLength || Number.isInteger(numbers[name])))) {
      throw new RangeError(`--${name} ${text} is no number above 0`);
    }
  }
  const chosen = rest.parts.split(',');
  const unknown = chosen.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new RangeError(`--parts ${unknown} is none of ${PARTS.join(', ')}`);
  return { ...rest, ...numbers, parts: chosen, formats: rest.formats.split(',') };
}

async function measureDescribe() {
  say('describe');
  const { files, seconds, count } = MANY_FILES;
  for (const number of [files / 1000, files]) {
    const took = await runDraw('describe', number, seconds, count);
    results.describe.push({ files: number, ...took });
  }
}

/** Recordings of a minute, in turns with audiotree. */
async function measureShort() {
  const { minutes, formats, windows, runs, peers } = settings;
  const folder = path.join(out, 'short');
  const corpora = await makeCorpora(folder, { hours: minutes / 60, recordings: minutes, formats, onProgress: say });
  const rounds = new Map(
    formats.map((format) => [format, { ours: [], kept: [], theirs: [], headers: [], loudness: [] }]),
  );
  for (let k = 1; k <= runs; k += 1) {
    for (const { format, audioDir } of corpora) {
      say(`round ${k} of ${runs}: ${format}, recordings of a minute`);
      const round = rounds.get(format);
      const scan = path.join(out, `scan-${format}`);
      round.loudness.push(await runScan(audioDir, scan, ['--jobs', '1', ...LOUDNESS]));
      round.headers.push(await runScan(audioDir, scan, ['--jobs', '1']));
      round.ours.push(await runDraw('draw', scan, windows));
      if (format === KEPT_FORMAT) round.kept.push(await runDraw('keep', scan, windows));
      if (peers !== undefined && PEER_FORMATS.includes(format)) {
        round.theirs.push(await runAudiotree(peers, filesIn(audioDir), minutes * 60, path.join(out, 'audiotree')));
      }
    }
  }
  for (const [format, { ours, kept, theirs, headers, loudness }] of rounds) {
    results.short.push({
      format,
      draw: medianOf(ours),
      kept: kept.length === 0 ? undefined : medianOf(kept),
      peer: theirs.length === 0 ? undefined : medianOf(theirs),
      headers: medianOf(headers),
      loudness: medianOf(loudness),
    });
  }
}

async function measureLong() {
  const { hours, formats, windows } = settings;
  const corpora = await makeCorpora(path.join(out, 'long'), { hours, recordings: 1, formats, onProgress: say });
  for (const { format, audioDir } of corpora) {
    say(`${format}, one recording of ${hours} h`);
    const scan = path.join(out, `scan-long-${format}`);
    await runScan(audioDir, scan, ['--jobs', '1']);
    const loudness =
      format === 'flac' ? await runScan(audioDir, `${scan}-lufs`, ['--jobs', '1', ...LOUDNESS]) : undefined;
    results.long.push({ format, ...(await runDraw('ends', scan, windows)), loudness });
  }
}

async function measureSmallFiles() {
  const { files, runs } = settings;
  say(`${files} small files`);
  const folder = makeSmallFiles(path.join(out, 'small'), files);
  const scan = path.join(out, 'scan-small');
  const works = {
    'one job': () => runScan(folder, scan, ['--jobs', '1']),
    'a job a core': () => runScan(folder, scan, []),
    'again, nothing has changed': () => runScanAgain(folder, scan),
  };
  const rounds = Object.keys(works).map(() => []);
  for (let k = 0; k < runs; k += 1) {
    for (const [at, work] of Object.values(works).entries()) rounds[at].push(await work());
  }
  for (const [at, name] of Object.keys(works).entries()) results.scans.push({ name, files, ...medianOf(rounds[at]) });
}

async function measureLoudness() {
  const { loudnessHours: hours, runs, peers } = settings;
  const folder = path.join(out, 'loudness');
  const [{ audioDir }] = await makeCorpora(folder, {
    ...{ hours, recordings: LOUDNESS_RECORDINGS, formats: ['flac'], onProgress: say },
  });
  const scan = path.join(out, 'scan-loudness');
  const one = makeSmallFiles(path.join(out, 'one'), 1);
  const rounds = { ours: [], start: [], parallel: [], theirs: [] };
  for (let k = 1; k <= runs; k += 1) {
    say(`round ${k} of ${runs}: loudness`);
    rounds.ours.push(await runScan(audioDir, scan, ['--jobs', '1', ...LOUDNESS]));
    rounds.start.push(await runScan(one, `${scan}-one`, ['--jobs', '1', ...LOUDNESS]));
    rounds.parallel.push(await runScan(audioDir, scan, LOUDNESS));
    if (peers !== undefined) {
      rounds.theirs.push(await runAudiotree(peers, filesIn(audioDir), hours * 3600, path.join(out, 'audiotree')));
    }
  }
  results.loudness = {
    hours,
    ours: medianOf(rounds.ours),
    start: medianOf(rounds.start),
    parallel: medianOf(rounds.parallel),
    peer: peers === undefined ? undefined : medianOf(rounds.theirs),
  };
}

function filesIn(folder) {
  return readdirSync(folder)
    .toSorted()
    .map((name) => path.join(folder, name));
}

/** The median of each figure; of bytes the most. */
function medianOf(rounds) {
  const figures = Object.keys(rounds[0]).filter((name) => typeof rounds[0][name] === 'number');
  return Object.fromEntries(
    figures.map((name) => {
      const values = rounds.map((round) => round[name]);
      return [name, name.endsWith('Bytes') ? Math.max(...values) : median(values)];
    }),
  );
}

function say(message) {
  console.error(message);
}
