import { createHash } from 'node:crypto';
import type { EngineJob } from './engine.js';

/** A job as Ray's list has it. */
export interface RayJob {
  id: string;
  task: number;
  /** Of the jobs of one task, from 0. */
  attempt: number;
  /** `PENDING`, `RUNNING`, `STOPPED`, `SUCCEEDED` or `FAILED`. */
  status: string;
  /** The first line of what Ray says about it. */
  message: string | undefined;
  /** Ray's name of what went wrong, where something did. */
  errorType: string | undefined;
}

/** The jobs of one plan. */
export interface RayJobs {
  /** The last job of each task. */
  last: Map<number, RayJob>;
  /** Jobs that wait or run. */
  alive: Map<string, RayJob>;
}

/** Fields of an entry of `GET /api/jobs/` that matter here. */
export interface RayJobFields {
  submission_id?: unknown;
  status?: unknown;
  message?: unknown;
  error_type?: unknown;
}

const MESSAGE_LENGTH = 300;
/** Of a job that never came to run within `RAY_JOB_START_TIMEOUT_SECONDS`: the cluster was busy. */
const NEVER_STARTED = 'JOB_SUPERVISOR_ACTOR_START_TIMEOUT';
/** Of a job whose node or supervisor is gone. */
const LOST: ReadonlySet<string> = new Set(['JOB_SUPERVISOR_ACTOR_DIED', 'JOB_SUPERVISOR_ACTOR_UNKNOWN_FAILURE']);
/** So many jobs of a task may be lost or stopped before that counts as a failure of the task: it may be what kills them. */
const FREE_ATTEMPTS = 10;

/**
 * How the names of a plan's jobs begin: the same for every launcher of this plan in this folder, and another one for a plan that was made
 * anew, of which Ray may remember earlier jobs.
 */
export function jobPrefix(hash: string, remoteFolder: string, plannedSeconds: number): string {
  const place = createHash('sha256').update(`${remoteFolder}\n${plannedSeconds}`).digest('hex');
  return `cutroom-${hash.slice(0, 12)}-${place.slice(0, 8)}`;
}

export function jobId(prefix: string, task: number, attempt: number): string {
  return `${prefix}-${task}-${attempt}`;
}

/** An entry of Ray's list, if it is a job of the plan. */
export function toRayJob(prefix: string, fields: RayJobFields): RayJob | undefined {
  const { submission_id: id, status, message, error_type: errorType } = fields;
  if (typeof id !== 'string' || !id.startsWith(`${prefix}-`) || typeof status !== 'string') return undefined;
  const numbers = /^(\d+)-(\d+)$/u.exec(id.slice(prefix.length + 1));
  if (numbers === null) return undefined;
  return {
    id,
    task: Number(numbers[1]),
    attempt: Number(numbers[2]),
    status,
    message: typeof message === 'string' ? firstLine(message) : undefined,
    errorType: typeof errorType === 'string' ? errorType : undefined,
  };
}

/** Adds a job to those of its plan. */
export function addJob({ last, alive }: RayJobs, job: RayJob): void {
  if (isAlive(job)) alive.set(job.id, job);
  const known = last.get(job.task);
  if (known === undefined || known.attempt < job.attempt) last.set(job.task, job);
}

export function isAlive({ status }: RayJob): boolean {
  return status !== 'STOPPED' && status !== 'SUCCEEDED' && status !== 'FAILED';
}

/** Whether Ray gave the job up before it began. */
export function isNeverStarted({ status, errorType }: RayJob): boolean {
  return status === 'FAILED' && errorType === NEVER_STARTED;
}

/**
 * What a job is to the launcher; undefined for one that is to be submitted anew without being counted as a failure of its task: it never
 * began, was stopped, or went with its node.
 */
export function toEngineJob(job: RayJob): EngineJob | undefined {
  const { id, status, message: reason, attempt, errorType } = job;
  const isFree = attempt < FREE_ATTEMPTS;
  switch (status) {
    case 'PENDING':
      return { id, state: 'queued', reason: reason === undefined ? undefined : shortenWait(reason) };
    case 'SUCCEEDED':
      return { id, state: 'ended', reason: undefined };
    case 'STOPPED':
      return isFree ? undefined : { id, state: 'stopped', reason };
    case 'FAILED':
      if (isNeverStarted(job)) return undefined;
      if (!LOST.has(errorType ?? '')) return { id, state: 'failed', reason };
      return isFree ? undefined : { id, state: 'gone', reason };
    default:
      return { id, state: 'running', reason: status === 'RUNNING' ? undefined : status };
  }
}

/** Ray says so of every job that has not begun. */
function shortenWait(message: string): string {
  return message.includes('waiting for resources') ? 'it may be waiting for resources' : message;
}

/** Without the log that Ray appends to it. */
function firstLine(message: string): string {
  const line = (message.split('\n', 1)[0] ?? '').replace(/, last available logs.*$/u, '').trim();
  const short = line.length > MESSAGE_LENGTH ? `${line.slice(0, MESSAGE_LENGTH)}…` : line;
  // A copy: a part of a string keeps the whole of it in memory.
  return Buffer.from(short).toString('utf8');
}
