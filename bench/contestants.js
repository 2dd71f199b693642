// The commands that do the bench's work: cutroom itself, one-pass ffmpeg, and NeMo Curator's stages.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './process-tree.js';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const STAGES = fileURLToPath(new URL('stages.js', import.meta.url));
/** Beside the project's folder, where it is there at all. */
const SHARED = fileURLToPath(new URL('../../shared', import.meta.url));
/** Each file to 16 kHz mono FLAC; the first argument is the output. */
const FFMPEG_SCRIPT =
  'out=$1; shift; for f; do ffmpeg -nostdin -v error -y -threads 1 -i "$f" -ac 1 -ar 16000 -threads 1 "$out" || exit; done';

/** The folder of the tokenizer that Curator is run with. */
export const CURATOR_TOKENIZER = path.join(SHARED, 'data', 'curator-golden', 'tokenizer');

/**
 * Cuts a corpus with the whole command.
 *
 * @param {{ manifest: string, audioDir: string }} corpus
 * @param {string} outDir Is emptied before, and removed after a run that succeeds.
 * @param {{ jobs?: number, dryRun?: boolean, tokenizer?: string | undefined }} [options]
 * @returns What `measure` does.
 */
export async function runCut({ manifest, audioDir }, outDir, { jobs, dryRun = false, tokenizer } = {}) {
  const options = ['--input-manifest', manifest, '--audio-dir', audioDir, '--output-dir', outDir];
  options.push('--max-duration-sec', '30', '--quiet');
  if (jobs !== undefined) options.push('--jobs', String(jobs));
  if (dryRun) options.push('--dry-run');
  if (tokenizer !== undefined) options.push('--tokenizer-path', tokenizer);
  return await withFolder(outDir, () => measure([process.execPath, CLI, 'cut', ...options]));
}

/** Has the command print its help. */
export async function runHelp() {
  return await measure([process.execPath, CLI, '--help']);
}

/** Has ffmpeg convert all recordings of a corpus, one after another, with one thread. */
export async function runFfmpeg({ audioDir }, outFile) {
  const files = readdirSync(audioDir).map((name) => path.join(audioDir, name));
  try {
    return await measure(['sh', '-c', FFMPEG_SCRIPT, 'sh', outFile, ...files]);
  } finally {
    rmSync(outFile, { force: true });
  }
}

/**
 * Measures the CPU seconds of cutting by stage.
 *
 * @returns {Promise<{ decode: number, resampled: number, extracted: number }>} Each includes the one before.
 */
export async function runStages({ manifest, audioDir }, workDir) {
  const { stdout } = await measure([process.execPath, '--expose-gc', STAGES, manifest, audioDir, workDir]);
  return JSON.parse(stdout);
}

/**
 * Runs NeMo Curator's stages one after another, without Ray.
 *
 * @param {{ format: string, manifest: string }} corpus
 * @param {string} venv A Python environment with nemo-curator, torchaudio, soundfile and transformers.
 * @param {string} outDir Is emptied before, and removed after a run that succeeds.
 */
export async function runCurator({ format, manifest }, venv, outDir) {
  const program = path.join(SHARED, 'peers', 'curator_stages.py');
  const python = path.join(venv, 'bin', 'python');
  const { stdout } = await withFolder(outDir, () =>
    measure([python, program, path.dirname(manifest), format, CURATOR_TOKENIZER, outDir, 'flac']),
  );
  return parseCuratorReport(stdout);
}

/**
 * Reads what curator_stages.py prints.
 *
 * @param {string} text
 * @returns {{ cpuSeconds: number, importSeconds: number, stages: { name: string, cpuSeconds: number, tasks: number }[], peakBytes: number }}
 *   `cpuSeconds` is the sum of the stages.
 */
export function parseCuratorReport(text) {
  const stages = [...text.matchAll(/^(\S+): cpu ([\d.]+) s, (\d+) tasks$/gmu)].map(([, name, seconds, tasks]) => ({
    name,
    cpuSeconds: Number(seconds),
    tasks: Number(tasks),
  }));
  const importSeconds = /^import: cpu ([\d.]+) s$/mu.exec(text)?.[1];
  const peakMb = /^peak memory (\d+) MB$/mu.exec(text)?.[1];
  if (stages.length === 0 || importSeconds === undefined || peakMb === undefined) {
    throw new Error(`This is no report of curator_stages.py: ${text}`);
  }
  return {
    cpuSeconds: stages.reduce((sum, stage) => sum + stage.cpuSeconds, 0),
    importSeconds: Number(importSeconds),
    stages,
    peakBytes: Number(peakMb) * 2 ** 20,
  };
}

/** What a failed run leaves is kept: it says why. */
async function withFolder(folder, work) {
  rmSync(folder, { recursive: true, force: true });
  const result = await work();
  rmSync(folder, { recursive: true, force: true });
  return result;
}
