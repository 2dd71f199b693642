// Rows of hours: converted, measured and inspected in the memory that a short one needs.
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryUsage } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { convertRecording } from '#cutroom/audio/convert-recording.js';
import type { ConvertRequest, ConvertedFacts } from '#cutroom/audio/convert-recording.js';
import { inspectRecording } from '#cutroom/audio/inspect-recording.js';
import { measureRecording } from '#cutroom/audio/measure-recording.js';
import { buildWavAround } from '../../support/wav-files.js';

const RATE = 16_000;
const HOURS = 3;
const FRAMES = HOURS * 3600 * RATE;

let folder = '';
let recording = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-long-'));
  recording = path.join(folder, 'long.wav');
  const { head } = buildWavAround(FRAMES * 2, { sampleRate: RATE });
  const file = openSync(recording, 'w');
  writeSync(file, head);
  ftruncateSync(file, head.length + FRAMES * 2);
  closeSync(file);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs `work` and tells by how many MB the process grew at most; what is called with positions watches it. */
async function growthMb(work: (watch: () => Promise<void>) => Promise<unknown>): Promise<number> {
  const before = memoryUsage.rss();
  let peak = before;
  await work(async () => {
    peak = Math.max(peak, memoryUsage.rss());
    await setImmediate();
  });
  return (Math.max(peak, memoryUsage.rss()) - before) / 2 ** 20;
}

async function convert(request: Partial<ConvertRequest>, watch: () => Promise<void>): Promise<ConvertedFacts> {
  return await convertRecording(
    {
      path: recording,
      format: 'flac',
      sampleRate: RATE,
      channel: 'average',
      compressionLevel: null,
      name: 'x',
      ...request,
    },
    { write: () => undefined, patch: () => undefined },
    watch,
  );
}

test.each([
  ['FLAC, as it is', { format: 'flac' }, FRAMES],
  ['WAV, resampled', { format: 'wav', sampleRate: 8000 }, FRAMES / 2],
  ['MP3 of half an hour', { format: 'mp3', span: { start: 0, end: 1_800_000_000 } }, 1800 * RATE],
] as const)(
  'convertRecording() of 3 hours needs no more memory than it reads at once: %s',
  async (_, request, samples) => {
    // What is loaded at the first use does not count.
    await convert({ ...request, span: { start: 0, end: 60_000_000 } }, () => setImmediate());
    const grown = await growthMb(async (watch) => {
      expect(await convert(request, watch)).toMatchObject({ samples });
    });
    // 3 hours are 345 MB of samples.
    expect(grown).toBeLessThan(100);
  },
);

test('measureRecording() and inspectRecording() of 3 hours need no more memory than they read at once', async () => {
  const grown = await growthMb(async (watch) => {
    expect(await measureRecording(recording, watch)).toMatchObject({ frames: FRAMES });
    expect(await inspectRecording(recording, undefined, watch)).toMatchObject({ frames: FRAMES, isSilent: true });
  });
  expect(grown).toBeLessThan(100);
});
