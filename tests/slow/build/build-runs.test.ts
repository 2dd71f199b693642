// Runs of `cutroom build` in processes of their own: killed, stopped, and side by side.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSpeechBursts } from '../../support/signals.js';
import { buildWav } from '../../support/wav-files.js';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const ROWS = 240;
const SHARDS = 4;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-build-'));
  mkdirSync(path.join(folder, 'audio'));
  const lines: string[] = [];
  for (let file = 0; file < 8; file += 1) {
    const wav = buildWav(makeSpeechBursts(48_000 * 10, 48_000, { seed: file }), { sampleRate: 48_000 });
    writeFileSync(path.join(folder, 'audio', `${file}.wav`), wav);
  }
  for (let row = 0; row < ROWS; row += 1) {
    lines.push(`u${row}\taudio/${row % 8}.wav\ttext ${row}\t${(row % 13) / 2}\t${2 + (row % 3)}`);
  }
  writeFileSync(path.join(folder, 't.tsv'), `${lines.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 5 }));

const sizing = ['--num-tars', String(SHARDS), '--sample-rate', '16000'];

function start(out: string, ...more: string[]): ChildProcess {
  const flags = ['build', '--output-dir', path.join(folder, out), '--quiet', ...more];
  return spawn(process.execPath, [main, ...flags], { stdio: 'ignore' });
}

async function codeOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

const withInput = (): string[] => ['--input', path.join(folder, 't.tsv'), ...sizing];

/** A digest of each file but the list, which holds paths, and its lines without folders. */
function digestsOf(out: string): Record<string, string> {
  const root = path.join(folder, out);
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((name) => !/^data\.\d/u.test(name));
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const text = readFileSync(path.join(root, name), 'latin1').replaceAll(root, '');
      return [name, createHash('sha256').update(text).digest('hex')];
    }),
  );
}

async function untilThere(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(10);
}

/** Waits until a process has the lock of a shard: then it answers to signals. */
async function untilPacking(out: string, child: ChildProcess): Promise<void> {
  const work = path.join(out, '.cutroom-build');
  const isHeld = (name: string): boolean => {
    try {
      return readFileSync(path.join(work, name), 'utf8').includes(`"pid":${child.pid},`);
    } catch {
      return false;
    }
  };
  // The folder is made once the plan is read: an earlier run may have been killed before that.
  const listLocks = (): string[] =>
    existsSync(work) ? readdirSync(work).filter((name) => /^\d+\.lock$/u.test(name)) : [];
  while (!listLocks().some(isHeld)) {
    expect(child.exitCode, 'it ended before it packed anything').toBeNull();
    await sleep(10);
  }
}

describe('cutroom build', () => {
  it('ends with the same bytes whatever killed it before, and whatever --jobs says', async () => {
    expect(await codeOf(start('whole', ...withInput(), '--jobs', '2'))).toBe(0);
    const whole = digestsOf('whole');
    expect(Object.keys(whole)).toHaveLength(2 * SHARDS + 4);

    const killed = path.join(folder, 'killed');
    for (const delayMs of [0, 250, 400]) {
      const child = start('killed', ...withInput(), '--jobs', '1');
      await untilThere(path.join(killed, 'plan.jsonl'));
      await sleep(delayMs);
      child.kill('SIGKILL');
      await codeOf(child);
    }
    expect(existsSync(path.join(killed, 'metrics.json'))).toBe(false);
    const stopped = start('killed', ...withInput(), '--jobs', '1');
    await untilPacking(killed, stopped);
    stopped.kill('SIGINT');
    expect(await codeOf(stopped)).toBe(130);
    expect(await codeOf(start('killed', '--jobs', '1'))).toBe(0);
    expect(digestsOf('killed')).toEqual(whole);
    expect(existsSync(path.join(killed, '.cutroom-build'))).toBe(false);
  });

  it('makes one dataset of runs side by side that have parts of it, some of them twice', async () => {
    expect(await codeOf(start('side', ...withInput(), '--plan-only'))).toBe(0);
    const part = (from: number, to: number): ChildProcess =>
      start('side', '--split-start', String(from), '--split-end', String(to), '--jobs', '1');
    const runs = [part(2, 4), part(0, 2)];
    expect(await Promise.all(runs.map(codeOf))).toEqual([0, 0]);
    expect(await codeOf(part(0, 2))).toBe(0);
    expect(digestsOf('side')).toEqual(digestsOf('whole'));
  });
});
