import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { CutroomError } from '#cutroom/errors.js';
import { ProcessPool } from '#cutroom/run/process-pool.js';
import type { JobOutcome, ProcessPoolOptions } from '#cutroom/run/process-pool.js';
import { HAS_PROC, isAlive, isSoon, listChildren } from '../../support/cut-runs.js';

const PROGRAM = new URL('../../support/pool-worker.js', import.meta.url);
const PARENT = fileURLToPath(new URL('../../support/pool-parent.js', import.meta.url));

const pools: ProcessPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function makePool(options: Partial<ProcessPoolOptions> = {}): ProcessPool {
  const pool = new ProcessPool({ program: PROGRAM, size: 2, silenceMs: 20_000, ...options });
  pools.push(pool);
  return pool;
}

interface Answer {
  answer: unknown;
  pid: number;
}

function valueOf<R>(outcome: JobOutcome<R>): R {
  if (outcome.kind !== 'done') throw new Error(`The process ${outcome.kind}`);
  return outcome.value;
}

async function pidOf(pool: ProcessPool): Promise<number> {
  return valueOf(await pool.run<Answer>({ do: 'answer' })).pid;
}

describe('ProcessPool.run()', () => {
  test('has jobs done, and gives plain data back', async () => {
    const pool = makePool();
    const data = { list: [1, 'two', null], big: 2n ** 70n, bytes: new Uint8Array([1, 2]), map: new Map([[1, NaN]]) };
    const { answer, pid } = valueOf(await pool.run<Answer>({ do: 'answer', with: data }));
    expect(answer).toEqual(data);
    expect(pid).not.toBe(process.pid);
    expect(await pidOf(pool)).toBe(pid);
  });

  test('hands the reports of a job over in order', async () => {
    const reports: unknown[] = [];
    const outcome = await makePool().run(
      { do: 'report', times: 50 },
      { onReport: (report) => void reports.push(report) },
    );
    expect(outcome).toEqual({ kind: 'done', value: 'reported' });
    expect(reports).toEqual(Array.from({ length: 50 }, (_, k) => ({ step: k + 1 })));
  });

  test.skipIf(!HAS_PROC)('has at most `size` processes, each with one job at a time (needs /proc)', async () => {
    const pool = makePool({ size: 2 });
    let running = 0;
    let most = 0;
    const jobs = Array.from({ length: 6 }, async () => {
      const outcome = pool.run<Answer>(
        // Longer than a process takes to start on a busy machine.
        { do: 'report', times: 1, everyMs: 600 },
        {
          onReport: () => {
            running += 1;
            most = Math.max(most, running);
          },
        },
      );
      await outcome;
      running -= 1;
    });
    await Promise.all(jobs);
    expect(most).toBe(2);
    expect(listChildren(process.pid)).toHaveLength(2);
  });

  test('rejects with what a job threw, and has the next one done by the same process', async () => {
    const pool = makePool({ size: 1 });
    const pid = await pidOf(pool);
    await expect(pool.run({ do: 'throw', message: 'no such thing' })).rejects.toThrow('no such thing');
    expect(await pidOf(pool)).toBe(pid);
  });

  test.each([
    ['exits', { do: 'exit', code: 3, saying: '' }, 'exit code 3'],
    [
      'exits and says why',
      { do: 'exit', code: 1, saying: 'first\nFatal: out of luck\n' },
      'exit code 1: Fatal: out of luck',
    ],
    ['exits well before its answer', { do: 'exit', code: 0 }, 'exit code 0'],
    ['is killed', { do: 'signal', signal: 'SIGKILL' }, 'SIGKILL'],
    [
      'crashes',
      { do: 'signal', signal: 'SIGSEGV', saying: 'free(): invalid pointer\n' },
      'SIGSEGV: free(): invalid pointer',
    ],
    ['aborts', { do: 'signal', signal: 'SIGABRT' }, 'SIGABRT'],
  ])('answers how a process that %s died, and starts another for the next job', async (_, job, how) => {
    const pool = makePool({ size: 1 });
    const pid = await pidOf(pool);
    expect(await pool.run(job)).toEqual({ kind: 'died', how });
    expect(await pidOf(pool)).not.toBe(pid);
  });

  test('kills a process that says nothing for too long, however long others talk', async () => {
    const pool = makePool({ silenceMs: 500 });
    const startMs = performance.now();
    const [silent, blocked] = await Promise.all([
      pool.run({ do: 'sleep', ms: 60_000 }),
      pool.run({ do: 'block', ms: 60_000 }),
    ]);
    const seconds = (performance.now() - startMs) / 1000;
    expect(silent).toEqual({ kind: 'hung', seconds: 0.5 });
    expect(blocked).toEqual({ kind: 'hung', seconds: 0.5 });
    expect(seconds).toBeGreaterThan(0.45);
    expect(seconds).toBeLessThan(5);
    expect(await pool.run({ do: 'report', times: 10, everyMs: 100 })).toEqual({ kind: 'done', value: 'reported' });
  });

  test('does not take its own standstill for the silence of a process', async () => {
    const pool = makePool({ silenceMs: 600, size: 1 });
    await pidOf(pool);
    const job = pool.run({ do: 'report', times: 14, everyMs: 80 });
    // As after a Ctrl-Z and a `fg`: much time has passed, and the reports come in only now.
    for (const endMs = performance.now() + 900; performance.now() < endMs;);
    expect(await job).toEqual({ kind: 'done', value: 'reported' });
  });

  test.skipIf(!HAS_PROC)(
    'starts another process for one that was killed before it could take a job (needs /proc)',
    async () => {
      const pool = makePool({ size: 1 });
      const job = pool.run<Answer>({ do: 'answer', with: 1 });
      const [first] = listChildren(process.pid);
      if (first === undefined) throw new Error('There is no process');
      process.kill(first, 'SIGKILL');
      const { answer, pid } = valueOf(await job);
      expect(answer).toBe(1);
      expect(pid).not.toBe(first);
    },
  );

  test.each([
    ['is not there', 'no-such-program.js', /Cannot start a decoder process: exit code 1: Error: Cannot find module/],
    ['throws while it is loaded', '../../support/pool-broken.js', /: exit code 1: Error: this build is broken$/],
  ])('rejects when its program %s, and blames no job', async (_, program, message) => {
    const failure = makePool({ program: new URL(program, import.meta.url) }).run({ do: 'answer' });
    await expect(failure).rejects.toBeInstanceOf(CutroomError);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toMatchObject({ code: 'output', hint: expect.stringContaining('--jobs') as string });
  });

  test('rejects with the reason of its signal, and kills the process', async () => {
    const pool = makePool();
    const pid = await pidOf(pool);
    const stop = new AbortController();
    const job = pool.run({ do: 'block', ms: 60_000 }, { signal: stop.signal });
    await sleep(100);
    const startMs = performance.now();
    stop.abort(new Error('enough'));
    await expect(job).rejects.toThrow('enough');
    expect(performance.now() - startMs).toBeLessThan(20_000);
    if (HAS_PROC) expect(isAlive(pid)).toBe(false);
    expect(await pidOf(pool)).not.toBe(pid);
    await expect(pool.run({ do: 'answer' }, { signal: stop.signal })).rejects.toThrow('enough');
  });

  test('hears a signal once for all jobs at once, and no more after them', async () => {
    const pool = makePool({ size: 3 });
    const { signal } = new AbortController();
    const jobs = Array.from({ length: 9 }, () => pool.run({ do: 'sleep', ms: 100 }, { signal }));
    await sleep(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await Promise.all(jobs);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('ProcessPool.close()', () => {
  test.skipIf(!HAS_PROC)('leaves no process, busy or idle, and takes no job (needs /proc)', async () => {
    const pool = makePool();
    const pid = await pidOf(pool);
    const busy = pool.run({ do: 'block', ms: 60_000 });
    await sleep(200);
    await pool.close();
    expect(await busy).toMatchObject({ kind: 'died', how: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
    expect(listChildren(process.pid)).toEqual([]);
    await expect(pool.run({ do: 'answer' })).rejects.toThrow('closed');
    await pool.close();
  });
});

describe.skipIf(!HAS_PROC)('serveJobs() (needs /proc)', () => {
  test.for([
    { do: 'report', times: 10_000, everyMs: 10 },
    { do: 'block', ms: 1_000 },
    { do: 'sleep', ms: 60_000 },
  ])('ends with a parent that is killed, while its job is to $do', async (job) => {
    const { parent, pids } = await startParent(job);
    expect(pids.every(isAlive)).toBe(true);
    parent.kill('SIGKILL');
    expect(await isSoon(() => !pids.some(isAlive), 5_000)).toBe(true);
  });

  test('leaves signals to the whole group to its parent', async () => {
    const { parent, pids, lines } = await startParent({ do: 'report', times: 20, everyMs: 50 });
    if (parent.pid === undefined) throw new Error('The parent was not started');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) {
      process.kill(-parent.pid, signal);
      await sleep(50);
    }
    expect(pids.every(isAlive)).toBe(true);
    expect(JSON.parse(await nextLine(lines))).toEqual([
      { kind: 'done', value: 'reported' },
      { kind: 'done', value: 'reported' },
    ]);
    await once(parent, 'exit');
    expect(pids.some(isAlive)).toBe(false);
  });
});

async function startParent(job: object) {
  const parent = spawn(process.execPath, [PARENT, PROGRAM.href, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const lines = createInterface(parent.stdout)[Symbol.asyncIterator]();
  return { parent, pids: JSON.parse(await nextLine(lines)) as number[], lines };
}

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const step = await lines.next();
  if (step.done === true) throw new Error('The parent said nothing more');
  return step.value;
}
