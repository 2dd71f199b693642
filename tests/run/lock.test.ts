import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { CanceledError, OutputError } from '#cutroom/errors.js';
import { createLockFile } from '#cutroom/run/lock-file.js';
import { acquireLock, type LockOptions } from '#cutroom/run/lock.js';
import { readProcessFacts, type LockHolder } from '#cutroom/run/lock-holder.js';
import { mountSmallDisk } from '../support/small-disk.js';

const hasProc = existsSync('/proc/self/stat');
const HERE = { host: hostname(), pid: process.pid };
const FAST = { heartbeatMs: 20, staleMs: 200, graceMs: 60 };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cutroom-lock-'));
  file = path.join(folder, 'run.lock');
});
afterEach(() => rm(folder, { recursive: true }));

function acquire(options: Partial<LockOptions> = {}) {
  return acquireLock(file, { identity: HERE, ...FAST, ...options });
}

/** Puts down the lock of another holder. */
async function plant(changes: Partial<LockHolder>): Promise<LockHolder> {
  const holder = {
    ...HERE,
    ...(await readProcessFacts(process.pid)),
    token: 'feedfacefeedface',
    started: '2026-01-02T03:04:05.000Z',
    ...changes,
  };
  await writeFile(file, JSON.stringify(holder));
  return holder;
}

async function readHolder(): Promise<LockHolder> {
  return JSON.parse(await readFile(file, 'utf8')) as LockHolder;
}

/** Time that a promise takes, in milliseconds. */
async function durationOf(promise: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await promise;
  return performance.now() - start;
}

/** A pid that no process has. */
function freePid(): number {
  return spawnSync('true').pid;
}

/** A process that ran and holds its pid, but was not waited for by its parent. */
async function startDefunct(): Promise<{ parent: ChildProcess; pid: number }> {
  const parent = spawn('sh', ['-c', 'sh -c "exit 0" & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
  await sleep(50);
  return { parent, pid: Number(chunk.toString()) };
}

describe('acquireLock()', () => {
  test('writes who holds it, and leaves nothing once released', async () => {
    const lock = await acquire({ now: () => Date.UTC(2026, 0, 2) });
    expect(await readHolder()).toMatchObject({
      ...HERE,
      started: '2026-01-02T00:00:00.000Z',
      token: lock.holder.token,
    });
    expect(await readdir(folder)).toEqual(['run.lock']);
    await lock.release();
    await lock.release();
    expect(await readdir(folder)).toEqual([]);
    expect(lock.lost.aborted).toBe(false);
  });

  test('refuses at once a lock of a live process of this machine, naming it', async () => {
    const lock = await acquire();
    const failure = acquire({ staleMs: 60_000 });
    expect(await durationOf(failure.catch(() => undefined))).toBeLessThan(20_000);
    await expect(failure).rejects.toThrow(OutputError);
    await expect(failure).rejects.toThrow(
      `Cannot lock "${file}": process ${HERE.pid} on ${HERE.host} has held it since ${lock.holder.started}`,
    );
    await expect(failure).rejects.toMatchObject({
      path: file,
      hint: expect.stringContaining(`ps -fp ${HERE.pid}`) as string,
    });
    await lock.confirm();
    await lock.release();
  });

  test.skipIf(!hasProc)('takes over at once the lock of a process that is gone (needs /proc)', async () => {
    await plant({ pid: freePid() });
    const lock = await acquire({ staleMs: 60_000 });
    expect((await readHolder()).token).toBe(lock.holder.token);
    expect(await readdir(folder)).toEqual(['run.lock']);
    await lock.release();
  });

  test.skipIf(!hasProc)(
    'takes over at once the lock of an earlier process of the same pid, and of an earlier boot (needs /proc)',
    async () => {
      await plant({ process_start: '12345' });
      await (await acquire({ staleMs: 60_000 })).release();
      await plant({ boot_id: 'another' });
      await (await acquire({ staleMs: 60_000 })).release();
    },
  );

  test.skipIf(!hasProc)(
    'takes over at once the lock of a process that ended and was not waited for (needs /proc)',
    async () => {
      const { parent, pid } = await startDefunct();
      try {
        await plant({ pid, ...(await readProcessFacts(pid)) });
        await (await acquire({ staleMs: 60_000 })).release();
      } finally {
        parent.kill();
      }
    },
  );

  test('asks the given check where there is no /proc', async () => {
    await plant({ pid: 77 });
    const asked: number[] = [];
    const check = (answer: boolean) => (pid: number) => asked.push(pid) > 0 && answer;
    const withoutProc: Partial<LockOptions> = { staleMs: 60_000, readFacts: () => Promise.resolve({}) };
    await expect(acquire({ ...withoutProc, isProcessAlive: check(true) })).rejects.toThrow('process 77');
    await (await acquire({ ...withoutProc, isProcessAlive: check(false) })).release();
    expect(asked).toEqual([77, 77]);
  });

  test.each([
    ['another machine', { host: 'elsewhere' }],
    ['another machine of the same name', { machine_id: 'other' }],
    ['another container of the same name', { pid_namespace: 'pid:[1]' }],
  ])('takes over the lock of %s when its heartbeat stands still', async (_, changes) => {
    const facts = await readProcessFacts(process.pid);
    if ('machine_id' in changes && facts.machine_id === undefined) facts.machine_id = 'mine';
    if ('pid_namespace' in changes && facts.pid_namespace === undefined) facts.pid_namespace = 'pid:[2]';
    await plant({ ...facts, pid: 1, ...changes });
    const waits: unknown[] = [];
    const onWait = (holder: LockHolder | undefined, patienceMs: number) => waits.push([holder?.token, patienceMs]);
    const taking = acquire({ onWait, readFacts: () => Promise.resolve(facts) });
    expect(await durationOf(taking)).toBeGreaterThanOrEqual(FAST.staleMs * 0.9);
    expect(waits).toEqual([['feedfacefeedface', FAST.staleMs]]);
    await (await taking).release();
  });

  test('refuses the lock of another machine once its heartbeat is seen, whatever its clock says', async () => {
    await plant({ host: 'elsewhere' });
    let timeSeconds = 1000;
    const beat = setInterval(() => void utimes(file, timeSeconds, timeSeconds++), 50);
    await expect(acquire()).rejects.toThrow('on elsewhere has held it since 2026-01-02');
    clearInterval(beat);
    expect((await readHolder()).host).toBe('elsewhere');
  });

  test('stops waiting when its signal fires', async () => {
    await plant({ host: 'elsewhere' });
    const taking = acquire({ staleMs: 60_000, signal: AbortSignal.timeout(50) });
    await expect(taking).rejects.toThrow(CanceledError);
  });

  test.each(['', '{"host":"a","pi', '[]', '{"host":1}'])('takes over a torn lock %j after a grace', async (text) => {
    await writeFile(file, text);
    const taking = acquire();
    expect(await durationOf(taking)).toBeGreaterThanOrEqual(FAST.graceMs * 0.9);
    await (await taking).release();
    expect(await readdir(folder)).toEqual([]);
  });

  test.each(['', '{"host":"a","pi'])('sweeps away %j that a killed taker left beside it', async (text) => {
    await writeFile(`${file}.0123456789abcdef.new`, text);
    await (await acquire()).release();
    expect(await readdir(folder)).toEqual([]);
  });

  test('is taken by a holder whose own file others sweep away before it is linked', async () => {
    const holder = { ...HERE, token: 'feedfacefeedface', started: '2026-01-02T03:04:05.000Z' };
    const sweptIn: number[] = [];
    // Until it has happened.
    for (let round = 0; round < 20 || sweptIn.length === 0; round += 1) {
      let left = 5;
      const sweep = async (): Promise<void> => {
        left -= 1;
        try {
          await rm(`${file}.${holder.token}.new`);
          sweptIn.push(round);
        } catch {
          left += 1;
        }
      };
      const sweeper = setInterval(() => void (left > 0 && sweep()), 0);
      try {
        expect(await createLockFile(file, holder)).toBe(true);
      } finally {
        clearInterval(sweeper);
      }
      await rm(file);
    }
  });

  test('gives a torn lock that is completed in the grace to who completes it', async () => {
    await writeFile(file, '');
    setTimeout(() => void plant({}), 30);
    await expect(acquire({ graceMs: 500 })).rejects.toThrow('has held it since 2026-01-02');
  });

  test.skipIf(!hasProc)('goes on where a process was killed while it took a lock over (needs /proc)', async () => {
    const dead = await plant({ pid: freePid() });
    const inner = { ...dead, token: '0123456789abcdef' };
    await writeFile(`${file}.${dead.token}`, JSON.stringify(inner));
    await writeFile(`${file}.${inner.token}.new`, JSON.stringify(inner));
    await writeFile(`${file}.txt`, 'not ours');
    const lock = await acquire({ staleMs: 60_000 });
    expect((await readdir(folder)).toSorted()).toEqual(['run.lock', 'run.lock.txt']);
    await lock.release();
  });

  test.each([
    ['dead', (): Partial<LockHolder> => ({ pid: freePid() })],
    ['stale', (): Partial<LockHolder> => ({ host: 'elsewhere' })],
    ['missing', undefined],
  ])('lets exactly one of many win a %s lock', async (_, changes) => {
    for (let round = 0; round < 5; round++) {
      if (changes !== undefined) await plant(changes());
      const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => acquire({ staleMs: 100 })));
      const won = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
      expect(won).toHaveLength(1);
      for (const attempt of attempts) {
        if (attempt.status === 'rejected') expect(String(attempt.reason)).toContain(`process ${HERE.pid} on`);
      }
      await won[0]?.confirm();
      expect((await readHolder()).token).toBe(won[0]?.holder.token);
      await won[0]?.release();
      expect(await readdir(folder)).toEqual([]);
    }
  });

  test.skipIf(!hasProc)('lets exactly one of eight processes win the lock of a killed one (needs /proc)', async () => {
    const program = `
      import { hostname } from 'node:os';
      import { acquireLock } from '#cutroom/run/lock.js';
      process.stdin.once('data', async () => {
        try {
          await acquireLock(process.argv[1], { identity: { host: hostname(), pid: process.pid } });
          process.stdout.write('won');
        } catch (error) {
          process.stdout.write(error.message);
        }
        process.stdin.once('data', () => process.kill(process.pid, 'SIGKILL'));
      });
      process.stdout.write('ready');
    `;
    const children = Array.from({ length: 8 }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program, file], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      return { child, answer: async () => String(((await once(child.stdout, 'data')) as [Buffer])[0]) };
    });
    await plant({ pid: freePid() });
    await Promise.all(children.map(({ answer }) => answer()));
    const answers = children.map(({ answer }) => answer());
    for (const { child } of children) child.stdin.write('go');
    const found = await Promise.all(answers);
    const winner = found.indexOf('won');
    expect(found.filter((answer) => answer === 'won')).toHaveLength(1);
    for (const [index, answer] of found.entries()) {
      if (index !== winner)
        expect(answer).toContain(`process ${children[winner]?.child.pid} on ${HERE.host} has held it`);
    }
    const exits = children.map(({ child }) => once(child, 'exit'));
    for (const { child } of children) child.stdin.write('die');
    await Promise.all(exits);
    // The winner was killed with its lock, which survives it for no longer than it takes to look.
    await (await acquire({ staleMs: 60_000 })).release();
    expect(await readdir(folder)).toEqual([]);
  });

  test('names a path that cannot hold a lock', async () => {
    await mkdir(file);
    await expect(acquire()).rejects.toThrow('it is a folder');
    await rm(file, { recursive: true });
    await expect(acquireLock(path.join(folder, 'none', 'lock'), { identity: HERE })).rejects.toMatchObject({
      code: 'output',
      hint: 'Make the folder first.',
    });
  });

  test('can be released on a full disk', async (context) => {
    const disk = mountSmallDisk(context, 32 * 1024);
    const lock = await acquireLock(path.join(disk, 'lock'), { identity: HERE });
    await writeFile(path.join(disk, 'ballast'), Buffer.alloc(64 * 1024)).catch(() => undefined);
    await expect(acquireLock(path.join(disk, 'other'), { identity: HERE })).rejects.toThrow(
      'no space left on the disk',
    );
    await lock.confirm();
    await lock.release();
    expect(await readdir(disk)).toEqual(['ballast']);
  });
});

describe('Lock', () => {
  test('shows a heartbeat, by which a taker of another machine is refused', async () => {
    const lock = await acquire();
    const other = { host: 'elsewhere', pid: 1 };
    await expect(acquireLock(file, { identity: other, ...FAST })).rejects.toThrow(
      `process ${HERE.pid} on ${HERE.host}`,
    );
    await lock.release();
  });

  test('fires `lost` when another process took it over, and leaves it to that one', async () => {
    const lock = await acquire();
    const firing = once(lock.lost, 'abort');
    await plant({ host: 'elsewhere' });
    await firing;
    expect(lock.lost.reason).toBeInstanceOf(OutputError);
    expect(String(lock.lost.reason)).toContain(`Lost the lock "${file}": another process took it over`);
    await expect(lock.confirm()).rejects.toThrow('Lost the lock');
    await lock.release();
    expect((await readHolder()).host).toBe('elsewhere');
  });

  test('notices the loss at release, before any heartbeat', async () => {
    const lock = await acquire({ heartbeatMs: 60_000 });
    await plant({ host: 'elsewhere' });
    await lock.release();
    expect((await readHolder()).host).toBe('elsewhere');
  });

  test('fires `lost` when its file was removed', async () => {
    const lock = await acquire({ heartbeatMs: 60_000 });
    await rm(file);
    await expect(lock.confirm()).rejects.toThrow('or its file was removed');
    expect(lock.lost.aborted).toBe(true);
  });

  test('bears a fault of the file system that passes, not one as long as `staleMs`', async () => {
    const lock = await acquire({ heartbeatMs: 60_000, staleMs: 250 });
    const aside = path.join(folder, 'aside');
    await rename(file, aside);
    await mkdir(file);
    await expect(lock.confirm()).rejects.toThrow('Cannot confirm the lock');
    expect(lock.lost.aborted).toBe(false);
    await rm(file, { recursive: true });
    await rename(aside, file);
    await lock.confirm();
    await rm(file);
    await mkdir(file);
    await sleep(260);
    await expect(lock.confirm()).rejects.toThrow('its heartbeat could not be written');
    expect(lock.lost.aborted).toBe(true);
  });

  test('keeps no process running', () => {
    const program = `
      import { acquireLock } from '#cutroom/run/lock.js';
      await acquireLock(process.argv[1], { identity: { host: 'here', pid: process.pid } });
    `;
    const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program, file], { timeout: 8000 });
    expect(child.status).toBe(0);
    expect(existsSync(file)).toBe(true);
  });
});
