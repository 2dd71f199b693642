// The commands that do the work of the bench of windows: cutroom itself, and audiotree.
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './process-tree.js';
import { measureIn } from './shard-contestants.js';

const DRAW = fileURLToPath(new URL('draw-windows.js', import.meta.url));
/** Beside the project's folder, where it is there at all. */
const PEER = fileURLToPath(new URL('../../shared/peers/audiotree_windows.py', import.meta.url));

/** How long that program draws windows at most. */
const DRAW_SECONDS = 15;

/** Scans a folder into another one, which is emptied before. */
export async function runScan(folder, out, flags) {
  rmSync(out, { recursive: true, force: true });
  return await measureIn(undefined, ['scan', folder, '--out', out, '--quiet', ...flags]);
}

/** Scans a folder again that was scanned before. */
export async function runScanAgain(folder, out) {
  return await measureIn(undefined, ['scan', folder, '--out', out, '--quiet', '--jobs', '1']);
}

/** Runs draw-windows.js; `processBytes` is the peak of its whole process. */
export async function runDraw(...values) {
  const { stdout, peakBytes } = await measure([process.execPath, '--expose-gc', DRAW, ...values.map(String)]);
  return { ...JSON.parse(stdout), processBytes: peakBytes };
}

/**
 * Draws windows with audiotree, then measures loudness. `startCpuSeconds` is what its process takes beside both: its imports, and the first window.
 *
 * @param {string} venv A Python environment with audiotree 1.0.0 and bagz.
 * @param {string[]} files
 * @param {number} windows How many there are in all of them.
 * @param {string} workDir Is emptied before and removed after.
 */
export async function runAudiotree(venv, files, windows, workDir) {
  rmSync(workDir, { recursive: true, force: true });
  mkdirSync(workDir, { recursive: true });
  const python = path.resolve(venv, 'bin', 'python');
  const script = 'cd "$1" && shift && exec "$@"';
  const command = ['sh', '-c', script, 'sh', workDir, 'env', 'JAX_PLATFORMS=cpu', python, PEER, ...files];
  const { stdout, peakBytes, cpuSeconds } = await measure(command);
  rmSync(workDir, { recursive: true });
  const report = parseAudiotreeReport(stdout);
  const drawn = Math.min(windows, DRAW_SECONDS * report.windowsASecond);
  const drawCpuSeconds = (drawn * report.cpuMs) / 1000;
  const startCpuSeconds = Math.max(0, cpuSeconds - drawCpuSeconds - report.loudnessCpuSeconds);
  return { ...report, peakBytes, startCpuSeconds };
}

/**
 * Reads what audiotree_windows.py prints.
 *
 * @param {string} text
 * @returns {{ windowsASecond: number, cpuMs: number, loudnessCpuSeconds: number }}
 */
export function parseAudiotreeReport(text) {
  const windows = /^(\d+) windows a second, ([\d.]+) ms of CPU each$/mu.exec(text);
  const loudness = /^loudness cache: cpu ([\d.]+) s$/mu.exec(text);
  if (windows === null || loudness === null) throw new Error(`This is no report of audiotree_windows.py: ${text}`);
  return { windowsASecond: Number(windows[1]), cpuMs: Number(windows[2]), loudnessCpuSeconds: Number(loudness[1]) };
}
