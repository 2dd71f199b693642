// Audio that no span needs is passed over, and what lies behind it stands where it stood.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { FrameSpan } from '#cutroom/audio/cut-spans.js';
import { RecordingReader } from '#cutroom/audio/recording-reader.js';
import { withZeroTotalSamples } from '../../support/broken-files.js';
import { decodeFile } from '../../support/decode.js';
import { ENCODED_KINDS, extensionOf, writeEncoded } from '../../support/encode.js';
import type { EncodedKind } from '../../support/encode.js';
import { chained, withJump, withShiftedGranules } from '../../support/ogg-pages.js';
import { hashUniform, makeNoise, makeSpeechBursts, quantize } from '../../support/signals.js';
import { buildWav, listChunk } from '../../support/wav-files.js';
import type { WavOptions } from '../../support/wav-files.js';
import { cutToMemory, worstDifference } from '../../audio/cut-to-memory.js';

const RATE = 8_000;
const FRAMES = 45 * RATE + 77;
const noise = makeNoise(FRAMES, 1, 3, 0.05);
const bursts = makeSpeechBursts(FRAMES, RATE, { pauseSeconds: 1.7 });
const SAMPLES = quantize(
  bursts.map((x, n) => x + (noise[n] ?? 0)),
  16,
);
const ONE_LSB = 1 / 2 ** 15;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-skip-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

function encoded(kind: EncodedKind): string {
  const file = path.join(folder, `${kind}.${extensionOf(kind)}`);
  if (existsSync(file)) return file;
  writeEncoded(file, { samples: SAMPLES, sampleRate: RATE, channels: 1 }, kind);
  return file;
}

function wav(options: WavOptions): Buffer {
  return buildWav(SAMPLES, { sampleRate: RATE, ...options });
}

/** One or two short spans in each cut, anywhere in the recording and beyond its end. */
function sparseSpans(frames: number, rate: number): FrameSpan[][] {
  const span = (firstFrame: number, length: number): FrameSpan => ({ firstFrame, endFrame: firstFrame + length });
  const random = Array.from({ length: 5 }, (_, k) => {
    const firstFrame = Math.floor(hashUniform(k, frames) * (frames - 20 * rate));
    const length = 1 + Math.floor(hashUniform(k + 100, frames) * rate);
    return [span(firstFrame, length), span(firstFrame + 14 * rate + k, length)];
  });
  return [
    [span(frames - 1, 1)],
    [span(frames - 700, 700)],
    [span(frames, 1)],
    [span(frames + 30 * rate, 10)],
    [span(rate, 10), span(frames + 30 * rate, 10), span(frames + 60 * rate, 10)],
    ...random,
  ];
}

async function expectSlices(file: string, full: Float64Array, rate: number): Promise<void> {
  for (const spans of sparseSpans(full.length, rate)) {
    const cut = await cutToMemory(file, spans, { targetRate: rate });
    for (const [k, { firstFrame, endFrame }] of spans.entries()) {
      const slice = full.slice(firstFrame, endFrame);
      expect([firstFrame, cut.spans[k]?.missedAt]).toEqual([firstFrame, slice.length === 0 ? full.length : undefined]);
      expect(worstDifference(cut.spans[k]?.samples ?? [], slice)).toBeLessThan(ONE_LSB);
    }
  }
}

/** How many blocks are decoded for the given spans. */
async function countBlocks(file: string, spans: FrameSpan[], rate: number): Promise<number> {
  const next = vi.spyOn(RecordingReader.prototype, 'next');
  try {
    await cutToMemory(file, spans, { targetRate: rate });
    return next.mock.calls.length;
  } finally {
    next.mockRestore();
  }
}

/** Decodes no more than a fifth of the 30 s before a span. */
async function isSkipping(file: string, rate: number): Promise<boolean> {
  const at = 30 * rate;
  const all = await countBlocks(file, [{ firstFrame: 0, endFrame: at + 1 }], rate);
  const ends = [
    { firstFrame: 0, endFrame: 1 },
    { firstFrame: at, endFrame: at + 1 },
  ];
  const blocks = await countBlocks(file, ends, rate);
  if (blocks > all / 5) expect(blocks).toBe(all);
  return blocks <= all / 5;
}

describe('cutSpans()', () => {
  it('passes over audio in exactly the kinds of file that have exact places', async () => {
    const skipping: string[] = [];
    for (const kind of ENCODED_KINDS.filter((each) => each !== 'aac-encrypted')) {
      if (await isSkipping(encoded(kind), kind.startsWith('opus') ? 48_000 : RATE)) skipping.push(kind);
    }
    expect(skipping).toEqual(['flac', 'flac-24', 'mp3-cbr', 'mp3-vbr', 'mp3-cbr-bare', 'mp3-vbr-bare', 'opus']);
    for (const container of ['riff', 'rf64', 'w64'] as const) {
      expect(await isSkipping(write('skip.wav', wav({ container })), RATE)).toBe(true);
    }
    expect(await isSkipping(write('skip.flac', withZeroTotalSamples(readFileSync(encoded('flac')))), RATE)).toBe(true);
  });

  for (const kind of ['flac', 'flac-24', 'mp3-cbr', 'mp3-vbr', 'mp3-cbr-bare', 'mp3-vbr-bare', 'opus'] as const) {
    it(`places sparse spans of ${kind}`, async () => {
      const full = decodeFile(encoded(kind));
      await expectSlices(encoded(kind), full.samples, full.sampleRate);
    });
  }

  const wavs: Record<string, WavOptions> = {
    'of 16 bits': {},
    'without a length, LIST after': { dataSize: 0xffffffff, riffSize: 0xffffffff, after: [listChunk()] },
    'with data size 0, LIST before and after': { dataSize: 0, before: [listChunk(27)], after: [listChunk()] },
    'of floats': { encoding: 'f32' },
    'of 24 bits, extensible': { encoding: 's24', fmtBytes: 40 },
    'in RF64': { container: 'rf64', after: [listChunk()] },
    'in Wave64': { container: 'w64', after: [listChunk()] },
  };
  for (const [name, options] of Object.entries(wavs)) {
    it(`places sparse spans of a WAV ${name}`, async () => {
      await expectSlices(write('sparse.wav', wav(options)), SAMPLES, RATE);
    });
  }

  it('places sparse spans of a FLAC without a total', async () => {
    await expectSlices(write('total.flac', withZeroTotalSamples(readFileSync(encoded('flac')))), SAMPLES, RATE);
  });

  it('places sparse spans of Opus streams that start late, jump or are joined', async () => {
    const opus = readFileSync(encoded('opus'));
    const { samples } = decodeFile(encoded('opus'));
    const twice = new Float64Array([...samples, ...samples]);
    await expectSlices(write('late.opus', withShiftedGranules(opus, 48_000_000)), samples, 48_000);
    await expectSlices(write('jump.opus', withJump(opus, 7 * 48_000)), samples, 48_000);
    await expectSlices(write('joined.opus', chained(opus, opus)), twice, 48_000);
  });

  it('places sparse spans of joined MP3s', async () => {
    for (const kind of ['mp3-vbr', 'mp3-cbr-bare'] as const) {
      const mp3 = readFileSync(encoded(kind));
      const joined = write('joined.mp3', Buffer.concat([mp3, mp3]));
      await expectSlices(joined, decodeFile(joined).samples, RATE);
    }
  });

  it('ends at the length that a FLAC promises although another is joined to it', async () => {
    const flac = readFileSync(encoded('flac'));
    const joined = write('joined.flac', Buffer.concat([flac, flac]));
    const spans = [
      { firstFrame: 20 * RATE, endFrame: 21 * RATE },
      { firstFrame: 80 * RATE, endFrame: 81 * RATE },
    ];
    const cut = await cutToMemory(joined, spans, { targetRate: RATE });
    expect(worstDifference(cut.spans[0]?.samples ?? [], SAMPLES.slice(20 * RATE, 21 * RATE))).toBe(0);
    expect(cut.spans[1]?.missedAt).toBe(FRAMES);
  });
});
