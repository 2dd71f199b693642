// `cutroom stream` as a process: readers that close early, that are slow, signals, and what is left behind.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeDataset, type SmallItem } from '../../load/loader-shards.js';
import { readTar } from '../../support/tar-members.js';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const ITEMS = 64;
/** Five seconds of 8,000 Hz. */
const SAMPLES = 40_000;

let folder = '';
let list = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-stream-'));
  mkdirSync(path.join(folder, 'tmp'));
  const items = Array.from({ length: ITEMS }, (_, number): SmallItem => ({ number, samples: SAMPLES }));
  list = writeDataset(path.join(folder, 'data'), items, 2);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Running {
  child: ChildProcess;
  stderr: () => string;
  ended: Promise<number | null>;
}

function start(...flags: string[]): Running {
  const argv = [MAIN, 'stream', list, '--sample-rate', '8000', '--jobs', '2', '--epochs', 'forever', ...flags];
  const child = spawn(process.execPath, argv, { env: { ...process.env, TMPDIR: path.join(folder, 'tmp') } });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, stderr: () => stderr, ended };
}

/** Reads so many bytes, and no more than come with them. */
async function take({ child }: Running, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let taken = 0;
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    taken += chunk.length;
    if (taken >= bytes) break;
  }
  return Buffer.concat(chunks);
}

const leftBehind = (): string[] => readdirSync(path.join(folder, 'tmp'));

describe('a stream in a process of its own', () => {
  it('ends with 0 and without a word when its reader closes', async () => {
    const running = start();
    expect(readTar(await take(running, 500_000)).size).toBeGreaterThan(4);
    running.child.stdout!.destroy();
    expect([await running.ended, running.stderr(), leftBehind()]).toEqual([0, '', []]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 130 and without a word on %s', async (signal) => {
    const running = start();
    await take(running, 500_000);
    running.child.kill(signal);
    running.child.stdout!.resume();
    expect([await running.ended, running.stderr(), leftBehind()]).toEqual([130, '', []]);
  });

  it('waits for a slow reader without piling up memory', async () => {
    const running = start();
    await take(running, 20_000_000);
    await sleep(1500);
    const before = residentBytes(running);
    await sleep(1000);
    // Nothing was taken meanwhile.
    expect(residentBytes(running) - before).toBeLessThan(20e6);
    await take(running, 200_000_000);
    expect(residentBytes(running)).toBeLessThan(400e6);
    running.child.stdout!.destroy();
    expect(await running.ended).toBe(0);
  });

  it('keeps a state that is never ahead of its reader', async () => {
    const state = path.join(folder, 'state.json');
    const running = start('--state', state, '--batch-size', '4');
    let seen = 0;
    for (let turn = 0; turn < 6; turn += 1) {
      seen += (await take(running, 15_000_000)).length;
      await sleep(400);
    }
    running.child.stdout!.destroy();
    expect(await running.ended).toBe(0);
    expect(existsSync(state)).toBe(true);
    const { epoch, batch } = JSON.parse(readFileSync(state, 'utf8')) as { epoch: number; batch: number };
    const items = epoch * ITEMS + batch * 4;
    expect(items).toBeGreaterThan(0);
    expect(items * SAMPLES * 2).toBeLessThan(seen);
    // All but what a pipe and a second hold.
    expect(items * SAMPLES * 2).toBeGreaterThan(seen / 4);
  });
});

function residentBytes({ child }: Running): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/mu.exec(status)?.[1]) * 1024;
}

describe('the command line as a process', () => {
  it.runIf(existsSync('/dev/full'))('goes on where nobody reads its messages', () => {
    const full = openSync('/dev/full', 'w');
    const flags = ['--sample-rate', '8000', '--jobs', '1', '--verbose'];
    const { status, stdout } = spawnSync(process.execPath, [MAIN, 'stream', list, ...flags], {
      stdio: ['ignore', 'pipe', full],
      maxBuffer: 2 ** 27,
    });
    closeSync(full);
    expect(status).toBe(0);
    expect(readTar(stdout).size).toBe(2 * ITEMS);
  });
});
