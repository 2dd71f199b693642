// Scans that are killed, and files that kill their process.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execPath, kill, pid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '#cutroom/run/journal.js';
import { scan } from '#cutroom/sample/scan.js';
import type { ScanOptions } from '#cutroom/sample/scan-options.js';
import { HAS_PROC, isSoon, listChildren } from '../../support/cut-runs.js';
import { makeNoise } from '../../support/signals.js';
import { buildWav, buildWavAround } from '../../support/wav-files.js';

let folder: string;
let options: ScanOptions & { out: string };
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-scan-kill-'));
  const corpus = path.join(folder, 'corpus');
  mkdirSync(corpus);
  options = { sources: [corpus], out: path.join(folder, 'out'), jobs: 2, loudness: { windowSeconds: 0.4 } };
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Buffer): void {
  writeFileSync(path.join(folder, 'corpus', name), bytes);
}

function outputBytes(): Record<string, string> {
  const names = readdirSync(options.out);
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(options.out, name), 'latin1')]));
}

describe('scan()', () => {
  it('that is killed goes on where it was, to the same bytes', async () => {
    for (let number = 0; number < 24; number += 1)
      write(`${number}.wav`, buildWav(makeNoise(16_000 + number, 1, number), { sampleRate: 16_000 }));
    await scan(options);
    const expected = outputBytes();
    rmSync(options.out, { recursive: true });
    const driver = fileURLToPath(new URL('../../support/scan-driver.js', import.meta.url));
    for (const die of [{ dieAtFiles: 4 }, { dieAtFiles: 12 }, { dieAtPublish: true }]) {
      const { signal } = spawnSync(execPath, [driver, JSON.stringify({ options, ...die })]);
      expect(signal).toBe('SIGKILL');
      expect(readdirSync(options.out)).toEqual(['.cutroom-scan']);
    }
    expect(await scan(options)).toMatchObject({ kind: 'scanned', readFiles: 0, keptFiles: 24 });
    expect(outputBytes()).toEqual(expected);
  });

  it('that is killed while it moves its files is ended by the next', async () => {
    write('a.wav', buildWav(makeNoise(16_000), { sampleRate: 16_000 }));
    await scan(options);
    const expected = outputBytes();
    const work = path.join(options.out, '.cutroom-scan');
    const names = ['lufs.bagz', 'manifest.json', 'failures.jsonl', 'scan.jsonl', 'metrics.json'];
    for (const from of names.keys()) {
      mkdirSync(path.join(work, 'new'), { recursive: true });
      for (const name of names.slice(from)) renameSync(path.join(options.out, name), path.join(work, 'new', name));
      const journal = await Journal.open(path.join(work, 'journal'));
      await journal.append({ kind: 'publish' });
      await journal.close();
      expect(await scan(options)).toMatchObject({ kind: 'unchanged', readFiles: 0, keptFiles: 1 });
      expect(outputBytes()).toEqual(expected);
    }
  });

  it.skipIf(!HAS_PROC)('loses only the file whose decoder is killed or hangs', async () => {
    write('b.wav', buildWav(makeNoise(800), { sampleRate: 16_000 }));
    // Long enough to be met, and short in the file: its bytes are never written.
    const { head } = buildWavAround(2 * 48_000 * 36_000, { sampleRate: 48_000 });
    write('a.wav', head);
    const long = path.join(folder, 'corpus', 'a.wav');
    const { truncateSync } = await import('node:fs');
    truncateSync(long, head.length + 2 * 48_000 * 36_000);
    const job = scan({ ...options, jobs: 1, recordingTimeoutSeconds: 2 });
    const killed = new Set<number>();
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const fresh = (): number[] => listChildren(pid).filter((child) => !killed.has(child));
      expect(await isSoon(() => fresh().length > 0, 30_000)).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      for (const child of fresh()) {
        killed.add(child);
        kill(child, signal);
      }
    }
    expect(await job).toMatchObject({ readFiles: 2, summary: { files: 1, failed: { decoder_hung: 1 } } });
    expect(listChildren(pid)).toEqual([]);
  });
});
