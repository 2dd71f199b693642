// The commands that do the work of the bench of shards: cutroom itself, ATdataset and GNU tar.
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './process-tree.js';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** Runs cutroom into a folder that is emptied before. */
export async function runCutroom(folder, flags) {
  rmSync(folder, { recursive: true, force: true });
  return await measureIn(undefined, flags);
}

/**
 * Measures a command of cutroom.
 *
 * @param {string | undefined} home
 * @param {string[]} flags
 * @param {number[]} [codes] Exit codes that are no failure of the bench.
 */
export async function measureIn(home, flags, codes = [0]) {
  const ends = codes.join('|');
  const script = `"$@"; code=$?; case $code in ${ends}) exit 0;; *) exit $code;; esac`;
  const command = ['sh', '-c', script, 'sh', process.execPath, CLI, ...flags];
  return await measure(home === undefined ? command : ['env', `HOME=${home}`, ...command]);
}

/** Packs the utterances with `atdataset build`; its plans go under a HOME of its own. */
export async function runAtdataset(venv, folder, { tsv }, shards, workers) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const flags = ['--input', tsv, '--output-dir', path.join(folder, 'out'), '--num-tars', String(shards)];
  flags.push('--sample-rate', '16000', '--workers', String(workers));
  const result = await measure(['env', `HOME=${folder}`, path.join(venv, 'bin/atdataset'), 'build', ...flags]);
  rmSync(folder, { recursive: true, force: true });
  return result;
}

/** Packs the same files into one tar with GNU tar, and waits until it is on the disk: what copying costs at least. */
export async function runGnuTar(file, { audioDir }) {
  rmSync(file, { force: true });
  const result = await measure(['sh', '-c', 'tar -cf "$1" -C "$2" . && sync "$1"', 'sh', file, audioDir]);
  rmSync(file, { force: true });
  return result;
}
