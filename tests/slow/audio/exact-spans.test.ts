// Random spans of long recordings at usual rates against the full decode, many for each kind of file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MediaWriter } from '../../../scripts/media-writer.js';
import { channelOf, cutToMemory, worstDifference } from '../../audio/cut-to-memory.js';
import { decodeFile } from '../../support/decode.js';
import { ENCODED_KINDS, extensionOf, writeEncoded } from '../../support/encode.js';
import { interleaveChannels, makeNoise, makeSpeechBursts, makeSweep, toInt16 } from '../../support/signals.js';

const SECONDS = 60;
const RATE = 44_100;
const ONE_LSB = 1 / 2 ** 15;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-exact-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Speech with noise on one side, a loud sweep on the other. */
function makeStereo(rate: number): Float64Array {
  const frames = SECONDS * rate + 77;
  const noise = makeNoise(frames, 1, 3, 0.02);
  const speech = makeSpeechBursts(frames, rate, { pauseSeconds: 1.7 }).map((x, n) => x + (noise[n] ?? 0));
  return interleaveChannels(speech, makeSweep(frames, rate, 50, rate / 3, 0.8));
}

async function expectRandomSpans(file: string, limit: number): Promise<void> {
  const full = decodeFile(file);
  const mono = { 0: channelOf(full, 0), average: channelOf(full, 'average') };
  const first = fc.integer({ min: 0, max: full.frames + full.sampleRate });
  const spans = fc.array(fc.tuple(first, fc.integer({ min: 1, max: 3 * full.sampleRate })), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(spans, fc.constantFrom(0, 'average'), async (drawn, mix) => {
      const sorted = drawn
        .map(([firstFrame, size]) => ({ firstFrame, endFrame: firstFrame + size }))
        .toSorted((a, b) => a.firstFrame - b.firstFrame);
      const cut = await cutToMemory(file, sorted, { targetRate: full.sampleRate, mix: mix as 0 | 'average' });
      for (const [k, { firstFrame, endFrame }] of sorted.entries()) {
        const slice = mono[mix as 0 | 'average'].slice(firstFrame, endFrame);
        expect(cut.spans[k]?.missedAt).toBe(slice.length === 0 ? full.frames : undefined);
        expect(worstDifference(cut.spans[k]?.samples ?? [], slice)).toBeLessThanOrEqual(limit);
      }
    }),
    { numRuns: 15, seed: 9 },
  );
}

describe('cutSpans()', () => {
  const stereo = makeStereo(RATE);
  it.each(ENCODED_KINDS.filter((kind) => kind !== 'aac-encrypted'))('of 44.1 kHz stereo in %s', async (kind) => {
    const file = path.join(folder, `${kind}.${extensionOf(kind)}`);
    writeEncoded(file, { samples: stereo, sampleRate: RATE, channels: 2 }, kind);
    const isExact = /flac|alac/u.test(kind);
    // The average of 24-bit samples has a bit more than a float holds.
    await expectRandomSpans(file, isExact ? 2 ** -25 : ONE_LSB);
  });

  it.each([
    [6_000, 'voip', '40'],
    [12_000, 'voip', '20'],
    [16_000, 'voip', '60'],
    [24_000, 'audio', '20'],
    [32_000, 'voip', '10'],
    [64_000, 'lowdelay', '2.5'],
    [128_000, 'audio', '10'],
  ])('of Opus at %i bit/s for %s, packets of %s ms', async (bitRate, application, duration) => {
    const rate = 16_000;
    const frames = SECONDS * rate;
    const signals = {
      speech: makeSpeechBursts(frames, rate, { pauseSeconds: 0.5 }),
      sweep: makeSweep(frames, rate, 100, 3000, 0.8),
    };
    for (const samples of Object.values(signals)) {
      const file = path.join(folder, 'opus.opus');
      const track = { codec: 'libopus', sampleRate: rate, channels: 1, bitRate };
      const writer = new MediaWriter(file, {
        container: 'opus',
        tracks: [{ ...track, options: { application, frame_duration: duration } }],
      });
      writer.write(toInt16(samples));
      writer.close();
      await expectRandomSpans(file, ONE_LSB);
    }
  });
});
