import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, link, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { launch, type LaunchProgress, type LaunchResult } from '#cutroom/cluster/launch.js';
import { readEngineRecord, writeEngineRecord } from '#cutroom/cluster/engine-record.js';
import type { EngineRecord } from '#cutroom/cluster/engine.js';
import type { PlanFolder } from '#cutroom/cluster/plan-folder.js';
import { createEngine } from '#cutroom/cluster/ray-engine.js';
import type { RayJobs } from '#cutroom/cluster/ray-jobs.js';
import { TaskStates } from '#cutroom/cluster/task-states.js';
import {
  expectOutputs,
  makeFolder,
  makeMixedCorpus,
  makeSegments,
  runUndisturbed,
  wavOfNoise,
  writeCorpus,
  type Corpus,
  type Outputs,
} from '../support/cut-runs.js';
import { finish, NEVER, planWork } from '../support/plan-runs.js';
import { RayCluster } from '../support/ray-cluster.js';
import { mountSmallDisk } from '../support/small-disk.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WORKER = [process.execPath, path.join(ROOT, 'dist/cli/main.js')];
const TASKS = [0, 1, 2];

let cluster: RayCluster | undefined;
beforeAll(async () => {
  cluster = await RayCluster.start();
});
afterAll(async () => await cluster?.stop());

function requireRay(context: TestContext): RayCluster {
  if (cluster !== undefined) return cluster;
  return context.skip('there is no Ray: scripts/make-ray-venv.sh, or CUTROOM_RAY_ADDRESS and RAY_AUTH_TOKEN');
}

function recordOf(plan: PlanFolder, changes: Partial<EngineRecord> = {}): EngineRecord {
  return {
    engine: 'ray',
    options: { cpusPerTask: 1 },
    retries: 2,
    maxRunning: 2,
    workerCommand: WORKER,
    remoteFolder: plan.folder,
    facts: {},
    ...changes,
  };
}

interface Launched {
  result: LaunchResult;
  notes: string[];
}

async function launchHere(
  { environment }: RayCluster,
  plan: PlanFolder,
  changes: Partial<EngineRecord> = {},
  onProgress?: (progress: LaunchProgress) => void,
): Promise<Launched> {
  const notes: string[] = [];
  const onNote = (note: string): void => void notes.push(note);
  const result = await launch(plan, {
    engine: createEngine(environment, { onNote }),
    record: recordOf(plan, changes),
    host: hostname(),
    pid: process.pid,
    signal: NEVER,
    pollMs: 300,
    onNote,
    onProgress,
  });
  return { result, notes };
}

/** Recordings of a minute, of which a task has some: it takes seconds. */
async function makeLongCorpus(folder: string): Promise<Corpus> {
  const segments = makeSegments(30, 2, 1.9);
  const recordings = Array.from({ length: 18 }, (_, n) => ({
    id: `r${n}`,
    file: `${n}.wav`,
    segments,
    write: n < 3 ? wavOfNoise(60, n + 1) : (file: string) => link(path.join(path.dirname(file), `${n % 3}.wav`), file),
  }));
  return await writeCorpus(folder, recordings);
}

/** The corpus that most tests divide, and what one run makes of it. */
let long: { corpus: Corpus; expected: Outputs } | undefined;
async function takeLongCorpus(): Promise<{ corpus: Corpus; expected: Outputs }> {
  if (long !== undefined) return long;
  const corpus = await makeLongCorpus(await mkdtemp(path.join(tmpdir(), 'cutroom-long-')));
  long = { corpus, expected: await runUndisturbed(corpus) };
  return long;
}
afterAll(async () => {
  if (long !== undefined) await rm(long.corpus.folder, { recursive: true });
});

/** Plans the long corpus in three tasks. */
async function planLong(context: TestContext): Promise<{ plan: PlanFolder; corpus: Corpus; expected: Outputs }> {
  const { corpus, expected } = await takeLongCorpus();
  const folder = path.join(await makeFolder(context), 'plan');
  const plan = await planWork(folder, 'cut', corpus.options, { division: { count: TASKS.length } });
  return { plan, corpus, expected };
}

async function expectFinals(plan: PlanFolder, { options }: Corpus, expected: Outputs): Promise<void> {
  expect(await finish(plan)).toMatchObject({ kind: 'finished' });
  await expectOutputs(options.outputDir, expected);
  await rm(options.outputDir, { recursive: true });
}

/** The jobs of a plan, as the cluster knows them. */
async function listJobs(ray: RayCluster, { folder }: PlanFolder): Promise<RayJobs> {
  const record = await readEngineRecord(folder);
  return await (await ray.client()).list(String(record?.facts['jobPrefix']));
}

/** Of each task the attempts that were made after the first. */
async function listAttempts(ray: RayCluster, plan: PlanFolder): Promise<Record<number, number>> {
  const { last } = await listJobs(ray, plan);
  return Object.fromEntries([...last].map(([task, { attempt }]) => [task, attempt]));
}

async function until(condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  for (const startMs = performance.now(); !(await condition()); await sleep(50)) {
    if (performance.now() - startMs > withinMs) throw new Error('it does not come to pass');
  }
}

function startLauncher({ environment }: RayCluster, plan: PlanFolder): { child: ChildProcess; said: () => string } {
  const program = path.join(ROOT, 'tests/support/engine-launcher.js');
  const asked = { engine: 'ray', folder: plan.folder, record: recordOf(plan), pollMs: 300 };
  const child = spawn(process.execPath, [program, JSON.stringify(asked)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  return { child, said: () => said };
}

describe('tasks on Ray', () => {
  it('make the bytes of one run: the demo, and recordings that fail in every way', async (context) => {
    const ray = requireRay(context);
    const demo: Corpus = {
      folder: await makeFolder(context),
      options: {
        inputManifest: path.join(ROOT, 'samples/conversation.jsonl'),
        audioDir: path.join(ROOT, 'samples'),
        outputDir: '',
        maxDurationSeconds: 30,
      },
    };
    demo.options.outputDir = path.join(demo.folder, 'out');
    const mixed = await makeMixedCorpus(await makeFolder(context), 6);
    await Promise.all(
      [demo, mixed].map(async (corpus) => {
        const expected = await runUndisturbed(corpus);
        const plan = await planWork(path.join(corpus.folder, 'plan'), 'cut', corpus.options, {
          division: { count: 3 },
        });
        const { result } = await launchHere(ray, plan);
        expect(result).toMatchObject({ isDone: true, failed: [] });
        await expectFinals(plan, corpus, expected);
      }),
    );
  });

  it('go on after SIGKILL and after a stop by hand', async (context) => {
    const ray = requireRay(context);
    const { plan, corpus, expected } = await planLong(context);
    const states = new TaskStates(plan.folder, 3);
    const client = await ray.client();
    const ended = launchHere(ray, plan);
    const killed = await firstBeat(states, TASKS, new Set());
    process.kill(killed.pid, 'SIGKILL');
    const stopped = await firstBeat(states, TASKS, new Set([killed.task]));
    await client.stop(stopped.job ?? '');
    const { result } = await ended;
    expect(result.status.failed).toEqual([]);
    expect(result.isDone).toBe(true);
    const attempts = await listAttempts(ray, plan);
    expect(attempts).toMatchObject({ [killed.task]: 1, [stopped.task]: 1 });
    // A stop is sent to the worker, which keeps what it has and says so.
    expect(await client.log(stopped.job ?? '')).toContain('stopped');
    await expectFinals(plan, corpus, expected);
  });

  it('are one job a task of two launchers, of which one is killed', async (context) => {
    const ray = requireRay(context);
    const { plan, corpus, expected } = await planLong(context);
    const first = startLauncher(ray, plan);
    await until(() => first.said().includes('"state":"running"'));
    const second = startLauncher(ray, plan);
    await until(() => second.said().includes('looking on'));
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    const third = startLauncher(ray, plan);
    await Promise.all([once(second.child, 'close'), once(third.child, 'close')]);
    for (const { said } of [second, third]) expect(said()).toContain('"isDone":true');
    expect(await listAttempts(ray, plan)).toEqual({ 0: 0, 1: 0, 2: 0 });
    await expectFinals(plan, corpus, expected);
  });

  it('that cannot be done say why, and are given up', async (context) => {
    const ray = requireRay(context);
    const { corpus } = await takeLongCorpus();
    const other = await makeOtherVersion(await makeFolder(context));
    const commands: [retries: number, words: string[]][] = [
      [0, ['/nowhere/node', 'main.js']],
      [1, ['sh', '-c', 'echo "it is broken" >&2; exit 3', 'sh']],
      [0, [process.execPath, other]],
    ];
    const messages = await Promise.all(
      commands.map(async ([retries, workerCommand]) => {
        const folder = path.join(await makeFolder(context), 'plan');
        const plan = await planWork(folder, 'cut', corpus.options, { division: { count: 1 } });
        const { result } = await launchHere(ray, plan, { workerCommand, retries });
        expect(result).toMatchObject({ isDone: false, failed: [0] });
        expect(await listAttempts(ray, plan)).toEqual({ 0: retries });
        const log = await readFile(path.join(folder, 'logs', '00000.log'), 'utf8');
        return { message: result.status.failed[0]?.failure.message, log };
      }),
    );
    expect(messages[0]?.message).toMatch(/exit code 127\): .*\/nowhere\/node: not found/u);
    expect(messages[1]?.message).toMatch(/exit code 3\): it is broken/u);
    expect(messages[2]?.log).toMatch(/was made by cutroom .*, and this is 9\.9\.9/u);
  });

  it('go on when a full disk has room again', async (context) => {
    const ray = requireRay(context);
    const { corpus, expected } = await takeLongCorpus();
    const disk = mountSmallDisk(context, 60_000_000);
    const plan = await planWork(path.join(disk, 'plan'), 'cut', corpus.options, { division: { count: 2 } });
    const filler = path.join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(58_000_000, 1));
    let end: Launched | Error;
    try {
      end = await launchHere(ray, plan, { retries: 0 });
    } catch (error) {
      end = error as Error;
    }
    const said =
      end instanceof Error ? end.message : end.result.status.failed.map(({ failure }) => failure.message).join();
    expect(said).toMatch(/no space|ENOSPC|full/iu);
    await rm(filler);
    await until(async () => (await listJobs(ray, plan)).alive.size === 0);
    const { result } = await launchHere(ray, plan);
    expect(result.status.failed.map(({ failure }) => failure.message)).toEqual([]);
    expect(result.isDone).toBe(true);
    await expectFinals(plan, corpus, expected);
  });

  it('are stopped by cancel()', async (context) => {
    const ray = requireRay(context);
    const { plan } = await planLong(context);
    const engine = createEngine(ray.environment);
    const record = await engine.submit(plan, recordOf(plan, { maxRunning: null }), TASKS, 0);
    await until(async () =>
      [...(await engine.look(plan, record, TASKS)).values()].some(({ state }) => state === 'running'),
    );
    expect(await engine.cancel(plan, record)).toBe(3);
    await writeEngineRecord(plan.folder, record);
    await until(async () => (await listJobs(ray, plan)).alive.size === 0);
    expect(await engine.look(plan, record, TASKS)).toEqual(new Map());
  });

  it('go on when the head is restarted and has forgotten them', async (context) => {
    const ray = requireRay(context);
    if (!ray.isOwn) context.skip('the Ray of CUTROOM_RAY_ADDRESS is not restarted');
    const { plan, corpus, expected } = await planLong(context);
    const states = new TaskStates(plan.folder, 3);
    const ended = launchHere(ray, plan);
    await firstBeat(states, TASKS, new Set());
    await ray.restart();
    const { result, notes } = await ended;
    expect(result.isDone).toBe(true);
    expect(notes).toEqual([expect.stringContaining('the watch goes on'), expect.stringContaining('Ray answers again')]);
    await expectFinals(plan, corpus, expected);
  });
});

async function firstBeat(
  states: TaskStates,
  tasks: readonly number[],
  passed: ReadonlySet<number>,
): Promise<{ task: number; pid: number; job: string | undefined }> {
  let found: { task: number; pid: number; job: string | undefined } | undefined;
  await until(async () => {
    for (const task of tasks) {
      const beat = passed.has(task) ? undefined : await states.readBeat(task);
      if (beat !== undefined) found = { task, pid: beat.pid, job: beat.job };
    }
    return found !== undefined;
  });
  return found!;
}

/** The command line as another version of cutroom. */
async function makeOtherVersion(folder: string): Promise<string> {
  await cp(path.join(ROOT, 'dist'), path.join(folder, 'dist'), { recursive: true });
  await cp(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const file = path.join(folder, 'dist', 'version.js');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/VERSION = .*;/u, "VERSION = '9.9.9';"));
  return path.join(folder, 'dist', 'cli', 'main.js');
}
