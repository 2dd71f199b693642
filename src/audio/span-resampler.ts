import type { ChannelLayout, Frame } from 'node-av/lib';
import type { ChannelMix } from './channel-mix.js';
import { DecimatingResampler } from './decimating-resampler.js';
import { LibraryResampler } from './library-resampler.js';

/** What a resampler is made for; one can serve span after span of the same input. */
export interface ResamplerInput {
  layout: ChannelLayout;
  /** The codec library's sample format. */
  format: Frame['format'];
  /** Hz. */
  sampleRate: number;
}

/**
 * Mixes spans of a recording to mono and brings them to another rate.
 *
 * The output of a span is what resampling the whole recording gives on a grid that begins at the span's first frame:
 *
 * ```
 * recording  ····|━━━━━━━━ fed ━━━━━━━━━━━━━━━━━━|····
 *                |context |  span        |context|
 * output                  0 1 2 … ceil(frames·target/source)
 * ```
 *
 * Before its first frame and after its last one a recording counts as silence.
 */
export interface SpanResampler extends Disposable {
  /** Frames of context that a span needs on each side. */
  readonly contextFrames: number;
  /** The samples that the last call of `push` or `flush` made; the first so many of them hold as it answered. */
  readonly samples: Float32Array<ArrayBuffer>;

  /** The number of samples that a span of `frames` gives. */
  outputLength(frames: number): number;

  /**
   * Begins a span. What is pushed next must start at `fedFrom`, at least `contextFrames` before `firstFrame` unless it
   * is the start of the recording.
   */
  begin(firstFrame: number, fedFrom: number): void;

  /**
   * Feeds one decoded block of `frames` frames.
   *
   * @param wanted how many samples are of use at most; there may be more.
   * @returns how many samples of the span came out, in `samples`.
   */
  push(block: Frame, frames: number, wanted: number): number;

  /** Feeds silence for the end of the recording and returns what is left, in pieces, until it answers 0. */
  flush(isFirst: boolean): number;
}

export function createResampler(input: ResamplerInput, targetRate: number, mix: ChannelMix): SpanResampler {
  return DecimatingResampler.serves(input.sampleRate, targetRate)
    ? new DecimatingResampler(input, targetRate, mix)
    : new LibraryResampler(input, targetRate, mix);
}
