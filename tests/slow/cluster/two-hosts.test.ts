// Two hosts on one machine: each has a name, processes and mounts of its own, and the store of both is one folder.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { execPath } from 'node:process';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { makeFolder, makeSegments, wavOfNoise, writeCorpus } from '../../support/cut-runs.js';
import { planWork, treeOf } from '../../support/plan-runs.js';

const RECORDINGS = 24;
const PATIENCE = { heartbeatMs: 100, staleMs: 2_000 };
const NAMESPACES = ['--uts', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** The store is mounted where workers have it, and its other name leads nowhere. */
const ENTER = `
set -e
hostname "$1"
mount --bind "$2" "$3"
mount -t tmpfs none "$2"
shift 3
exec "$@"
`;
const WHY_NOT = whyNoHosts();

/** As the machine that plans names it, and as both hosts do. */
let store: string;
let mount: string;
let request: CutOptions;
let expected: Record<string, string>;

beforeEach(async (context) => {
  context.skip(WHY_NOT !== undefined, WHY_NOT);
  const parent = await makeFolder(context);
  store = path.join(parent, 'store');
  mount = path.join(parent, 'mount');
  mkdirSync(mount);
  const recordings = Array.from({ length: RECORDINGS }, (_, k) => ({
    id: `r${String(k).padStart(2, '0')}`,
    file: `${k}.wav`,
    segments: makeSegments(2, 1, 0.7),
    write: wavOfNoise(2, k + 1),
  }));
  request = (await writeCorpus(store, recordings)).options;
  await cut(request);
  expected = treeOf(request.outputDir);
  rmSync(request.outputDir, { recursive: true });
  await planWork(path.join(store, 'plan'), 'cut', request, { map: [{ local: store, remote: mount }] });
});

describe('a task that another host has', () => {
  it('is left alone or waited for while that host lives', async (context) => {
    const first = new Host(context, 'host-a', { tasks: [0], pauseMs: 700 });
    expect(await first.next()).toMatchObject({ host: 'host-a', units: 1 });
    const leaving = new Host(context, 'host-b', { tasks: [0] });
    const waiting = new Host(context, 'host-c', { tasks: [0], onRunning: 'wait' });
    expect(await leaving.last()).toMatchObject({ host: 'host-b', kind: 'running_elsewhere', holder: 'host-a' });
    expect(await first.last()).toMatchObject({ kind: 'done' });
    // It would have been cut a second time, had the lock been taken over.
    expect(await waiting.rest()).toEqual([{ host: 'host-c', task: 0, kind: 'already_done' }]);
  });

  it('is taken over when that host dies, and ends in the bytes of one run', async (context) => {
    const first = new Host(context, 'host-a', { tasks: [0], pauseMs: 300 });
    expect(await first.next()).toMatchObject({ units: 1 });
    expect(await first.next()).toMatchObject({ units: 2 });
    await first.kill();
    const lock = path.join(store, 'plan', 'states', '00000.lock');
    expect(existsSync(lock)).toBe(true);
    const startMs = performance.now();
    const second = new Host(context, 'host-b', { tasks: [0, 1], isToFinish: true });
    expect(await second.next()).toMatchObject({ host: 'host-b', task: 0 });
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(PATIENCE.staleMs);
    const ends = (await second.rest()).filter(({ kind }) => kind !== undefined);
    expect(ends.map(({ kind }) => kind)).toEqual(['done', 'done', 'finished']);
    expect(existsSync(lock)).toBe(false);
    expect(treeOf(request.outputDir)).toEqual(expected);
  });
});

interface Work {
  tasks: number[];
  pauseMs?: number;
  onRunning?: 'wait';
  isToFinish?: boolean;
}

interface Step {
  host: string;
  task?: number;
  units?: number;
  kind?: string;
  /** Who has the task. */
  holder?: string;
}

/** A host that works on the plan, and goes when the test ends. */
class Host {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #lines: NodeJS.AsyncIterator<string>;

  constructor(context: Pick<TestContext, 'onTestFinished'>, name: string, work: Work) {
    const driver = fileURLToPath(new URL('../../support/host-driver.js', import.meta.url));
    const job = JSON.stringify({ folder: path.join(mount, 'plan'), patience: PATIENCE, ...work });
    const command = ['sh', '-c', ENTER, 'sh', name, store, mount, execPath, driver, job];
    this.#child = spawn('unshare', [...NAMESPACES, ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#closed = once(this.#child, 'close');
    this.#lines = linesOf(this.#child)[Symbol.asyncIterator]();
    context.onTestFinished(() => this.kill());
  }

  /** The next thing that it says. */
  async next(): Promise<Step | undefined> {
    const { done, value } = await this.#lines.next();
    return done === true ? undefined : (JSON.parse(value) as Step);
  }

  /** All that it says until it has ended. */
  async rest(): Promise<Step[]> {
    const steps: Step[] = [];
    for (let step = await this.next(); step !== undefined; step = await this.next()) steps.push(step);
    await this.#closed;
    return steps;
  }

  async last(): Promise<Step | undefined> {
    return (await this.rest()).at(-1);
  }

  /** Ends all of its processes at once. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}

function linesOf({ stdout }: ChildProcess): Interface {
  if (stdout === null) throw new Error('The host has no output');
  return createInterface({ input: stdout });
}

/** Why this machine cannot play two; undefined where it can. */
function whyNoHosts(): string | undefined {
  const script = 'hostname cutroom-host && mount -t tmpfs none /mnt && uname -n';
  const { error, status, stdout, stderr } = spawnSync('unshare', [...NAMESPACES, 'sh', '-c', script], {
    encoding: 'utf8',
  });
  if (error !== undefined) return `needs unshare(1): ${error.message}`;
  if (status !== 0) return `needs to be allowed namespaces: ${stderr.trim()}`;
  return stdout.trim() === 'cutroom-host' && hostname() !== 'cutroom-host' ? undefined : 'needs hostname(1)';
}
