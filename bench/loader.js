// Measures the loader: decoding and batching, planning, and `cutroom stream`; prints Markdown tables. What is measured, and how, is in
// docs/performance.md.
//
//     npm run bench:loader -- [--utterances 4000] [--shards 8] [--rows 1000000] [--runs 3] [--parts decode,plan,stream] [--out DIR]
//                             [--peers VENV]… [--json]
//
// --peers names Python environments with atdataset 0.2.6 and torchaudio 2.8, with webdataset and soundfile, or with lhotse: each peer runs in the
// first that it works in. --rows 0 leaves planning out.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  findPeers,
  runAtdataloader,
  runLhotse,
  runLoader,
  runPlan,
  runStream,
  runStreamAlone,
  runWebdataset,
} from './loader-contestants.js';
import { printLoaderReport } from './loader-report.js';
import { describeMachine } from './machine.js';
import { makeLhotseCuts, makeNemoRows } from './made-up-rows.js';
import { measureIn } from './shard-contestants.js';
import { median } from './tables.js';
import { makeUtterances } from './utterances.js';

const PARTS = ['decode', 'plan', 'stream'];
const JOBS = [0, 1, 2];
/** Workers of ATDataloader; with one it does what it does with two, slower. */
const PEER_WORKERS = [0, 2];
/** What lhotse plans, and cutroom beside it. */
const PEER_ROWS = 100_000;
const LIMITS = ['--max-duration', '600', '--buckets', '30'];

const settings = readSettings();
const out = path.resolve(settings.out, 'loader');
mkdirSync(out, { recursive: true });
const peers = Object.fromEntries(findPeers(settings.peers).map((peer) => [peer.name, peer]));
const versions = Object.fromEntries(Object.values(peers).map(({ name, version }) => [name, version]));
const results = { machine: describeMachine(), settings, versions, loadBefore: loadavg()[0] };
if (settings.parts.includes('decode') || settings.parts.includes('stream')) results.corpus = await makeCorpus();
if (settings.parts.includes('decode')) results.decode = await measureDecoding();
if (settings.parts.includes('stream') && peers.webdataset !== undefined) results.stream = await measureStream();
if (settings.parts.includes('plan') && settings.rows > 0) Object.assign(results, await measurePlanning());
results.loadAfter = loadavg()[0];
console.log(settings.json ? JSON.stringify(results, undefined, 2) : printLoaderReport(results));

function readSettings() {
  const { values } = parseArgs({
    options: {
      utterances: { type: 'string', default: '4000' },
      shards: { type: 'string', default: '8' },
      rows: { type: 'string', default: '1000000' },
      runs: { type: 'string', default: '3' },
      parts: { type: 'string', default: PARTS.join(',') },
      out: { type: 'string', default: 'bench-output' },
      peers: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
    },
  });
  const numbers = {};
  for (const name of ['utterances', 'shards', 'rows', 'runs']) {
    numbers[name] = Number(values[name]);
    if (!Number.isInteger(numbers[name]) || numbers[name] < (name === 'rows' ? 0 : 1)) {
      throw new RangeError(`--${name} ${values[name]} is not a whole number above 0`);
    }
  }
  const parts = values.parts.split(',');
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new RangeError(`--parts ${unknown} is none of ${PARTS.join(', ')}`);
  return { ...values, ...numbers, parts };
}

/** FLAC utterances, packed by `cutroom build` where that is not done yet. */
async function makeCorpus() {
  const { utterances, shards } = settings;
  say(`Making ${utterances} utterances`);
  const { tsv, hours } = makeUtterances(path.resolve(settings.out, 'utterances'), utterances);
  const built = path.join(out, `built-${utterances}-${shards}`);
  const list = path.join(built, 'data.lst');
  if (!existsSync(list)) {
    const flags = ['--input', tsv, '--output-dir', built, '--num-tars', shards, '--sample-rate', '16000'];
    await measureIn(undefined, ['build', ...flags, '--quiet']);
  }
  const folder = path.join(built, 'audios');
  const names = readdirSync(folder).filter((name) => name.endsWith('.tar'));
  return { count: utterances, hours, list, tars: names.toSorted().map((name) => path.join(folder, name)) };
}

async function measureDecoding() {
  const { list, tars } = results.corpus;
  const { atdataset, webdataset } = peers;
  const works = {};
  for (const jobs of JOBS) works[`loader, ${jobs} jobs`] = () => runLoader(list, jobs);
  works['loader, 2 jobs, batches kept'] = () => runLoader(list, 2, 'kept');
  if (atdataset !== undefined) {
    for (const workers of PEER_WORKERS) {
      works[`ATDataloader, ${workers} workers`] = () => runAtdataloader(atdataset, results.corpus, workers);
    }
  }
  if (webdataset !== undefined) works['webdataset and soundfile'] = () => runWebdataset(webdataset, 'flac', tars);
  return await inTurns(works);
}

async function measureStream() {
  const { list, count } = results.corpus;
  const { webdataset } = peers;
  const source = ['--source', list, ...LIMITS, '--jobs', '2'];
  return await inTurns({
    'loader, 2 jobs': () => runLoader(list, 2),
    'stream of samples, WAV, read by nobody': () => runStreamAlone(source, count),
    'stream of batches, read by nobody': () => runStreamAlone([...source, '--batches'], count),
    'stream of samples, WAV, read by soundfile': () => runStream(webdataset, 'wav', source),
    'stream of samples, WAV, read by wave and numpy': () => runStream(webdataset, 'wav/numpy', source),
    'stream of samples, FLAC, read by soundfile': () => runStream(webdataset, 'flac', [...source, '--format', 'flac']),
    'stream of batches': () => runStream(webdataset, 'audio.npy', [...source, '--batches']),
    'stream of samples, as they are': () => runStream(webdataset, 'flac', [...source, '--format', 'raw']),
  });
}

async function measurePlanning() {
  const { rows } = settings;
  say('Making up rows');
  const manifest = makeNemoRows(path.join(out, `rows-${rows}.jsonl`), rows);
  const fewer = makeNemoRows(path.join(out, `rows-${PEER_ROWS}.jsonl`), PEER_ROWS);
  const works = {
    [`cutroom, ${rows.toLocaleString('en')} rows`]: () => runPlan('open', manifest),
    [`cutroom, ${PEER_ROWS.toLocaleString('en')} rows`]: () => runPlan('open', fewer),
  };
  const { lhotse } = peers;
  if (lhotse !== undefined) {
    const cuts = makeLhotseCuts(path.join(out, `cuts-${PEER_ROWS}.jsonl`), PEER_ROWS);
    works[`lhotse, ${PEER_ROWS.toLocaleString('en')} cuts`] = () => runLhotse(lhotse, cuts);
  }
  const plan = await inTurns(works);
  const [ranks] = await inTurns({ ranks: () => runPlan('ranks', manifest) });
  return { plan, ranks };
}

/** The programs take turns, so that a machine that changes its speed meanwhile changes it for all. */
async function inTurns(works) {
  const rounds = Object.keys(works).map(() => []);
  for (let k = 1; k <= settings.runs; k += 1) {
    for (const [at, [name, work]] of Object.entries(works).entries()) {
      say(`round ${k} of ${settings.runs}: ${name}`);
      rounds[at].push(await work());
    }
  }
  return Object.keys(works).map((name, at) => ({ name, ...medianOf(rounds[at]) }));
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
