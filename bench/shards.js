// Measures `cutroom build`, `tar`, `check` and `gen-lst`; prints Markdown tables. What is measured, and how, is in docs/performance.md.
//
//     npm run bench:shards -- [--utterances 4000] [--shards 8] [--runs 3] [--rows 1000000] [--out DIR] [--peers VENV] [--json]
//
// --peers names a Python environment with atdataset 0.2.6 and torchaudio 2.8. --rows makes a manifest of so many rows, and a thousand shards
// with as many members in all; 0 leaves them out.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.js';
import { makeManyShards } from './many-shards.js';
import { measureIn, runAtdataset, runCutroom, runGnuTar } from './shard-contestants.js';
import { printShardReport } from './shard-report.js';
import { median } from './tables.js';
import { makeManyRows, makeUtterances } from './utterances.js';

const JOBS = [1, 2];

const settings = readSettings();
const out = path.resolve(settings.out);
mkdirSync(out, { recursive: true });
say(`Making ${settings.utterances} utterances`);
const corpus = makeUtterances(path.join(out, 'utterances'), settings.utterances);
const results = { machine: describeMachine(), settings, corpus, packing: [], rows: [] };
await measurePacking();
if (settings.rows > 0) await measureRows();
console.log(settings.json ? JSON.stringify(results, undefined, 2) : printShardReport(results));

function readSettings() {
  const { values } = parseArgs({
    options: {
      utterances: { type: 'string', default: '4000' },
      shards: { type: 'string', default: '8' },
      runs: { type: 'string', default: '3' },
      rows: { type: 'string', default: '0' },
      out: { type: 'string', default: 'bench-output' },
      peers: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  for (const name of ['utterances', 'shards', 'runs', 'rows']) {
    const number = Number(values[name]);
    if (!Number.isInteger(number) || number < (name === 'rows' ? 0 : 1)) {
      throw new RangeError(`--${name} ${values[name]} is not a whole number above 0`);
    }
  }
  const { utterances, shards, runs, rows, ...others } = values;
  return { utterances: Number(utterances), shards: Number(shards), runs: Number(runs), rows: Number(rows), ...others };
}

/** The programs take turns, so that a machine that changes its speed meanwhile changes it for all. */
async function measurePacking() {
  const { shards, runs, peers } = settings;
  const built = path.join(out, 'built');
  const build = ['build', '--input', corpus.tsv, '--output-dir', built, '--num-tars', String(shards)];
  const tarred = path.join(out, 'tarred');
  const tar = ['tar', '--manifest-path', corpus.manifest, '--target-dir', tarred, '--num-shards', String(shards)];
  tar.push('--max-duration', '100', '--shuffle');
  const works = {};
  for (const jobs of JOBS) {
    const withJobs = ['--jobs', String(jobs), '--quiet'];
    works[`build FLAC, ${jobs} jobs`] = () => runCutroom(built, [...build, '--sample-rate', '16000', ...withJobs]);
    if (peers !== undefined) {
      works[`atdataset build FLAC, ${jobs} workers`] = () =>
        runAtdataset(peers, path.join(out, 'peer'), corpus, shards, jobs);
    }
    works[`build --copy, ${jobs} jobs`] = () =>
      runCutroom(built, [...build, '--format', 'WAV', '--copy', '--sample-rate', '16000', ...withJobs]);
    works[`tar, copying, ${jobs} jobs`] = () => runCutroom(tarred, [...tar, ...withJobs]);
  }
  works['GNU tar of the same files, synced'] = () => runGnuTar(path.join(out, 'gnu.tar'), corpus);
  const rounds = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let k = 1; k <= runs; k += 1) {
    for (const [name, work] of Object.entries(works)) {
      say(`round ${k} of ${runs}: ${name}`);
      rounds[name].push(await work());
    }
  }
  for (const [name, measured] of Object.entries(rounds)) results.packing.push({ name, ...medianOf(measured) });
  await runCutroom(built, [...build, '--sample-rate', '16000', '--quiet']);
  await runCutroom(tarred, [...tar, '--quiet']);
  const looks = {
    'check of the built dataset': ['check', path.join(built, 'data.lst')],
    'check --deep of the built dataset': ['check', '--deep', path.join(built, 'data.lst')],
    'check of the tarred dataset': ['check', tarred],
    'gen-lst': [
      ...['gen-lst', '--audio-pattern', path.join(built, 'audios/*.tar'), '--txt-dir', path.join(built, 'manifests')],
      ...['--output', path.join(built, 'again.lst')],
    ],
  };
  for (const [name, flags] of Object.entries(looks)) {
    say(name);
    results.packing.push({ name, ...(await measureIn(undefined, [...flags, '--quiet'], [0, 1])) });
  }
}

async function measureRows() {
  const counts = [settings.rows / 100, settings.rows].map(Math.ceil);
  for (const rows of counts) {
    say(`A manifest of ${rows} rows`);
    const manifest = makeManyRows(path.join(out, `rows-${rows}.json`), corpus, rows);
    const tarred = path.join(out, 'rows-tarred');
    const flags = ['--manifest-path', manifest, '--target-dir', tarred, '--num-shards', '100', '--max-duration', '100'];
    const only = await runCutroom(tarred, ['tar', ...flags, '--only-manifests', '--shuffle', '--quiet']);
    results.rows.push({ name: `tar --only-manifests, ${rows.toLocaleString('en')} rows`, ...only });
    const checked = await measureIn(undefined, ['check', manifest, '--quiet'], [0, 1]);
    results.rows.push({ name: `check, ${rows.toLocaleString('en')} rows`, ...checked });
  }
  say('A thousand shards');
  const many = makeManyShards(path.join(out, 'many'), 1000, Math.ceil(settings.rows / 1000));
  const flags = ['--audio-pattern', many.pattern, '--txt-dir', many.manifests, '--output', path.join(out, 'many.lst')];
  const list = await measureIn(undefined, ['gen-lst', ...flags, '--quiet']);
  results.rows.push({ name: `gen-lst, 1,000 shards of ${Math.ceil(settings.rows / 1000)}`, ...list });
}

function medianOf(rounds) {
  return {
    wallSeconds: median(rounds.map(({ wallSeconds }) => wallSeconds)),
    cpuSeconds: median(rounds.map(({ cpuSeconds }) => cpuSeconds)),
    peakBytes: Math.max(...rounds.map(({ peakBytes }) => peakBytes)),
  };
}

function say(message) {
  console.error(message);
}
