// Spans whose ends are frames of the recording, by times in whole microseconds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toMicros } from '#cutroom/audio/times.js';
import { decodeFile } from '../support/decode.js';
import { firstDifference, makeNoise, quantize } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';
import { convertToMemory } from './convert-to-memory.js';

const FRAMES = 20_000;
const RATES = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000];
const SAMPLES = quantize(makeNoise(FRAMES), 16);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-aligned-'));
  for (const rate of RATES) writeFileSync(path.join(folder, `${rate}.wav`), buildWav(SAMPLES, { sampleRate: rate }));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('convertRecording()', () => {
  it('takes the very frames that a start and a duration of whole frames mean, at every rate', async () => {
    const frame = integer({ min: 0, max: FRAMES - 2 });
    await assert(
      asyncProperty(constantFrom(...RATES), frame, frame, async (rate, one, other) => {
        const first = Math.min(one, other);
        const end = Math.max(one, other) + 1;
        const start = toMicros(first / rate);
        const span = { start, end: start + toMicros((end - first) / rate) };
        const { bytes, facts } = await convertToMemory({ path: path.join(folder, `${rate}.wav`), format: 'wav', span });
        expect(facts).toMatchObject({ samples: end - first, audioEndSeconds: undefined });
        const file = path.join(folder, 'made.wav');
        writeFileSync(file, bytes);
        expect(firstDifference(decodeFile(file).samples, SAMPLES.slice(first, end))).toBe(-1);
      }),
      { numRuns: 200 },
    );
  });

  it('takes one frame at least, of the shortest span', async () => {
    for (const start of [0, 62, 63, 500_062, 500_063]) {
      const span = { start, end: start + 1 };
      const { facts } = await convertToMemory({ path: path.join(folder, '16000.wav'), format: 'wav', span });
      expect(facts.samples).toBe(1);
    }
  });
});
