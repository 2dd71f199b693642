// The first pass over a longer file that has to be decoded: in steps, with memory that hangs on the index alone.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryUsage } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WindowReader } from '#cutroom/audio/window-reader.js';
import { MediaWriter } from '../../../scripts/media-writer.js';
import { makeNoise, toInt16 } from '../../support/signals.js';

const RATE = 44_100;
const REPEATS = 36;
let folder = '';
let long = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-first-pass-'));
  const short = path.join(folder, 'short.aac');
  const track = { codec: 'aac', sampleRate: RATE, channels: 2, bitRate: 96_000, options: { aac_pns: '0' } };
  const writer = new MediaWriter(short, { container: 'adts', tracks: [track] });
  writer.write(toInt16(makeNoise(2 * 10 * RATE, 1, 5, 0.2)));
  writer.close();
  long = path.join(folder, 'long.aac');
  writeFileSync(long, Buffer.concat(Array.from({ length: REPEATS }, () => readFileSync(short))));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('WindowReader', () => {
  it('prepare() makes an index of AAC in short steps, whose memory comes back', async () => {
    using reader = new WindowReader({ sampleRate: null, mono: true });
    let [steps, highestBytes] = [0, 0];
    const before = memoryUsage().rss;
    await reader.prepare(long, async () => {
      steps += 1;
      await setImmediate();
      highestBytes = Math.max(highestBytes, memoryUsage().rss);
    });
    // Six minutes, of 43 packets a second, 256 a step.
    expect(steps).toBeGreaterThan(50);
    // Blocks of all packets together are 127 MB, twice.
    expect(highestBytes - before).toBeLessThan(100 * 2 ** 20);
    const started = performance.now();
    const { audioSamples } = reader.read(long, 355 * RATE, RATE);
    expect(audioSamples).toBe(RATE);
    // It is read from the middle, and not decoded from its start.
    expect(performance.now() - started).toBeLessThan(500);
  });

  it('prepare() stops where it is told to', async () => {
    using reader = new WindowReader({ sampleRate: null, mono: true });
    let steps = 0;
    const stopped = reader.prepare(long, async () => {
      await setImmediate();
      if ((steps += 1) === 5) throw new Error('stopped');
    });
    await expect(stopped).rejects.toThrow('stopped');
    expect(steps).toBe(5);
  });
});
