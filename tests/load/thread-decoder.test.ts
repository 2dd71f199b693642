// Decoding in threads of this process: order, signals, the end of threads, and an event loop that goes on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CutroomError } from '#cutroom/errors.js';
import type { DecodeRequest } from '#cutroom/load/decode-request.js';
import { ItemDecoder } from '#cutroom/load/item-decoder.js';
import { ThreadDecoder } from '#cutroom/load/thread-decoder.js';
import { REQUEST_RATE, levelsOf, requestLevel, requestOf, samplesOf } from '../support/decode-requests.js';
import { writeEncoded } from '../support/encode.js';
import { makeNoise } from '../support/signals.js';

const PROGRAM = new URL('../support/ending-thread.js', import.meta.url);
const NO_PROGRAM = new URL('none.js', import.meta.url);
/** What an item takes that is slow, less what timers are off. */
const SLOW_MS = 399;
let folder = '';
/** The last test closes it. */
let decoder: ThreadDecoder;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-threads-'));
  decoder = new ThreadDecoder({ threads: 2, aloneMs: 0, program: PROGRAM });
});
afterAll(async () => {
  await decoder.close();
  rmSync(folder, { recursive: true });
});

const writeWav = (name: string, level: number, frames?: number): DecodeRequest =>
  requestLevel(folder, name, level, frames);

describe('ThreadDecoder.decode()', () => {
  it('gives what one decoder gives after the other, of many calls at once', async () => {
    const requests = (['flac', 'opus'] as const).flatMap((kind, at) => {
      const file = path.join(folder, `${kind}.bin`);
      writeEncoded(file, { samples: makeNoise(REQUEST_RATE, 1, at), sampleRate: REQUEST_RATE, channels: 1 }, kind);
      return [1, 1.1].map((speed) => requestOf(file, { speed, wantsBytes: speed === 1 }));
    });
    const none = requestOf(path.join(folder, 'none'));
    const many = [...Array.from({ length: 40 }, (_, k) => requests[k % requests.length] ?? none), none];
    using own = new ItemDecoder();
    const expected = many.map((request) => own.decode(request));
    const calls = await Promise.all([0, 1, 2].map(() => decoder.decode(many)));
    for (const outcomes of calls) {
      expect(outcomes.map((outcome) => outcome.kind)).toEqual(expected.map((outcome) => outcome.kind));
      for (const [at, outcome] of outcomes.entries()) {
        const wanted = expected[at];
        if (outcome.kind === 'failed' || wanted?.kind !== 'decoded') {
          expect(outcome).toEqual(wanted);
          continue;
        }
        expect(Buffer.from(outcome.samples.slice().buffer).equals(Buffer.from(wanted.samples.slice().buffer))).toBe(
          true,
        );
        expect(outcome.samples.buffer).toBeInstanceOf(ArrayBuffer);
        expect(outcome.bytes && Buffer.compare(outcome.bytes, wanted.bytes ?? Buffer.alloc(0))).toBe(wanted.bytes && 0);
      }
    }
    expect(await decoder.decode([])).toEqual([]);
  });

  it('puts samples where they are wanted, if they fit', async () => {
    const room = new Float32Array(1000);
    const divide = (): Float32Array<ArrayBuffer>[] => [0, 1].map((at) => room.subarray(at * 500, (at + 1) * 500));
    const outcomes = await decoder.decode(
      [writeWav('fits.wav', 0.25), writeWav('long.wav', 0.5, 501)],
      undefined,
      divide,
    );
    expect(samplesOf(outcomes[0])).toMatchObject({ buffer: room.buffer, byteOffset: 0, length: 400 });
    expect(samplesOf(outcomes[1]).buffer).not.toBe(room.buffer);
    expect(levelsOf(outcomes)).toEqual([0.25, 0.5]);
    expect([...new Set(room)]).toEqual([0.25, 0]);
  });

  it('has room for items of any length, and keeps apart what it gave', async () => {
    const lengths = [10, (1 << 20) + 1, 700_000, 600_000];
    const requests = lengths.map((frames, at) => writeWav(`length-${at}.wav`, (at + 1) / 16, frames));
    const outcomes = [...(await decoder.decode(requests)), ...(await decoder.decode(requests.toReversed()))];
    const expected = lengths.map((frames, at) => [frames, (at + 1) / 16]);
    const given = outcomes.map(samplesOf).map((samples) => {
      const [level] = samples;
      return [samples.length, samples.every((sample) => sample === level) && level];
    });
    expect(given).toEqual([...expected, ...expected.toReversed()]);
  });

  it('leaves the event loop free', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const startMs = performance.now();
    await decoder.decode([writeWav('slow-1.wav', 0.25), writeWav('slow-2.wav', 0.5)]);
    clearInterval(timer);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(SLOW_MS);
    expect(turns).toBeGreaterThan(5);
  });

  it('stops at the signal in the middle, at once, and goes on with others', async () => {
    const slow = [1, 2, 3, 4, 5, 6, 7, 8].map((k) => writeWav(`slow-${k}.wav`, 0.75));
    const sound = writeWav('sound.wav', 0.25);
    const controller = new AbortController();
    const room = new Float32Array(8 * 400);
    const divide = (): Float32Array<ArrayBuffer>[] => slow.map((_, at) => room.subarray(at * 400, (at + 1) * 400));
    const decoding = decoder.decode(slow, controller.signal, divide);
    const others = decoder.decode([sound, sound]);
    setTimeout(() => controller.abort(new Error('enough')), 20);
    const startMs = performance.now();
    await expect(decoding).rejects.toThrow('enough');
    expect(performance.now() - startMs).toBeLessThan(SLOW_MS);
    expect(levelsOf(await others)).toEqual([0.25, 0.25]);
    // Each thread was at its first item; the rest was left out.
    expect(performance.now() - startMs).toBeLessThan(3 * SLOW_MS);
    expect(levelsOf(await decoder.decode([sound]))).toEqual([0.25]);
    expect([...new Set(room)]).toEqual([0]);
    await expect(decoder.decode([sound], controller.signal)).rejects.toThrow('enough');
  });

  it('hears one signal for any number of calls', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    const requests = Array.from({ length: 8 }, () => writeWav('sound.wav', 0.25));
    await Promise.all(Array.from({ length: 8 }, () => decoder.decode(requests, signal)));
    expect(add).toHaveBeenCalledTimes(1);
    expect(remove).toHaveBeenCalledTimes(1);
  });

  it('fails for what is no fault of an item', async () => {
    await expect(decoder.decode([writeWav('broken.wav', 0.5)])).rejects.toThrow('no such state');
    expect(levelsOf(await decoder.decode([writeWav('sound.wav', 0.25)]))).toEqual([0.25]);
  });

  it('a thread that ends costs the item that it ends at', async () => {
    const names = ['0.wav', 'exit.wav', '2.wav'];
    const outcomes = await decoder.decode(names.map((name, k) => writeWav(name, (k + 1) / 16)));
    expect(levelsOf(outcomes)).toEqual([1 / 16, 'corrupt_recording', 3 / 16]);
    const message = expect.stringMatching(/exit\.wav": decoding it ended its thread \(exit code 3\)$/u);
    expect(outcomes[1]).toMatchObject({ message });
  });

  it('needs no threads where there is one core', async () => {
    await using own = new ThreadDecoder({ threads: 1, program: NO_PROGRAM });
    const request = { ...writeWav('core.wav', 0.25, 20 * REQUEST_RATE), speed: 1.1 };
    const startMs = performance.now();
    // Longer than what is small.
    for (let call = 0; performance.now() - startMs < 250; call += 1) {
      const kinds = (await own.decode([request, request])).map(({ kind }) => kind);
      expect(kinds, `${call}`).toEqual(['decoded', 'decoded']);
    }
  });

  it('says when there are no threads to be had', async () => {
    await using own = new ThreadDecoder({ threads: 1, aloneMs: 0, program: NO_PROGRAM });
    const error: unknown = await own.decode([writeWav('sound.wav', 0.25)]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CutroomError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^Cannot start a decoder thread: .*none\.js/u) });
  });
});

describe('ThreadDecoder with small work', () => {
  it('needs no threads', async () => {
    const requests = [writeWav('i.wav', 0.25), requestOf(path.join(folder, 'none')), writeWav('j.wav', 0.5)];
    await using own = new ThreadDecoder({ program: NO_PROGRAM });
    const calls = await Promise.all([own.decode(requests), own.decode(requests.toReversed())]);
    expect(calls.map(levelsOf)).toEqual([
      [0.25, 'missing_recording', 0.5],
      [0.5, 'missing_recording', 0.25],
    ]);
    own.recycle(calls.flat());
    const stopped = own.decode(requests, AbortSignal.abort(new Error('enough')));
    await expect(stopped).rejects.toThrow('enough');
  });
});

describe('ThreadDecoder.close()', () => {
  it('lets threads end what they are at, and takes nothing more', async () => {
    const startMs = performance.now();
    const waiting = Array.from({ length: 40 }, () => writeWav('slow.wav', 0.5));
    const ended = expect(decoder.decode(waiting)).rejects.toThrow('closed');
    await decoder.close();
    await ended;
    expect(performance.now() - startMs).toBeLessThan(10 * SLOW_MS);
    await expect(decoder.decode([writeWav('f.wav', 0.25)])).rejects.toThrow('The decoder is closed');
    await decoder.close();
  });
});
