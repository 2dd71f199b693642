import { readFile, readlink } from 'node:fs/promises';

import { systemCode } from '../errors.js';

/** Which process holds a lock, as far as the system tells. Written into the lock file. */
export interface LockHolder {
  host: string;
  pid: number;
  /** Number of this very holding; no two are the same. */
  token: string;
  /** When the lock was taken: ISO 8601, by the holder's clock. */
  started: string;
  /** When the process started, in clock ticks since boot: tells it from a later process of the same pid. */
  process_start?: string;
  /** Changes at each boot of the machine. */
  boot_id?: string;
  /** Tells machines of the same host name apart. */
  machine_id?: string;
  /** The pid means nothing outside this namespace: containers may share a host name. */
  pid_namespace?: string;
}

/** What `/proc` tells about a process; the fields are missing where there is no `/proc`. */
export type ProcessFacts = Pick<LockHolder, 'process_start' | 'boot_id' | 'machine_id' | 'pid_namespace'>;

/** Tells whether a process of this machine is alive, for systems without `/proc`. */
export type LivenessCheck = (pid: number) => boolean;

/** Reads from `/proc` what identifies a process beyond its pid. */
export async function readProcessFacts(pid: number): Promise<ProcessFacts> {
  const [stat, bootId, machineId, pidNamespace] = await Promise.all([
    readProcessStat(pid),
    readLine('/proc/sys/kernel/random/boot_id'),
    readLine('/etc/machine-id'),
    readlink(`/proc/${pid}/ns/pid`).catch(absent),
  ]);
  return {
    ...(stat !== undefined && { process_start: stat.start }),
    ...(bootId !== undefined && { boot_id: bootId }),
    ...(machineId !== undefined && { machine_id: machineId }),
    ...(pidNamespace !== undefined && { pid_namespace: pidNamespace }),
  };
}

/**
 * Whether the holder of a lock is alive: `unknown` when it runs on another machine, in another container or where the system does not tell.
 */
export async function judgeHolder(
  holder: LockHolder,
  me: LockHolder,
  isProcessAlive: LivenessCheck | undefined,
): Promise<'alive' | 'dead' | 'unknown'> {
  if (holder.host !== me.host || differ(holder.machine_id, me.machine_id)) return 'unknown';
  if (differ(holder.boot_id, me.boot_id)) return 'dead';
  if (differ(holder.pid_namespace, me.pid_namespace)) return 'unknown';
  if (me.process_start === undefined) {
    if (isProcessAlive === undefined) return 'unknown';
    return isProcessAlive(holder.pid) ? 'alive' : 'dead';
  }
  const stat = await readProcessStat(holder.pid);
  if (stat === undefined || stat.isDefunct || differ(holder.process_start, stat.start)) return 'dead';
  return 'alive';
}

/** Reads a lock file's text; undefined when it is torn or no lock of ours. */
export function parseHolder(text: string): LockHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { host, pid, token, started } = value as Partial<Record<keyof LockHolder, unknown>>;
  const isWhole =
    typeof host === 'string' &&
    Number.isSafeInteger(pid) &&
    typeof token === 'string' &&
    /^[0-9a-f]+$/.test(token) &&
    typeof started === 'string';
  return isWhole ? (value as LockHolder) : undefined;
}

interface ProcessStat {
  /** Clock ticks since boot. */
  start: string;
  /** True for a process that ended and was not waited for yet. */
  isDefunct: boolean;
}

/** Fields 3 and 22 of `/proc/<pid>/stat` (proc(5)); undefined when there is no such process. */
async function readProcessStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readLine(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in brackets, which may hold blanks and brackets itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, start] = [fields[0], fields[19]];
  return start === undefined ? undefined : { start, isDefunct: state === 'Z' || state === 'X' };
}

async function readLine(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(absent);
  return text?.trim() || undefined;
}

/** Files of `/proc` vanish with their process (ESRCH even while they are read), and may be hidden. */
function absent(error: unknown): undefined {
  if (!['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR', 'EINVAL'].includes(systemCode(error) ?? '')) throw error;
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}
