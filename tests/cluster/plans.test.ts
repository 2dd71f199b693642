import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPlanFolder, type PlanFolder } from '#cutroom/cluster/plan-folder.js';
import { StatusReader } from '#cutroom/cluster/read-status.js';
import { runLeft, type TaskEnd } from '#cutroom/cluster/run-left.js';
import { runTask } from '#cutroom/cluster/run-task.js';
import { TaskStates } from '#cutroom/cluster/task-states.js';
import { CanceledError, InputError, OutputError, UsageError } from '#cutroom/errors.js';
import { acquireLock } from '#cutroom/run/lock.js';
import { finish, planWork, RUN_OPTIONS } from '../support/plan-runs.js';
import { mountSmallDisk } from '../support/small-disk.js';

let store: string;
let folder: string;
let numbers = 0;
beforeAll(() => {
  store = mkdtempSync(path.join(tmpdir(), 'cutroom-plans-'));
  mkdirSync(path.join(store, 'audio'));
  // The kind of work is beside the point: files that are no audio are read in no time.
  for (let n = 0; n < 8; n += 1) writeFileSync(path.join(store, 'audio', `${n}.wav`), 'x'.repeat(100));
});
beforeEach(() => {
  numbers += 1;
  folder = path.join(store, `plan-${numbers}`);
});
afterAll(() => rmSync(store, { recursive: true }));

const request = (): Record<string, unknown> => ({
  sources: [path.join(store, 'audio')],
  out: path.join(store, `out-${numbers}`),
});

async function plan(count = 4): Promise<PlanFolder> {
  return await planWork(folder, 'scan', request(), { division: { count } });
}

/** Changes what tasks are made by, so that they fail; gives back what undoes it. */
function damageList({ plan: { folder: work } }: PlanFolder): () => void {
  const list = path.join(work, 'files');
  const text = readFileSync(list, 'latin1');
  writeFileSync(list, text.replaceAll('"path"', '"PATH"'), 'latin1');
  return () => writeFileSync(list, text, 'latin1');
}

const outcome = { units: 2, audioSeconds: 0, bytes: 0, failures: {} };
const beat = { units: 1, audioSeconds: 0, bytes: 100, host: 'node7', pid: 7, job: undefined, seconds: 10 };

describe('makePlan()', () => {
  it('opens a plan that is there already, and refuses other options and other work', async () => {
    const made = await plan();
    expect(made.record).toMatchObject({ kind: 'scan', tasks: 4, units: { count: 8, name: 'files' }, bytes: 800 });
    const before = readFileSync(path.join(folder, 'plan.json'), 'utf8');
    expect((await plan()).record).toEqual(made.record);
    expect(readFileSync(path.join(folder, 'plan.json'), 'utf8')).toBe(before);
    const division = { count: 4 };
    await expect(planWork(folder, 'scan', { ...request(), extensions: ['wav'] }, { division })).rejects.toThrow(
      /Another plan is in ".*": extensions was unset, now \["wav"\]/u,
    );
    await expect(plan(3)).rejects.toThrow('division was {"count":4}, now {"count":3}');
    await expect(planWork(folder, 'build', { outputDir: 'x' })).rejects.toThrow('it is one of scan');
  });

  it('opens a plan whose tasks another number would give as well', async () => {
    expect((await plan(100)).record.tasks).toBe(8);
    expect((await plan(8)).record).toMatchObject({ tasks: 8, division: { count: 100 } });
  });

  it('takes mappings of absolute paths alone, with or without a slash at their end', async () => {
    const mapped = async (local: string): Promise<PlanFolder> =>
      await planWork(folder, 'scan', request(), { map: [{ local, remote: '/mnt/' }] });
    await expect(mapped('data')).rejects.toThrow('"data=/mnt/": it is not LOCAL=REMOTE of two absolute paths');
    expect((await mapped('/data/')).record.map).toEqual([{ local: '/data', remote: '/mnt' }]);
  });

  it('begins anew where a plan was not finished', async () => {
    mkdirSync(path.join(folder, 'work/left'), { recursive: true });
    await plan();
    expect(existsSync(path.join(folder, 'work/left'))).toBe(false);
  });

  it('refuses a folder with other things', async () => {
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'thesis.tex'), '');
    await expect(plan()).rejects.toThrow('it holds "thesis.tex", which is not of a plan');
    folder = path.join(folder, 'thesis.tex');
    await expect(plan()).rejects.toMatchObject({ code: 'output', hint: expect.any(String) as string });
  });

  it('tells of an input that cannot be looked at', async () => {
    const loop = path.join(store, 'loop');
    symlinkSync(loop, loop);
    const planned = planWork(folder, 'build', { input: loop, outputDir: path.join(store, 'built'), numTars: 2 });
    await expect(planned).rejects.toBeInstanceOf(InputError);
  });
});

describe('openPlanFolder()', () => {
  it('refuses what is no plan, damaged, or of another version or machine', async () => {
    await expect(openPlanFolder(folder)).rejects.toThrow('There is no plan in');
    const { record } = await plan();
    const file = path.join(folder, 'plan.json');
    const write = (changes: object): void => writeFileSync(file, JSON.stringify({ ...record, ...changes }));
    write({ cutroom_version: '0.0.1' });
    await expect(openPlanFolder(folder)).rejects.toThrow('was made by cutroom 0.0.1, and this is');
    write({ audio_architecture: 'pdp11' });
    await expect(openPlanFolder(folder)).rejects.toThrow(OutputError);
    write({ tasks: 5 });
    await expect(openPlanFolder(folder)).rejects.toThrow('there are 4, and the plan has 5');
    writeFileSync(file, '{');
    await expect(openPlanFolder(folder)).rejects.toThrow(InputError);
  });
});

describe('runTask()', () => {
  it('leaves a task that another runner has, or waits for it', async () => {
    const made = await plan();
    const states = new TaskStates(folder, 4);
    const lock = await acquireLock(states.lockPath(2), { identity: { host: hostname(), pid } });
    expect(await runTask(made, 2, RUN_OPTIONS)).toEqual({ kind: 'running_elsewhere', host: hostname(), pid });
    const stop = new AbortController();
    const waiting = runTask(made, 2, { ...RUN_OPTIONS, signal: stop.signal, onRunning: 'wait' });
    stop.abort();
    await expect(waiting).rejects.toThrow(CanceledError);
    await lock.release();
  });

  it('notes failures, counts them, and forgets them once the task is done, which is done once', async () => {
    const made = await plan(1);
    const states = new TaskStates(folder, 1);
    const repair = damageList(made);
    for (const tries of [1, 2]) {
      await expect(runTask(made, 0, { ...RUN_OPTIONS, job: '12_0' })).rejects.toThrow(InputError);
      expect(await states.readFailure(0)).toMatchObject({ tries, where: `${hostname()}, job 12_0` });
    }
    expect((await new StatusReader(made).read()).failed[0]?.failure.message).toMatch(/is damaged|no file/u);
    repair();
    expect(await runTask(made, 0, RUN_OPTIONS)).toMatchObject({ kind: 'done', outcome: { units: 8 } });
    expect(await runTask(made, 0, RUN_OPTIONS)).toMatchObject({ kind: 'already_done', outcome: { units: 8 } });
    await expect(runTask(made, 1, RUN_OPTIONS)).rejects.toThrow(UsageError);
    expect(await states.readFailure(0)).toBeUndefined();
    writeFileSync(path.join(folder, 'states/00000.done'), '{');
    await expect(runTask(made, 0, RUN_OPTIONS)).rejects.toThrow('00000.done": it is damaged');
  });

  it('does not count options out of their range as a failure', async () => {
    const made = await plan(1);
    await expect(runTask(made, 0, { ...RUN_OPTIONS, jobs: 0 })).rejects.toThrow('jobs must be a whole number');
    expect((await new StatusReader(made).read()).failed).toEqual([]);
  });

  it('does not count a stop as a failure', async () => {
    const made = await plan(1);
    const stop = AbortSignal.abort();
    await expect(runTask(made, 0, { ...RUN_OPTIONS, signal: stop })).rejects.toThrow();
    expect(await new TaskStates(folder, 1).list()).toEqual({
      done: new Set(),
      failed: new Set(),
      beating: new Set(),
    });
  });
});

describe('TaskStates', () => {
  it('have room for the note of a failure on a full disk', async (context) => {
    const disk = mountSmallDisk(context, 64 * 1024);
    mkdirSync(path.join(disk, 'states'));
    const states = new TaskStates(disk, 2);
    await states.beat(0, beat);
    const filler = openSync(path.join(disk, 'filler'), 'w');
    expect(() => {
      for (;;) writeSync(filler, Buffer.alloc(4096));
    }).toThrow('ENOSPC');
    closeSync(filler);
    await expect(states.beat(1, beat)).rejects.toThrow(/^Cannot write ".*\.beat": no space left on the disk$/u);
    await states.noteFailure(0, { message: 'no', hint: undefined, where: 'node1' });
    expect(await states.list()).toEqual({ done: new Set(), failed: new Set([0]), beating: new Set() });
  });
});

describe('StatusReader', () => {
  it('counts tasks by state, and what is done of all', async () => {
    const reader = new StatusReader(await plan(8));
    const states = new TaskStates(folder, 8);
    expect((await reader.read()).counts).toEqual({ waiting: 8, running: 0, done: 0, failed: 0, stale: 0 });
    await states.noteDone(0, outcome);
    await states.noteFailure(1, { message: 'no', hint: undefined, where: 'node1' });
    await states.beat(2, { ...beat, bytes: 50 });
    await states.beat(3, beat);
    const old = Date.now() / 1000 - 1000;
    utimesSync(path.join(folder, 'states/00003.beat'), old, old);
    // A task that is tried again has not failed for now.
    await states.noteFailure(4, { message: 'no', hint: undefined, where: 'node1' });
    await states.beat(4, beat);
    const status = await reader.read();
    expect(status.counts).toEqual({ waiting: 3, running: 2, done: 1, failed: 1, stale: 1 });
    expect(status.stale[0]?.silentSeconds).toBeGreaterThan(900);
    expect(status).toMatchObject({ hours: null, bytes: { done: 250, total: 800 }, rate: 15 });
    expect(status.secondsLeft).toBeCloseTo(550 / 15);
    expect([...reader.open()]).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(status.failed).toMatchObject([{ task: 1, failure: { message: 'no', tries: 1 } }]);
    await states.noteDone(1, outcome);
    expect((await reader.read()).failed).toEqual([]);
  });

  it('sees at once that the process of a runner on this machine is gone', async () => {
    const reader = new StatusReader(await plan(), { isProcessAlive: (other) => other === pid });
    const states = new TaskStates(folder, 4);
    const host = hostname();
    const gone = { host, pid: 999_999_999 };
    writeFileSync(states.lockPath(0), JSON.stringify({ ...gone, token: '0a', started: '2026-01-01T00:00:00Z' }));
    await states.beat(0, { ...beat, ...gone });
    const lock = await acquireLock(states.lockPath(1), { identity: { host, pid } });
    await states.beat(1, { ...beat, host, pid });
    const { running, stale } = await reader.read();
    await lock.release();
    expect(running.map(({ task }) => task)).toEqual([1]);
    expect(stale).toEqual([{ task: 0, silentSeconds: expect.closeTo(0, -1) as number }]);
  });

  it('passes over a beat that a crash tore', async () => {
    const made = await plan(1);
    writeFileSync(path.join(folder, 'states/00000.beat'), '');
    expect((await new StatusReader(made).read()).counts).toMatchObject({ waiting: 1, running: 0 });
    expect(await runLeft(made, RUN_OPTIONS)).toEqual({ done: 1, failed: 0, elsewhere: 0 });
  });
});

describe('finishPlan()', () => {
  it('refuses while tasks are missing, and to salvage nothing', async () => {
    const made = await plan(3);
    await expect(finish(made, { salvage: true })).rejects.toThrow('there is nothing to salvage');
    await new TaskStates(folder, 3).noteDone(1, outcome);
    await expect(finish(made)).rejects.toThrow('2 of 3 tasks are not done: 0, 2');
  });

  it('says how to make again what a task has made and is damaged by now', async () => {
    const made = await plan(2);
    await runLeft(made, RUN_OPTIONS);
    const outputs = path.join(folder, 'work/tasks/00001');
    truncateSync(path.join(outputs, 'journal'), 10);
    const remedy = {
      hint: `Remove "${outputs}" and "${path.join(folder, 'states/00001.done')}", and run task 1 again.`,
    };
    await expect(finish(made)).rejects.toMatchObject(remedy);
    rmSync(path.join(outputs, 'failures'));
    await expect(finish(made)).rejects.toMatchObject(remedy);
    rmSync(outputs, { recursive: true });
    rmSync(path.join(folder, 'states/00001.done'));
    await runTask(made, 1, RUN_OPTIONS);
    expect((await finish(made)).kind).toBe('finished');
  });

  it('makes no shards of tasks that are not of a cut', async () => {
    await expect(finish(await plan(), { asShards: true })).rejects.toThrow('Only tasks of a cut');
  });

  it('refuses while another process finishes', async () => {
    const made = await plan(1);
    await new TaskStates(folder, 1).noteDone(0, outcome);
    const lock = await acquireLock(path.join(folder, 'finish.lock'), { identity: { host: hostname(), pid } });
    await expect(finish(made)).rejects.toThrow(/finish\.lock": process/u);
    await lock.release();
  });
});

describe('runLeft()', () => {
  it('runs what is left, passes over what others have, and goes on after a failure', async () => {
    const made = await plan(3);
    const states = new TaskStates(folder, 3);
    await states.noteDone(0, outcome);
    const repair = damageList(made);
    const lock = await acquireLock(states.lockPath(1), { identity: { host: hostname(), pid } });
    await expect(runLeft(made, { ...RUN_OPTIONS, signal: AbortSignal.abort() })).rejects.toThrow();
    const ends: TaskEnd[] = [];
    const first = await runLeft(made, { ...RUN_OPTIONS, onTaskEnd: (end) => ends.push(end) });
    expect(first).toEqual({ done: 0, failed: 1, elsewhere: 1 });
    expect(ends.map(({ task, elsewhere }) => [task, elsewhere?.pid])).toEqual([
      [1, pid],
      [2, undefined],
    ]);
    expect(ends[1]?.error).toBeInstanceOf(InputError);
    repair();
    await lock.release();
    await states.noteDone(1, outcome);
    expect(await runLeft(made, RUN_OPTIONS)).toEqual({ done: 1, failed: 0, elsewhere: 0 });
  });
});
