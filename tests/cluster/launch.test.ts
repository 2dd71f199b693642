import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pid } from 'node:process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeCancelMark } from '#cutroom/cluster/cancel-mark.js';
import { readEngineRecord, writeEngineRecord } from '#cutroom/cluster/engine-record.js';
import type { Engine, EngineJob, EngineRecord } from '#cutroom/cluster/engine.js';
import { launch, type LaunchOptions } from '#cutroom/cluster/launch.js';
import { openPlanFolder, writePlanFolder, type PlanFolder } from '#cutroom/cluster/plan-folder.js';
import { TaskStates } from '#cutroom/cluster/task-states.js';
import { CanceledError, OutputError } from '#cutroom/errors.js';

/** How a job of the fake engine ends; `queued` and `running` ones do not. */
type End = 'done' | 'failed' | 'killed' | 'queued' | 'running' | 'forgotten';

const outcome = { units: 1, audioSeconds: 3600, bytes: 10, failures: {} };

/** Runs nothing: the states of a task are what its script says, a word for each time that it is submitted. */
class FakeEngine implements Engine {
  readonly jobs = new Map<number, EngineJob>();
  readonly submitted: number[] = [];
  readonly attempts: number[] = [];
  canceled = 0;
  onSubmit: (() => void | Promise<void>) | undefined;
  readonly #script: (task: number, time: number) => End;

  constructor(script: (task: number, time: number) => End) {
    this.#script = script;
  }

  async submit(
    plan: PlanFolder,
    record: EngineRecord,
    tasks: readonly number[],
    attempt: number,
  ): Promise<EngineRecord> {
    const states = new TaskStates(plan.folder, plan.record.tasks);
    this.attempts.push(attempt);
    for (const task of tasks) {
      const end = this.#script(task, this.submitted.filter((other) => other === task).length);
      this.submitted.push(task);
      const id = `job-${this.submitted.length}`;
      if (end === 'done') await states.noteDone(task, outcome);
      if (end === 'failed') await states.noteFailure(task, { message: 'no', hint: undefined, where: id });
      const state = ({ done: 'ended', killed: 'failed', forgotten: 'gone' } as const)[end as 'done'] ?? end;
      this.jobs.set(task, { id, state, reason: end === 'killed' ? 'OUT_OF_MEMORY' : undefined });
    }
    await this.onSubmit?.();
    return { ...record, facts: { submitted: this.submitted.length } };
  }

  async look(_plan: PlanFolder, _record: EngineRecord, tasks: readonly number[]): Promise<Map<number, EngineJob>> {
    return await Promise.resolve(new Map([...this.jobs].filter(([task]) => tasks.includes(task))));
  }

  async cancel(): Promise<number> {
    this.canceled += 1;
    return await Promise.resolve(this.jobs.size);
  }

  async log(): Promise<string> {
    return await Promise.resolve('starting\nslurmstepd: Killed\nhint: Do so.\n');
  }

  /** Lets a job that runs end well. */
  async endWell(plan: PlanFolder, task: number): Promise<void> {
    await new TaskStates(plan.folder, plan.record.tasks).noteDone(task, outcome);
    this.jobs.set(task, { id: 'job', state: 'ended', reason: undefined });
  }
}

let store: string;
let plan: PlanFolder;
let states: TaskStates;
let numbers = 0;
beforeAll(() => {
  store = mkdtempSync(path.join(tmpdir(), 'cutroom-launch-'));
});
beforeEach(async () => {
  numbers += 1;
  const folder = path.join(store, String(numbers));
  const extents = [0, 1, 2].map((task) => ({ task, first: task, end: task + 1, micros: 3600e6, bytes: undefined }));
  const units = { count: 3, name: 'recordings' };
  await writePlanFolder(
    folder,
    'cut',
    {},
    { extents, hash: 'abc', options: {}, units, failedRows: 0 },
    { division: { count: 3 }, map: [], inputs: [] },
  );
  plan = await openPlanFolder(folder);
  states = new TaskStates(folder, 3);
});
afterAll(() => rmSync(store, { recursive: true }));

const recordOf = (changes: Partial<EngineRecord> = {}): EngineRecord => ({
  engine: 'slurm',
  options: {},
  retries: 2,
  maxRunning: null,
  workerCommand: ['cutroom'],
  remoteFolder: plan.folder,
  facts: {},
  ...changes,
});

function optionsOf(engine: Engine, changes: Partial<LaunchOptions> = {}): LaunchOptions {
  const { signal } = new AbortController();
  return { engine, record: recordOf(), host: 'here', pid, signal, pollMs: 2, ...changes };
}

/** Waits until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('launch()', () => {
  it('submits each task once and watches until all are done', async () => {
    const engine = new FakeEngine((task) => (task === 1 ? 'running' : 'done'));
    const seen: string[] = [];
    let ending: Promise<void> | undefined;
    const result = await launch(
      plan,
      optionsOf(engine, {
        onProgress: ({ status, jobs, isAttached }) => {
          seen.push(`${status.counts.done} ${jobs.get(1)?.state ?? 'none'} ${isAttached}`);
          if (status.counts.done === 2) ending ??= engine.endWell(plan, 1);
        },
      }),
    );
    expect(result).toMatchObject({ isDone: true, failed: [], status: { counts: { done: 3, waiting: 0 } } });
    await ending;
    expect(engine.submitted).toEqual([0, 1, 2]);
    expect(seen[0]).toBe('0 none false');
    expect(seen).toContain('2 running false');
    expect(await readEngineRecord(plan.folder)).toEqual(recordOf({ facts: { submitted: 3 } }));
    expect(existsSync(path.join(plan.folder, 'states/launch.lock'))).toBe(false);
  });

  it('lays down what it submits before it does, so that it can be canceled at any time', async () => {
    const engine = new FakeEngine(() => 'done');
    let before: unknown;
    engine.onSubmit = async () => void (before = await readEngineRecord(plan.folder));
    await launch(plan, optionsOf(engine));
    expect(before).toEqual(recordOf());
  });

  it('tries tasks that fail as often as it may, and says which failed for good', async () => {
    const engine = new FakeEngine((task, time) =>
      task === 0 ? 'failed' : task === 1 && time === 0 ? 'failed' : 'done',
    );
    const result = await launch(plan, optionsOf(engine));
    expect(result).toMatchObject({ isDone: false, failed: [0], status: { counts: { done: 2, failed: 1 } } });
    expect(engine.submitted.filter((task) => task === 0)).toHaveLength(3);
    expect(engine.submitted.filter((task) => task === 1)).toHaveLength(2);
    expect(engine.attempts).toEqual([0, 1, 2]);
  });

  it('writes no address down that holds a password', async () => {
    const record = recordOf({ engine: 'ray', options: { rayAddress: 'http://me:secret@head:8265' } });
    const launched = launch(plan, { ...optionsOf(new FakeEngine(() => 'done')), record });
    await expect(launched).rejects.toThrow('it holds a user name or a password');
    expect(await readEngineRecord(plan.folder)).toBeUndefined();
  });

  it('counts a job that ended without a word as a failure, with what is known of it', async () => {
    const engine = new FakeEngine((task, time) => (task === 2 && time < 2 ? 'killed' : 'done'));
    const told: string[] = [];
    const { isDone } = await launch(
      plan,
      optionsOf(engine, {
        onProgress: ({ status }) => told.push(...status.failed.map(({ failure }) => failure.message)),
      }),
    );
    expect(isDone).toBe(true);
    expect(told).toContain('Its job ended without finishing the task: failed (OUT_OF_MEMORY): slurmstepd: Killed');
    expect(engine.submitted.filter((task) => task === 2)).toHaveLength(3);
  });

  it('ends with a task that fails aloud once and is killed ever after', async () => {
    const engine = new FakeEngine((task, time) => (task === 0 ? (time === 0 ? 'failed' : 'killed') : 'done'));
    const result = await launch(plan, optionsOf(engine));
    expect(result.failed).toEqual([0]);
    expect(await states.readFailure(0)).toMatchObject({ tries: 3 });
    expect(engine.submitted.filter((task) => task === 0)).toHaveLength(3);
  });

  it('tries tasks that had failed for good once more when it is given again', async () => {
    for (let tries = 0; tries < 5; tries += 1) {
      await states.noteFailure(1, { message: 'no room', hint: undefined, where: 'node1' });
    }
    const engine = new FakeEngine(() => 'done');
    expect(await launch(plan, optionsOf(engine))).toMatchObject({ isDone: true });
    expect(engine.submitted).toEqual([0, 1, 2]);
  });

  it('leaves a task that something else runs, and submits it when that is gone', async () => {
    const beat = { units: 0, audioSeconds: 0, bytes: 0, host: 'there', pid: 1, job: undefined, seconds: 1 };
    await states.beat(0, beat);
    const engine = new FakeEngine(() => 'done');
    const running = launch(plan, optionsOf(engine));
    await until(() => engine.submitted.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(engine.submitted).toEqual([1, 2]);
    await states.clearBeat(0);
    expect(await running).toMatchObject({ isDone: true });
    expect(engine.submitted).toEqual([1, 2, 0]);
  });

  it('does not wait for the last beat of a job that was killed to grow old', async () => {
    const engine = new FakeEngine((task, time) => (task === 0 && time === 0 ? 'killed' : 'done'));
    const beat = { units: 0, audioSeconds: 0, bytes: 0, host: 'there', pid: 1, job: 'job-1', seconds: 1 };
    engine.onSubmit = async () => {
      engine.onSubmit = undefined;
      await states.beat(0, beat);
    };
    expect(await launch(plan, optionsOf(engine))).toMatchObject({ isDone: true });
  });

  it('leaves the jobs running when it is stopped, and goes on with them', async () => {
    const engine = new FakeEngine(() => 'queued');
    const stop = new AbortController();
    const stopped = launch(plan, optionsOf(engine, { signal: stop.signal }));
    await until(() => engine.submitted.length === 3);
    stop.abort(new Error('SIGINT'));
    await expect(stopped).rejects.toThrow(CanceledError);
    expect(engine.canceled).toBe(0);
    const again = launch(plan, optionsOf(engine));
    for (const task of [0, 1, 2]) await engine.endWell(plan, task);
    expect(await again).toMatchObject({ isDone: true });
    expect(engine.submitted).toEqual([0, 1, 2]);
  });

  it('looks on while another launcher submits, and takes over when that is gone', async () => {
    const engine = new FakeEngine((_task, time) => (time === 0 ? 'queued' : 'done'));
    const stop = new AbortController();
    const first = launch(plan, optionsOf(engine, { signal: stop.signal }));
    await until(() => engine.submitted.length === 3);
    const notes: string[] = [];
    const attached: boolean[] = [];
    const second = launch(
      plan,
      optionsOf(engine, {
        onNote: (message) => notes.push(message),
        onProgress: ({ isAttached }) => attached.push(isAttached),
      }),
    );
    await until(() => attached.length > 2);
    expect(attached).not.toContain(false);
    expect(engine.submitted).toHaveLength(3);
    stop.abort();
    await expect(first).rejects.toThrow('Stopped watching; the jobs go on');
    engine.jobs.clear();
    expect(await second).toMatchObject({ isDone: true });
    expect(engine.submitted).toHaveLength(6);
    expect(notes).toEqual([
      `process ${pid} on here has submitted this plan: looking on`,
      'the launcher that had submitted this plan is gone: taking over',
    ]);
  });

  it('ends when the jobs are canceled, sees to jobs that it submitted meanwhile, and may be given again', async () => {
    const engine = new FakeEngine((_task, time) => (time === 0 ? 'queued' : 'done'));
    const watching = launch(plan, optionsOf(engine));
    await until(() => engine.submitted.length === 3);
    // It may end before the mark is known to be laid down.
    const ended = expect(watching).rejects.toThrow('The jobs of the plan were canceled');
    await writeCancelMark(plan.folder);
    await ended;
    expect(engine.canceled).toBe(1);
    engine.jobs.clear();
    expect(await launch(plan, optionsOf(engine))).toMatchObject({ isDone: true });
  });

  it('refuses a plan that another engine has, until its jobs are canceled', async () => {
    await writeEngineRecord(plan.folder, recordOf({ engine: 'ray', facts: { address: 'x' } }));
    const engine = new FakeEngine(() => 'done');
    await expect(launch(plan, optionsOf(engine))).rejects.toThrow(OutputError);
    await expect(launch(plan, optionsOf(engine))).rejects.toThrow('was submitted to ray, not to slurm');
    expect(engine.submitted).toEqual([]);
    await writeCancelMark(plan.folder);
    expect(await launch(plan, optionsOf(engine))).toMatchObject({ isDone: true });
  });

  it('submits with what it is told now, and keeps what the engine knows', async () => {
    await writeEngineRecord(plan.folder, recordOf({ options: { partition: 'slow' }, facts: { kept: true } }));
    const engine = new FakeEngine(() => 'done');
    let record: EngineRecord | undefined;
    engine.onSubmit = async () => void (record = await readEngineRecord(plan.folder));
    await launch(plan, optionsOf(engine, { record: recordOf({ options: { partition: 'fast' } }) }));
    expect(record).toMatchObject({ options: { partition: 'fast' }, facts: { kept: true } });
  });

  it('tells when the engine cannot be reached', async () => {
    const engine = new FakeEngine(() => 'done');
    engine.look = () => Promise.reject(new OutputError('Cannot reach Slurm'));
    await expect(launch(plan, optionsOf(engine))).rejects.toThrow('Cannot reach Slurm');
    expect(existsSync(path.join(plan.folder, 'states/launch.lock'))).toBe(false);
  });
});
