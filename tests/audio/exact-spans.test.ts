// Spans against the same slice of the full decode, for every kind of encoded file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FrameSpan } from '#cutroom/audio/cut-spans.js';
import { decodeFile } from '../support/decode.js';
import { ENCODED_KINDS, extensionOf, writeEncoded } from '../support/encode.js';
import type { EncodedKind } from '../support/encode.js';
import { hashUniform, interleaveChannels, makeNoise, makeSpeechBursts, quantize, toInt16 } from '../support/signals.js';
import { channelOf, cutToMemory, encodeInMemory, samplesOfWav, worstDifference } from './cut-to-memory.js';

const RATE = 8_000;
const FRAMES = 33 * RATE + 77;
const KINDS = ENCODED_KINDS.filter((kind) => kind !== 'aac-encrypted');
/** Frames of a decoded file: what was encoded, at the rate that comes back, and what the format cannot say is padding. */
const GOLDEN_FRAMES: Partial<Record<EncodedKind, number>> = {
  'mp3-cbr-bare': 265_536,
  'mp3-vbr-bare': 265_536,
  'aac-adts': 265_216,
  opus: FRAMES * 6,
  'opus-webm': FRAMES * 6,
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-exact-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Spans at the start, in the middle, at the end and past it, with gaps of more than 10 s between. */
function spansOf(frames: number, rate: number): FrameSpan[] {
  const random = (k: number, reach: number): number => Math.floor(hashUniform(k, frames) * reach);
  const middle = 14 * rate + random(1, rate);
  const end = 28 * rate + random(2, rate);
  return [
    { firstFrame: 0, endFrame: 1 },
    { firstFrame: 0, endFrame: rate + random(3, rate) },
    { firstFrame: random(4, rate), endFrame: 2 * rate },
    { firstFrame: middle, endFrame: middle + 1 + random(5, rate) },
    { firstFrame: middle + 10, endFrame: middle + 2 * rate },
    { firstFrame: end, endFrame: end + 100 },
    { firstFrame: frames - 1000, endFrame: frames },
    { firstFrame: frames - 777, endFrame: frames + rate },
    { firstFrame: frames - 1, endFrame: frames },
    { firstFrame: frames, endFrame: frames + 1 },
    { firstFrame: frames + 20 * rate, endFrame: frames + 21 * rate },
  ].toSorted((a, b) => a.firstFrame - b.firstFrame);
}

const noise = makeNoise(FRAMES, 1, 3, 0.05);
const STEREO = interleaveChannels(
  makeSpeechBursts(FRAMES, RATE, { pauseSeconds: 1.7 }).map((x, n) => x + (noise[n] ?? 0)),
  makeSpeechBursts(FRAMES, RATE, { burstSeconds: 0.9, seed: 5, amplitude: 0.3 }),
);
const STEREO_16 = quantize(STEREO, 16);

function writeStereo(kind: EncodedKind): string {
  const file = path.join(folder, `${kind}.${extensionOf(kind)}`);
  const samples = kind === 'flac-24' ? STEREO : STEREO_16;
  writeEncoded(file, { samples, sampleRate: RATE, channels: 2 }, kind);
  return file;
}

describe.each(KINDS)('cutSpans() of %s', (kind) => {
  it('gives slices of the full decode, for one channel and for the average', async () => {
    const file = writeStereo(kind);
    const full = decodeFile(file);
    expect(full.frames).toBe(GOLDEN_FRAMES[kind] ?? FRAMES);
    const isLossless = /flac|alac/u.test(kind);
    const spans = spansOf(full.frames, full.sampleRate);
    for (const mix of [1, 'average'] as const) {
      const expected = channelOf(full, mix);
      const cut = await cutToMemory(file, spans, { targetRate: full.sampleRate, mix });
      for (const [k, { firstFrame, endFrame }] of spans.entries()) {
        const slice = expected.slice(firstFrame, endFrame);
        const got = cut.spans[k];
        if (slice.length === 0) {
          expect(got).toMatchObject({ missedAt: full.frames, endFrame: undefined });
          continue;
        }
        expect([got?.samples.length, got?.endFrame]).toEqual([slice.length, Math.min(endFrame, full.frames)]);
        if (isLossless) {
          const wav = encodeInMemory('wav', full.sampleRate, got?.samples ?? new Float32Array(0));
          expect(samplesOfWav(wav.bytes)).toEqual(toInt16(slice));
        }
        expect(worstDifference(got?.samples ?? [], slice)).toBeLessThan(1 / 2 ** 15);
      }
    }
  });
});
