// Decoding in threads: what takes the start of threads, or of a process.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DecodeRequest } from '#cutroom/load/decode-request.js';
import { ThreadDecoder } from '#cutroom/load/thread-decoder.js';
import { levelsOf, requestLevel, samplesOf } from '../../support/decode-requests.js';

const PROGRAM = new URL('../../support/ending-thread.js', import.meta.url);
const NO_PROGRAM = new URL('none.js', import.meta.url);
/** What an item takes that is slow, less what timers are off. */
const SLOW_MS = 149;
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-threads-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const writeWav = (name: string, level: number, frames?: number): DecodeRequest =>
  requestLevel(folder, name, level, frames);

describe('ThreadDecoder.decode()', () => {
  it('threads that end cost the items that they end at twice', async () => {
    await using own = new ThreadDecoder({ threads: 1, aloneMs: 0, program: PROGRAM });
    const names = ['0.wav', 'once.wav', '2.wav', 'exit.wav', '4.wav', '5.wav', 'late-error.wav', '7.wav'];
    const outcomes = await own.decode(names.map((name, k) => writeWav(name, (k + 1) / 16)));
    const expected = names.map((_, k) => ([3, 6].includes(k) ? 'corrupt_recording' : (k + 1) / 16));
    expect(levelsOf(outcomes)).toEqual(expected);
    const messages = outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.message : ''));
    expect(messages[3]).toMatch(/exit\.wav": decoding it ended its thread \(exit code 3\)$/u);
    expect(messages[6]).toMatch(/late-error\.wav": decoding it ended its thread \(no memory left\)$/u);
  });

  it('leaves a large file to threads, and what comes behind it', async () => {
    const requests = [writeWav('small.wav', 0.25), writeWav('large.wav', 0.5, 600_000), writeWav('slow-9.wav', 0.75)];
    await using without = new ThreadDecoder({ program: NO_PROGRAM });
    await expect(without.decode(requests)).rejects.toThrow('Cannot start a decoder thread');
    await using own = new ThreadDecoder({ threads: 2, program: PROGRAM });
    const startMs = performance.now();
    expect(levelsOf(await own.decode(requests))).toEqual([0.25, 0.5, 0.75]);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(SLOW_MS);
  });

  it('goes over to threads once it is no longer small', async () => {
    await using own = new ThreadDecoder({ threads: 1, aloneMs: 0.001, program: PROGRAM });
    const request = writeWav('slow-10.wav', 0.25);
    let tookMs = 0;
    let calls = 0;
    // Only threads take their time.
    for (; tookMs < SLOW_MS && calls < 10_000; calls += 1) {
      const startMs = performance.now();
      expect(levelsOf(await own.decode([request, request]))).toEqual([0.25, 0.25]);
      tookMs = performance.now() - startMs;
    }
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThan(10_000);
  });
});

describe('ThreadDecoder.recycle()', () => {
  it('uses memory again that was given back, once, and no other', async () => {
    const requests = [writeWav('g.wav', 0.25), writeWav('h.wav', 0.5)];
    await using own = new ThreadDecoder({ threads: 1, aloneMs: 0 });
    const first = await own.decode(requests);
    own.recycle(first);
    own.recycle(first);
    const again = [...(await own.decode(requests.toReversed())), ...(await own.decode(requests))];
    expect(levelsOf(again)).toEqual([0.5, 0.25, 0.25, 0.5]);
    expect(new Set(again.map((outcome) => samplesOf(outcome).byteOffset)).size).toBe(4);
    expect(new Set([...first, ...again].map((outcome) => samplesOf(outcome).buffer)).size).toBe(1);
  });
});

describe('ThreadDecoder.close()', () => {
  it('stops a thread that does not come back', async () => {
    const own = new ThreadDecoder({ threads: 1, aloneMs: 0, program: PROGRAM });
    const endless = writeWav('endless.wav', 0.5);
    await own.decode([writeWav('sound.wav', 0.25)]);
    const ended = expect(own.decode([endless])).rejects.toThrow('closed');
    await vi.waitUntil(() => existsSync(`${endless.path}.seen`));
    await own.close();
    await ended;
  });

  it('without it, threads keep the process as long as there is work for them, and no longer', async () => {
    const file = JSON.stringify(writeWav('work.wav', 0.25));
    const program = `
      import { ThreadDecoder } from ${JSON.stringify(import.meta.resolve('#cutroom/load/thread-decoder.js'))};
      const [outcome] = await new ThreadDecoder({ threads: 2, aloneMs: 0 }).decode([${file}]);
      console.log(outcome.samples[0]);`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 20_000 });
    expect(await run).toEqual({ stdout: '0.25\n', stderr: '' });
  });
});
