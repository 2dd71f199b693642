// The programs that do the work of the bench of the loader: cutroom's, and those of ATdataset, WebDataset and lhotse.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './process-tree.js';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const LOAD = programAt('load-batches.js');
const PLAN = programAt('plan-batches.js');
const PEER_FOLDER = programAt('peers');
/** The programs that each environment of Python may have. */
const PACKAGES = ['atdataset', 'torchaudio', 'webdataset', 'soundfile', 'lhotse'];
/** ATdataset decodes by a call that later ones do not have: there it drops each row, and ends well. */
const TORCHAUDIO = /^2\.[0-8]\./u;

/**
 * Looks which peers the environments have.
 *
 * @param {string[]} venvs
 * @returns {{ name: string, version: string, python: string }[]} `atdataset`, `webdataset`, `lhotse`: each of the first environment that it works in.
 */
export function findPeers(venvs) {
  return choosePeers(
    venvs.map((venv) => {
      const python = path.resolve(venv, 'bin', 'python');
      const text = execFileSync(python, [path.join(PEER_FOLDER, 'versions.py'), ...PACKAGES], { encoding: 'utf8' });
      return { python, versions: JSON.parse(text) };
    }),
  );
}

/** Each peer of the first environment that it works in. */
export function choosePeers(environments) {
  const works = {
    atdataset: ({ torchaudio }) => torchaudio !== undefined && TORCHAUDIO.test(torchaudio),
    webdataset: ({ soundfile }) => soundfile !== undefined,
    lhotse: () => true,
  };
  return Object.entries(works).flatMap(([name, isComplete]) => {
    const found = environments.find(({ versions }) => versions[name] !== undefined && isComplete(versions));
    return found === undefined ? [] : [{ name, version: found.versions[name], python: found.python }];
  });
}

/** Decodes and batches all of a source. */
export async function runLoader(source, jobs, ...rest) {
  return await run([process.execPath, LOAD, source, String(jobs), ...rest]);
}

/** Plans without decoding: `open` or `ranks` of plan-batches.js. */
export async function runPlan(work, manifest) {
  return await run([process.execPath, PLAN, work, manifest]);
}

export async function runAtdataloader({ python }, { list, count }, workers) {
  return await run([python, path.join(PEER_FOLDER, 'atdataset_batches.py'), list, String(workers), String(count)]);
}

/** The bare loop over tars. */
export async function runWebdataset({ python }, field, sources) {
  return await run([python, path.join(PEER_FOLDER, 'webdataset_rows.py'), field, ...sources]);
}

/** `cutroom stream` to the same loop. */
export async function runStream(peer, field, flags) {
  const command = [process.execPath, CLI, 'stream', ...flags, '--quiet'].map((word) => `'${word}'`).join(' ');
  return await runWebdataset(peer, field, [`pipe:${command}`]);
}

/** `cutroom stream` to a reader that looks at nothing: what it costs by itself, from the start of the process on. */
export async function runStreamAlone(flags, rows) {
  const words = [process.execPath, CLI, 'stream', ...flags, '--quiet'];
  const { wallSeconds, cpuSeconds, peakBytes } = await measure(['sh', '-c', '"$@" | cat > /dev/null', 'sh', ...words]);
  return { rows, loopSeconds: wallSeconds, wallSeconds, cpuSeconds, peakBytes };
}

export async function runLhotse({ python }, cuts) {
  return await run([python, path.join(PEER_FOLDER, 'lhotse_plan.py'), cuts]);
}

/** What the program says of itself, and what it took altogether. */
async function run(command) {
  const { stdout, wallSeconds, cpuSeconds, peakBytes } = await measure(command);
  return { ...JSON.parse(stdout), wallSeconds, cpuSeconds, peakBytes };
}

function programAt(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}
