import type { EngineJob } from './engine.js';

/** A job, or an element of an array job, as Slurm tells of it. */
export interface SlurmRow {
  /** Of the array, where it is one. */
  job: string;
  /** Undefined for a job as a whole. */
  index: number | undefined;
  state: string;
  /** What the process ended with, and the signal that ended it; 0 where neither is known. */
  exitCode: number;
  signal: number;
  reason: string;
  name: string;
}

/** What `squeue --Format` is asked for. Each field is cut to its width, and ends with a bar. */
export const SQUEUE_FIELDS = 'ArrayJobID:20|,ArrayTaskID:20|,State:20|,exit_code:12|,Reason:60|,Name:80';

/** Reads what `squeue --array --Format` prints. */
export function parseSqueue(text: string): SlurmRow[] {
  const rows: SlurmRow[] = [];
  for (const line of text.split('\n')) {
    const [job, index, state, status, reason, ...name] = line.split('|').map((field) => field.trim());
    if (job === undefined || state === undefined || !/^\d+$/u.test(job)) continue;
    // As `wait` gives it.
    const code = Number(status);
    rows.push({
      job,
      index: index !== undefined && /^\d+$/u.test(index) ? Number(index) : undefined,
      state,
      exitCode: Number.isNaN(code) ? 0 : code >> 8,
      signal: Number.isNaN(code) ? 0 : code & 0x7f,
      reason: reason === 'None' ? '' : (reason ?? ''),
      name: name.join('|'),
    });
  }
  return rows;
}

/** What `sacct --format` is asked for, with `--parsable2 --allocations`. */
export const SACCT_FIELDS = 'JobID,State,ExitCode';

/** Reads what it prints. */
export function parseSacct(text: string): SlurmRow[] {
  const rows: SlurmRow[] = [];
  for (const line of text.split('\n')) {
    const match = /^(\d+)(?:_(\d+))?\|([A-Z_]+)([^|]*)\|(\d+):(\d+)$/u.exec(line.trim());
    if (match === null) continue;
    const [, job = '', index, state = '', reason = '', code, signal] = match;
    rows.push({
      job,
      index: index === undefined ? undefined : Number(index),
      state,
      exitCode: Number(code),
      signal: Number(signal),
      reason: reason.trim(),
      name: '',
    });
  }
  return rows;
}

/** What a job is to a plan. */
export interface SlurmJob extends EngineJob {
  /** Stopped by the cluster and not for what it did: it is submitted anew without being counted as a failure. */
  isInnocent: boolean;
}

const QUEUED = new Set([
  'PENDING',
  'CONFIGURING',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'RESV_DEL_HOLD',
  'SPECIAL_EXIT',
]);
const RUNNING = new Set([
  'RUNNING',
  'COMPLETING',
  'SIGNALING',
  'STAGE_OUT',
  'STOPPED',
  'SUSPENDED',
  'RESIZING',
  'POWER_UP_NODE',
]);
const LOST = new Set(['NODE_FAIL', 'BOOT_FAIL', 'REVOKED', 'LAUNCH_FAILED', 'RECONFIG_FAIL']);
/** The cluster took the node back, or the time was up. */
const TAKEN = new Set(['TIMEOUT', 'PREEMPTED', 'DEADLINE']);

/** What cutroom ends with when it was asked to stop, and what a shell does. */
const STOPPED_CODES = new Set([130, 143]);
const SIGTERM = 15;

/** What the state of a job means. */
export function jobOf(row: SlurmRow, id: string): SlurmJob {
  const { state, exitCode, signal, reason } = row;
  const said = reason === '' ? undefined : reason;
  if (QUEUED.has(state)) return { id, state: 'queued', reason: said ?? state, isInnocent: false };
  if (RUNNING.has(state)) {
    return { id, state: 'running', reason: state === 'RUNNING' ? undefined : state, isInnocent: false };
  }
  if (state === 'COMPLETED') return { id, state: 'ended', reason: undefined, isInnocent: false };
  if (LOST.has(state)) return { id, state: 'gone', reason: state, isInnocent: true };
  if (TAKEN.has(state)) return { id, state: 'stopped', reason: state, isInnocent: true };
  if (state === 'CANCELLED') {
    return { id, state: 'stopped', reason: said === undefined ? state : `${state} ${said}`, isInnocent: false };
  }
  if (state === 'FAILED' && (STOPPED_CODES.has(exitCode) || signal === SIGTERM)) {
    return { id, state: 'stopped', reason: 'it was told to stop', isInnocent: true };
  }
  return { id, state: 'failed', reason: failureOf(row), isInnocent: false };
}

function failureOf({ state, exitCode, signal, reason }: SlurmRow): string {
  if (state === 'OUT_OF_MEMORY') return `${state}: give its jobs more with --mem`;
  // No code of a program but one of Slurm's, which could not open the log or start the script.
  if (signal > 31) return `${state}, ${reason}: its node cannot write into the folder of the plan: see --map`;
  if (signal !== 0) return `${state}, killed by signal ${signal}`;
  if (exitCode === 126 || exitCode === 127) return `${state}, exit code ${exitCode}: the worker command does not start`;
  if (exitCode !== 0) return `${state}, exit code ${exitCode}`;
  return reason === '' ? state : `${state}, ${reason}`;
}
