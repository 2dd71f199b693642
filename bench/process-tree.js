// Runs commands and measures each together with all the processes that it starts. Needs Linux, for its /proc.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const POLL_MS = 50;
/** Looking at memory may take one part in so many of a core: with large processes it takes long. */
const POLL_SHARE = 50;
/** How much of what a failed command wrote to stderr is told. */
const STDERR_TAIL = 2000;
/** A shell that waits for the command, so that the kernel adds up in it what the command and its children used. */
const SCRIPT = '"$@" 3>&-; code=$?; cat /proc/$$/stat >&3; exit $code';
/** Places in /proc/<pid>/stat, counted from the state, which is the first field after the name. See proc_pid_stat(5). */
const STAT = { childrenUser: 13, childrenSystem: 14 };

/**
 * Runs a command to its end.
 *
 * CPU time counts each process that was waited for. Memory is the largest sum of the processes' proportional set sizes,
 * in which a page that several of them share counts once.
 *
 * @param {string[]} command The program and its arguments.
 * @returns {Promise<{ wallSeconds: number, cpuSeconds: number, peakBytes: number, stdout: string }>}
 * @throws Error when it exits with anything but 0.
 */
export async function measure(command) {
  const startMs = performance.now();
  const shell = spawn('sh', ['-c', SCRIPT, 'sh', ...command], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const texts = ['', '', ''];
  for (const [k, stream] of shell.stdio.slice(1).entries()) {
    stream.setEncoding('utf8').on('data', (text) => (texts[k] += text));
  }
  let peakBytes = 0;
  let timer = setTimeout(poll, POLL_MS);
  function poll() {
    const before = performance.now();
    peakBytes = Math.max(peakBytes, treeBytes(shell.pid));
    timer = setTimeout(poll, Math.max(POLL_MS, (performance.now() - before) * POLL_SHARE));
  }
  try {
    const code = await new Promise((resolve, reject) => shell.on('error', reject).on('close', resolve));
    const wallSeconds = (performance.now() - startMs) / 1000;
    const [stdout, stderr, stat] = texts;
    if (code !== 0) throw new Error(`${command.join(' ')}: exit code ${code}: ${stderr.slice(-STDERR_TAIL)}`);
    return { wallSeconds, cpuSeconds: cpuSecondsIn(stat), peakBytes, stdout };
  } finally {
    clearTimeout(timer);
  }
}

/** Memory of the processes below `root`, which itself is not counted. */
function treeBytes(root) {
  let bytes = 0;
  for (const waiting = childrenOf(root); waiting.length > 0;) {
    const pid = waiting.pop();
    waiting.push(...childrenOf(pid));
    const pss = /^Pss:\s+(\d+) kB/mu.exec(readIfThere(`/proc/${pid}/smaps_rollup`));
    bytes += Number(pss?.[1] ?? 0) * 1024;
  }
  return bytes;
}

/** Those that the process's main thread started, as Node.js and Python do. */
function childrenOf(pid) {
  return readIfThere(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
}

function cpuSecondsIn(stat) {
  const fields = statFields(stat);
  if (fields === undefined) throw new Error('The kernel told no CPU times');
  return (Number(fields[STAT.childrenUser]) + Number(fields[STAT.childrenSystem])) / ticksASecond();
}

/** The name may hold spaces and parentheses: what counts comes after its last one. */
function statFields(stat) {
  const end = stat.lastIndexOf(')');
  return end < 0 ? undefined : stat.slice(end + 2).split(' ');
}

/** Empty for a process that has ended meanwhile. */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH' || error.code === 'EACCES') return '';
    throw error;
  }
}

let ticks;
function ticksASecond() {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}
