import { describe, expect, it } from 'vitest';
import { parseLimits } from '#cutroom/cluster/slurm-queue.js';
import { jobOf, parseSacct, parseSqueue, type SlurmRow } from '#cutroom/cluster/slurm-states.js';

// As squeue of Slurm 22.05 printed them.
const SQUEUE = `
9                   |0                   |CANCELLED           |33280       |None                                                        |cutroom-cut-c0ffee-1                                        
5                   |N/A                 |CANCELLED           |0           |JobHeldUser                                                 |cutroom-cut-c0ffee-2                                        
1                   |2                   |FAILED              |512         |NonZeroExitCode                                             |cutroom-cut-c0ffee-1                                        
12                  |0                   |FAILED              |4021        |JobLaunchFailure                                            |cutroom-cut-c0ffee-1                                        
13                  |17                  |PENDING             |0           |Priority                                                    |cutroom-cut-c0ffee-1                                        
`;

describe('parseSqueue()', () => {
  it('reads elements of arrays, and jobs as a whole', () => {
    const rows = parseSqueue(SQUEUE);
    expect(rows.map(({ job, index }) => [job, index])).toEqual([
      ['9', 0],
      ['5', undefined],
      ['1', 2],
      ['12', 0],
      ['13', 17],
    ]);
    expect(rows[0]).toEqual({
      job: '9',
      index: 0,
      state: 'CANCELLED',
      exitCode: 130,
      signal: 0,
      reason: '',
      name: 'cutroom-cut-c0ffee-1',
    });
    expect(rows[3]).toMatchObject({ state: 'FAILED', signal: 53, reason: 'JobLaunchFailure' });
  });

  it('passes over what is no row', () => {
    expect(parseSqueue('slurm_load_jobs: hello\n\n')).toEqual([]);
  });
});

describe('parseSacct()', () => {
  it('reads elements and who canceled them', () => {
    const rows = parseSacct('7_3|CANCELLED by 0|0:15\n7_[4-9]|PENDING|0:0\n8|COMPLETED|0:0\n7_4|FAILED|2:0\n');
    expect(
      rows.map(({ job, index, state, exitCode, signal, reason }) => [job, index, state, exitCode, signal, reason]),
    ).toEqual([
      ['7', 3, 'CANCELLED', 0, 15, 'by 0'],
      ['8', undefined, 'COMPLETED', 0, 0, ''],
      ['7', 4, 'FAILED', 2, 0, ''],
    ]);
  });
});

describe('jobOf()', () => {
  const row = (changes: Partial<SlurmRow>): SlurmRow => ({
    job: '7',
    index: 3,
    state: 'PENDING',
    exitCode: 0,
    signal: 0,
    reason: '',
    name: '',
    ...changes,
  });

  it.each([
    [{ state: 'PENDING', reason: 'Priority' }, 'queued', 'Priority', false],
    [{ state: 'REQUEUED' }, 'queued', 'REQUEUED', false],
    [{ state: 'RUNNING' }, 'running', undefined, false],
    [{ state: 'COMPLETING' }, 'running', 'COMPLETING', false],
    [{ state: 'SUSPENDED' }, 'running', 'SUSPENDED', false],
    [{ state: 'COMPLETED' }, 'ended', undefined, false],
    [{ state: 'TIMEOUT' }, 'stopped', 'TIMEOUT', true],
    [{ state: 'PREEMPTED' }, 'stopped', 'PREEMPTED', true],
    [{ state: 'NODE_FAIL' }, 'gone', 'NODE_FAIL', true],
    [{ state: 'CANCELLED', reason: 'by 0' }, 'stopped', 'CANCELLED by 0', false],
    [{ state: 'FAILED', exitCode: 143 }, 'stopped', 'it was told to stop', true],
    [{ state: 'FAILED', exitCode: 130 }, 'stopped', 'it was told to stop', true],
    [{ state: 'FAILED', signal: 15 }, 'stopped', 'it was told to stop', true],
    [{ state: 'FAILED', exitCode: 1 }, 'failed', 'FAILED, exit code 1', false],
    [{ state: 'FAILED', signal: 9 }, 'failed', 'FAILED, killed by signal 9', false],
    [{ state: 'FAILED', exitCode: 127 }, 'failed', 'FAILED, exit code 127: the worker command does not start', false],
    [{ state: 'OUT_OF_MEMORY' }, 'failed', 'OUT_OF_MEMORY: give its jobs more with --mem', false],
    [
      { state: 'FAILED', exitCode: 15, signal: 53, reason: 'JobLaunchFailure' },
      'failed',
      'FAILED, JobLaunchFailure: its node cannot write into the folder of the plan: see --map',
      false,
    ],
    [{ state: 'FAILED', reason: 'BadConstraints' }, 'failed', 'FAILED, BadConstraints', false],
  ] as const)('takes %j for %s', (changes, state, reason, isInnocent) => {
    expect(jobOf(row(changes), '7_3')).toEqual({ id: '7_3', state, reason, isInnocent });
  });
});

describe('parseLimits()', () => {
  it('reads the size of arrays and how many elements may be in them', () => {
    expect(parseLimits('MaxArraySize            = 4001\nSchedulerParameters     = bf_interval=1')).toEqual({
      maxArraySize: 4001,
      maxArrayTasks: 4001,
    });
    expect(parseLimits('MaxArraySize = 4001\nSchedulerParameters = a=1,max_array_tasks=50,b')).toEqual({
      maxArraySize: 4001,
      maxArrayTasks: 50,
    });
    expect(() => parseLimits('MaxArraySize            = 0')).toThrow('takes no array jobs');
  });
});
