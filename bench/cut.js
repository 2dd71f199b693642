// Measures `cutroom cut`; prints Markdown tables. What is measured, and how, is in docs/performance.md.
//
//     npm run bench -- [--hours 10] [--recordings 12] [--formats flac,mp3,opus,wav] [--runs 3] [--jobs N] [--out DIR]
//                      [--peers VENV] [--long] [--rows N] [--json]
//
// --hours are shared by the formats. --peers names a Python environment with nemo-curator 1.4.0, torchaudio, soundfile
// and transformers below 5, and needs ../shared. --long adds one recording of 10 hours, of the first format; --rows a dry
// run of a manifest of so many rows.
import { closeSync, existsSync, mkdirSync, openSync, readSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CURATOR_TOKENIZER, runCurator, runCut, runFfmpeg, runHelp, runStages } from './contestants.js';
import { CORPUS_FORMATS, makeCorpora } from './corpora.js';
import { describeMachine } from './machine.js';
import { writeManyRows } from './many-rows.js';
import { printReport } from './report.js';
import { median } from './tables.js';

const LONG_HOURS = 10;
const HELP_RUNS = 5;

const settings = readSettings();
const machine = describeMachine();
if (settings.peers !== undefined && !existsSync(CURATOR_TOKENIZER)) {
  throw new Error(`--peers needs ${CURATOR_TOKENIZER}`);
}
const outDir = path.resolve(settings.out);
mkdirSync(outDir, { recursive: true });
const cutDir = path.join(outDir, 'cut');

const results = { machine, settings, formats: [], help: await measureHelp() };
const corpora = await makeCorpora(path.join(outDir, 'corpus'), {
  hours: settings.hours / settings.formats.length,
  recordings: settings.recordings,
  formats: settings.formats,
  onProgress: say,
});
for (const corpus of corpora) results.formats.push(await measureFormat(corpus));
results.dryRun = await measureDryRun(corpora[0]);
if (settings.long) results.long = await measureLong();
if (settings.rows > 0) results.rows = await measureRows(settings.rows);
if (settings.json) console.log(JSON.stringify(results, undefined, 2));
else console.log(printReport(results));

function readSettings() {
  const { values } = parseArgs({
    options: {
      hours: { type: 'string', default: '10' },
      recordings: { type: 'string', default: '12' },
      formats: { type: 'string', default: CORPUS_FORMATS.join(',') },
      runs: { type: 'string', default: '3' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      out: { type: 'string', default: 'bench-output' },
      peers: { type: 'string' },
      long: { type: 'boolean', default: false },
      rows: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
    },
  });
  const numbers = { hours: 'above 0', recordings: 'whole', runs: 'whole', jobs: 'whole', rows: 'whole' };
  for (const [name, kind] of Object.entries(numbers)) {
    const number = Number(values[name]);
    const isValid = kind === 'whole' ? Number.isInteger(number) && number >= (name === 'rows' ? 0 : 1) : number > 0;
    if (!isValid) throw new RangeError(`--${name} ${values[name]} is not a number ${kind}`);
    values[name] = number;
  }
  return { ...values, formats: values.formats.split(',') };
}

/** The programs take turns, so that a machine that changes its speed meanwhile changes it for all. */
async function measureFormat(corpus) {
  const { format, audioDir, hours } = corpus;
  const { runs, jobs, peers } = settings;
  const tokenizer = peers === undefined ? undefined : CURATOR_TOKENIZER;
  const rounds = [];
  readAll(audioDir);
  for (let k = 1; k <= runs; k += 1) {
    say(`${format}: round ${k} of ${runs}`);
    const round = { cut: await runCut(corpus, cutDir, { jobs: 1, tokenizer }) };
    if (machine.ffmpeg !== undefined) round.ffmpeg = await runFfmpeg(corpus, path.join(outDir, 'ffmpeg.flac'));
    if (peers !== undefined) round.curator = await runCurator(corpus, peers, path.join(outDir, 'curator'));
    round.parallel = await runCut(corpus, cutDir, { jobs, tokenizer });
    rounds.push(round);
  }
  say(`${format}: stages`);
  const { decode, resampled, extracted } = await runStages(corpus, path.join(outDir, 'stages'));
  const cpuSeconds = median(rounds.map(({ cut }) => cut.cpuSeconds));
  return {
    format,
    hours,
    cpuSeconds,
    wallSeconds: median(rounds.map(({ parallel }) => parallel.wallSeconds)),
    split: { decode, resample: resampled - decode, encode: extracted - resampled, other: cpuSeconds - extracted },
    peakBytes: Math.max(...rounds.map(({ cut }) => cut.peakBytes)),
    parallelPeakBytes: Math.max(...rounds.map(({ parallel }) => parallel.peakBytes)),
    ffmpeg: compare(rounds, 'ffmpeg'),
    curator: compare(rounds, 'curator'),
    rounds,
  };
}

/** What another program took, and cutroom's part of that: medians over the rounds. */
function compare(rounds, name) {
  const pairs = rounds.filter((round) => round[name] !== undefined);
  if (pairs.length === 0) return undefined;
  return {
    cpuSeconds: median(pairs.map((round) => round[name].cpuSeconds)),
    ratio: median(pairs.map((round) => round.cut.cpuSeconds / round[name].cpuSeconds)),
    peakBytes: Math.max(...pairs.map((round) => round[name].peakBytes)),
  };
}

async function measureHelp() {
  const seconds = [];
  for (let k = 0; k < HELP_RUNS; k += 1) seconds.push((await runHelp()).wallSeconds);
  return { wallSeconds: median(seconds) };
}

async function measureDryRun(corpus) {
  say('Dry runs');
  const runs = [];
  for (let k = 0; k < settings.runs; k += 1) runs.push(await runCut(corpus, cutDir, { dryRun: true }));
  return { hours: corpus.hours, ...medianOf(runs) };
}

async function measureLong() {
  const [format] = settings.formats;
  const options = { hours: LONG_HOURS, recordings: 1, formats: [format], onProgress: say };
  const [corpus] = await makeCorpora(path.join(outDir, 'corpus-long'), options);
  say(`One recording of ${LONG_HOURS} h`);
  const { cpuSeconds, wallSeconds, peakBytes } = await runCut(corpus, cutDir, { jobs: 1 });
  return { format, hours: LONG_HOURS, cpuSeconds, wallSeconds, peakBytes };
}

async function measureRows(rows) {
  say(`A manifest of ${rows} rows`);
  const manifest = path.join(outDir, 'rows.jsonl');
  try {
    const sizeBytes = writeManyRows(manifest, rows);
    const run = await runCut({ manifest, audioDir: outDir }, cutDir, { dryRun: true });
    return { rows, sizeBytes, ...medianOf([run]) };
  } finally {
    rmSync(manifest, { force: true });
  }
}

function medianOf(runs) {
  return {
    cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
    wallSeconds: median(runs.map(({ wallSeconds }) => wallSeconds)),
    peakBytes: Math.max(...runs.map(({ peakBytes }) => peakBytes)),
  };
}

/** Has the system keep the files in memory, so that the first program does not read for the others. */
function readAll(folder) {
  const buffer = Buffer.alloc(1 << 20);
  for (const name of readdirSync(folder)) {
    const file = openSync(path.join(folder, name), 'r');
    while (readSync(file, buffer) > 0);
    closeSync(file);
  }
}

function say(message) {
  console.error(message);
}
