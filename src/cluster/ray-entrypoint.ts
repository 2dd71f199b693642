import type { EngineRecord } from './engine.js';
import { jobId } from './ray-jobs.js';
import type { RaySubmission } from './ray-client.js';

/** Which task is submitted as what. */
export interface RayTask {
  prefix: string;
  task: number;
  attempt: number;
  hash: string;
}

/** What the job of a task is submitted with. */
export function submissionOf(record: EngineRecord, { prefix, task, attempt, hash }: RayTask): RaySubmission {
  const id = jobId(prefix, task, attempt);
  const cpus = cpusOf(record);
  const words = [...record.workerCommand, 'run', record.remoteFolder, '--task', task, '--jobs', cpus, '--wait'];
  return {
    submission_id: id,
    // Without `exec` a shell stays between Ray and cutroom, and a stop ends it first.
    entrypoint: `exec ${words.map((word) => quoteForShell(String(word))).join(' ')}`,
    entrypoint_num_cpus: cpus,
    runtime_env: { env_vars: { CUTROOM_JOB: id } },
    metadata: { cutroom_plan: hash, cutroom_task: String(task) },
  };
}

/** A word as a POSIX shell reads it back. */
export function quoteForShell(word: string): string {
  if (/^[\w@%+:,./-]+$/u.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function cpusOf({ options }: EngineRecord): number {
  const { cpusPerTask } = options;
  return typeof cpusPerTask === 'number' ? cpusPerTask : 1;
}
