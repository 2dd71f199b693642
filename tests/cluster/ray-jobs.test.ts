import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteForShell } from '#cutroom/cluster/ray-entrypoint.js';
import { addJob, jobId, jobPrefix, toEngineJob, toRayJob, type RayJobs } from '#cutroom/cluster/ray-jobs.js';

const prefix = jobPrefix('0123456789abcdef', '/plan', 5);

describe('jobPrefix()', () => {
  it('differs by plan, folder and time of planning, and is the same for all launchers', () => {
    expect(jobPrefix('0123456789abcdef', '/plan', 5)).toBe(prefix);
    const others = [
      jobPrefix('1', '/plan', 5),
      jobPrefix('0123456789abcdef', '/p', 5),
      jobPrefix('0123456789abcdef', '/plan', 6),
    ];
    expect(new Set([prefix, ...others]).size).toBe(4);
  });
});

describe('toRayJob()', () => {
  it('reads task and attempt back', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (task, attempt) => {
        const job = toRayJob(prefix, { submission_id: jobId(prefix, task, attempt), status: 'RUNNING' });
        expect(job).toMatchObject({ task, attempt });
      }),
    );
  });

  it('passes over jobs of others', () => {
    for (const id of [
      null,
      'raysubmit_x',
      `${prefix}0-1-1`,
      `${prefix}-1`,
      `${prefix}-1-x`,
      jobId('cutroom-1-1', 1, 1),
    ]) {
      expect(toRayJob(prefix, { submission_id: id, status: 'RUNNING' })).toBeUndefined();
    }
  });
});

describe('addJob()', () => {
  it('keeps the last job of a task, and all that are alive', () => {
    const jobs: RayJobs = { last: new Map(), alive: new Map() };
    for (const [attempt, status] of [
      [1, 'PENDING'],
      [10, 'FAILED'],
      [2, 'RUNNING'],
    ] as const) {
      addJob(jobs, toRayJob(prefix, { submission_id: jobId(prefix, 3, attempt), status })!);
    }
    expect(jobs.last.get(3)?.attempt).toBe(10);
    expect([...jobs.alive.keys()]).toEqual([jobId(prefix, 3, 1), jobId(prefix, 3, 2)]);
  });
});

describe('toEngineJob()', () => {
  const at = (attempt: number, fields: object): ReturnType<typeof toEngineJob> =>
    toEngineJob(toRayJob(prefix, { submission_id: jobId(prefix, 1, attempt), ...fields })!);

  it.each([
    ['PENDING', 'queued'],
    ['RUNNING', 'running'],
    ['SUCCEEDED', 'ended'],
    ['FAILED', 'failed'],
    ['PAUSED', 'running'],
  ])('maps %s to %s', (status, state) => {
    expect(at(0, { status })?.state).toBe(state);
  });

  it('says why a job failed, without its log', () => {
    const message =
      'Job entrypoint command failed with exit code 127, last available logs (truncated to 20,000 chars):\nsh: no';
    expect(at(0, { status: 'FAILED', message })?.reason).toBe('Job entrypoint command failed with exit code 127');
  });

  it('has jobs that were stopped or lost submitted anew, but not for ever', () => {
    expect(at(0, { status: 'STOPPED' })).toBeUndefined();
    expect(at(10, { status: 'STOPPED' })?.state).toBe('stopped');
    const lost = { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_DIED', message: 'node died' };
    expect(at(9, lost)).toBeUndefined();
    expect(at(10, lost)).toMatchObject({ state: 'gone', reason: 'node died' });
    expect(at(99, { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_START_TIMEOUT' })).toBeUndefined();
  });
});

it('quoteForShell() writes words that a shell reads back', () => {
  const words = fc
    .sample(fc.string({ unit: 'binary', minLength: 1 }), { numRuns: 200, seed: 1 })
    .map((word) => word.replaceAll('\0', ''));
  words.push('', "it's", '$(id)', '`id`', 'a b', '~', '-n', '*', 'a=b', '\\', '"', '\n', 'ä');
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\0' ${words.map(quoteForShell).join(' ')}`], {
    encoding: 'utf8',
  });
  expect(stdout.split('\0').slice(0, -1)).toEqual(words.map((word) => Buffer.from(word).toString('utf8')));
});
