// Cuts spans as `cut` does, up to the encoder: the samples are collected as they come out of the resampler.
import { setImmediate } from 'node:timers/promises';
import { cutSpans } from '#cutroom/audio/cut-spans.js';
import type { CutSpansOptions, FrameSpan, RecordingFacts } from '#cutroom/audio/cut-spans.js';
import type { AudioFormat } from '#cutroom/audio/sample-rates.js';
import { createEncoder } from '#cutroom/audio/snippet-encoder.js';
import type { ChannelMix } from '#cutroom/audio/channel-mix.js';
import type { SnippetEncoder } from '#cutroom/audio/snippet-encoder.js';
import type { DecodedAudio } from '../support/decode.js';

/** What came of one span. */
export interface MemorySpan {
  samples: Float32Array;
  /** Where the span ended; undefined for one that was missed. */
  endFrame: number | undefined;
  /** The recording's length in frames, for a span that starts past it. */
  missedAt: number | undefined;
}

export interface MemoryCut {
  spans: MemorySpan[];
  facts: RecordingFacts;
}

/** Cuts spans, given in the order of their first frames, out of a recording. */
export async function cutToMemory(
  path: string,
  spans: readonly FrameSpan[],
  options: Pick<CutSpansOptions, 'targetRate'> & Partial<Pick<CutSpansOptions, 'mix'>>,
): Promise<MemoryCut> {
  const collected = spans.map((): MemorySpan & { pieces: Float32Array[] } => ({
    samples: new Float32Array(0),
    endFrame: undefined,
    missedAt: undefined,
    pieces: [],
  }));
  const facts = await cutSpans(
    path,
    () => spans,
    (index) => {
      const span = collected[index];
      if (span === undefined) throw new RangeError(`There is no span ${index}`);
      return {
        write: (samples, count) => void span.pieces.push(samples.slice(0, count)),
        finish: (samples, endFrame) => {
          span.samples = joined(span.pieces);
          if (span.samples.length !== samples) throw new Error(`${span.samples.length} samples, said to be ${samples}`);
          span.endFrame = endFrame;
        },
        miss: (audioFrames) => void (span.missedAt = audioFrames),
      };
    },
    { mix: 'average', onPosition: () => setImmediate(), ...options },
  );
  return { spans: collected.map(({ samples, endFrame, missedAt }) => ({ samples, endFrame, missedAt })), facts };
}

/** An encoded file in memory. */
export interface EncodedFile {
  bytes: Buffer;
  clippedSamples: number;
  invalidSamples: number;
}

/** Encodes samples as one file, in pieces of `pieceSamples`. */
export function encodeInMemory(
  format: AudioFormat,
  sampleRate: number,
  samples: Float32Array,
  { name = 'snippet', pieceSamples = 1000, compressionLevel = null as number | null } = {},
): EncodedFile {
  const pieces: Buffer[] = [];
  const patches: { offset: number; bytes: Buffer }[] = [];
  const sink = {
    write: (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes)),
    patch: (offset: number, bytes: Uint8Array) => void patches.push({ offset, bytes: Buffer.from(bytes) }),
  };
  using encoder: SnippetEncoder = createEncoder(format, sampleRate, name, sink, compressionLevel);
  for (let at = 0; at < samples.length; at += pieceSamples) {
    const piece = samples.subarray(at, at + pieceSamples);
    encoder.write(piece, piece.length);
  }
  encoder.finish();
  const bytes = Buffer.concat(pieces);
  for (const patch of patches) patch.bytes.copy(bytes, patch.offset);
  return { bytes, clippedSamples: encoder.clippedSamples, invalidSamples: encoder.invalidSamples };
}

/** The samples of a WAV as `WavEncoder` writes it. */
export function samplesOfWav(wav: Buffer): Int16Array {
  return Int16Array.from({ length: (wav.length - 44) / 2 }, (_, k) => wav.readInt16LE(44 + 2 * k));
}

/** One channel of a decoded file, or the average of all. */
export function channelOf({ samples, frames, channels }: DecodedAudio, mix: ChannelMix): Float64Array {
  if (mix !== 'average') return new Float64Array(frames).map((_, n) => samples[n * channels + mix] ?? 0);
  return new Float64Array(frames).map((_, n) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += samples[n * channels + channel] ?? 0;
    return sum / channels;
  });
}

/** The largest difference of two signals of one length. */
export function worstDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  let worst = 0;
  for (let k = 0; k < a.length; k += 1) worst = Math.max(worst, Math.abs((a[k] ?? 0) - (b[k] ?? 0)));
  return worst;
}

function joined(pieces: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
