// Decoding in other processes: the same as in this one, and a crash costs its item alone.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutputError } from '#cutroom/errors.js';
import { createDecoder } from '#cutroom/load/decode-pool.js';
import type { DecodeOutcome, DecodeRequest } from '#cutroom/load/decode-request.js';
import { ProcessDecoder } from '#cutroom/load/process-decoder.js';
import { writeEncoded } from '../../support/encode.js';
import { makeNoise } from '../../support/signals.js';
import { mountSmallDisk } from '../../support/small-disk.js';
import { buildWav } from '../../support/wav-files.js';

const RATE = 16_000;
const PROGRAM = new URL('crashing-decoder.js', import.meta.url);
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-processes-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
});

function writeWav(name: string, level: number): DecodeRequest {
  const file = path.join(folder, name);
  writeFileSync(file, buildWav(new Float64Array(400).fill(level), { sampleRate: RATE, channels: 1 }));
  return requestOf(file);
}

function requestOf(file: string, more: Partial<DecodeRequest> = {}): DecodeRequest {
  return { path: file, inside: undefined, span: undefined, sampleRate: RATE, speed: 1, wantsBytes: false, ...more };
}

function levelsOf(outcomes: readonly DecodeOutcome[]): unknown[] {
  return outcomes.map((outcome) => (outcome.kind === 'decoded' ? outcome.samples[0] : outcome.reason));
}

function digestOf(outcome: DecodeOutcome): unknown {
  if (outcome.kind === 'failed') return outcome;
  const { samples, bytes, sampleRate } = outcome;
  const hash = createHash('sha256').update(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
  return { sampleRate, samples: samples.length, bytes: bytes?.length, digest: hash.update(bytes ?? '').digest('hex') };
}

function bufferOf(outcome: DecodeOutcome): unknown {
  return outcome.kind === 'decoded' ? outcome.samples.buffer : undefined;
}

function placesOf(outcomes: readonly DecodeOutcome[]): (number | undefined)[] {
  return outcomes.map((outcome) => (outcome.kind === 'decoded' ? outcome.samples.byteOffset : undefined));
}

describe('createDecoder() with processes', () => {
  it('gives what this process gives, of many calls at once', async () => {
    const requests = (['flac', 'opus', 'mp3-vbr'] as const).flatMap((kind, at) => {
      const file = path.join(folder, `${kind}.bin`);
      writeEncoded(file, { samples: makeNoise(2 * RATE, 1, at), sampleRate: RATE, channels: 1 }, kind);
      return [1, 1.1].map((speed) => requestOf(file, { speed, wantsBytes: speed === 1 }));
    });
    const many = Array.from({ length: 40 }, (_, k) => requests[k % requests.length] ?? requestOf(''));
    await using own = createDecoder({ jobs: 0 });
    await using pooled = createDecoder({ jobs: 2 });
    const expected = await own.decode([...many, requestOf(path.join(folder, 'none'))]);
    const calls = [0, 1, 2, 3].map(() => pooled.decode([...many, requestOf(path.join(folder, 'none'))]));
    for (const outcomes of await Promise.all(calls)) expect(outcomes.map(digestOf)).toEqual(expected.map(digestOf));
    expect(await pooled.decode([])).toEqual([]);
    expect(readdirSync(tmpdir()).filter((name) => /^cutroom-[0-9a-f-]{36}$/u.test(name))).toEqual([]);
  });

  it('uses memory again that was given back, once, and no other', async () => {
    const requests = [writeWav('g.wav', 0.25), writeWav('h.wav', 0.5)];
    await using decoder = createDecoder({ jobs: 1 });
    const first = await decoder.decode(requests);
    decoder.recycle?.(first);
    decoder.recycle?.(first);
    const again = [...(await decoder.decode(requests.toReversed())), ...(await decoder.decode(requests))];
    expect(levelsOf(again)).toEqual([0.5, 0.25, 0.25, 0.5]);
    expect(new Set(placesOf(again)).size).toBe(4);
    expect(placesOf(again)).toEqual(expect.arrayContaining(placesOf(first).slice(0, 1)));
    expect(new Set([...first, ...again].map(bufferOf)).size).toBe(1);
    decoder.recycle?.(again.slice(1));
    for (let turn = 0; turn < 3; turn += 1) decoder.recycle?.(await decoder.decode(requests));
    expect(levelsOf(again.slice(0, 1))).toEqual([0.5]);
  });

  it('a crash costs the item that it happens at', async () => {
    const requests = Array.from({ length: 12 }, (_, k) => writeWav(k === 5 ? 'crash.wav' : `${k}.wav`, (k + 1) / 64));
    await using decoder = new ProcessDecoder({ jobs: 1, silenceMs: 60_000, program: PROGRAM });
    const outcomes = await decoder.decode(requests);
    const expected = requests.map((_, k) => (k === 5 ? 'corrupt_recording' : (k + 1) / 64));
    expect(levelsOf(outcomes)).toEqual(expected);
    expect(outcomes[5]).toMatchObject({ message: expect.stringMatching(/decoding it crashed \(SIGSEGV\)$/u) });
  });

  it('an item whose process was killed once is decoded', async () => {
    const requests = [writeWav('b.wav', 0.25), writeWav('once.wav', 0.5)];
    await using decoder = new ProcessDecoder({ jobs: 1, silenceMs: 60_000, program: PROGRAM });
    expect(levelsOf(await decoder.decode(requests))).toEqual([0.25, 0.5]);
  });

  it('an item that decoding does not come back from fails', async () => {
    const requests = [writeWav('c.wav', 0.25), writeWav('hang.wav', 0.5), writeWav('d.wav', 0.75)];
    await using decoder = new ProcessDecoder({ jobs: 2, silenceMs: 3000, program: PROGRAM });
    const outcomes = await decoder.decode(requests);
    expect(levelsOf(outcomes)).toEqual([0.25, 'corrupt_recording', 0.75]);
    expect(outcomes[1]).toMatchObject({ message: expect.stringContaining('decoding it hung for 3 s') });
  });

  it('ends what it is doing when it is closed, and takes nothing more', async () => {
    const decoder = new ProcessDecoder({ jobs: 1, silenceMs: 60_000, program: PROGRAM });
    const decoding = decoder.decode([writeWav('hang.wav', 0.5)]);
    const ended = expect(decoding).rejects.toThrow('closed');
    await decoder.close();
    await ended;
    await expect(decoder.decode([writeWav('f.wav', 0.25)])).rejects.toThrow('The decoder is closed');
    await decoder.close();
  });

  it('stops at the signal in the middle of an item, and serves on', async () => {
    const hanging = writeWav('hang.wav', 0.5);
    const sound = writeWav('e.wav', 0.25);
    await using decoder = new ProcessDecoder({ jobs: 1, silenceMs: 60_000, program: PROGRAM });
    await decoder.decode([sound]);
    const controller = new AbortController();
    const decoding = decoder.decode([hanging], controller.signal);
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(decoding).rejects.toThrow('enough');
    expect(levelsOf(await decoder.decode([sound]))).toEqual([0.25]);
  });

  it('says that there is no room for what is decoded', async (context) => {
    const disk = mountSmallDisk(context, 64 * 1024);
    const long = path.join(folder, 'long.wav');
    writeFileSync(long, buildWav(new Float64Array(2 * RATE).fill(0.5), { sampleRate: RATE, channels: 1 }));
    vi.stubEnv('TMPDIR', disk);
    await using decoder = createDecoder({ jobs: 1 });
    const outcome = decoder.decode([requestOf(long)]);
    await expect(outcome).rejects.toThrow(OutputError);
    await expect(outcome).rejects.toThrow(`Cannot hold decoded audio in "${disk}": no space left on the disk`);
    expect(levelsOf(await decoder.decode([writeWav('short.wav', 0.25)]))).toEqual([0.25]);
  });

  it('says that there is no folder for what is decoded', () => {
    vi.stubEnv('TMPDIR', path.join(folder, 'none'));
    expect(() => createDecoder({ jobs: 1 })).toThrow('its folder does not exist');
    expect(() => createDecoder({ jobs: 1 })).toThrow(OutputError);
  });
});
