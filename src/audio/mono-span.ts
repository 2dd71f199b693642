import { AV_CHANNEL_ORDER_NATIVE } from 'node-av/constants';
import type { ChannelLayout, Frame } from 'node-av/lib';
import { positionedLayout } from './channel-weights.js';
import type { FrameSpan } from './cut-spans.js';
import { contextFramesOf } from './resampling-filter.js';
import { createResampler } from './span-resampler.js';
import type { SpanResampler } from './span-resampler.js';
import type { SpeedRatio } from './speed-ratio.js';

/** Of rates that have no small divisor in common, the filters of one take 100 MB. */
const RESAMPLER_SETS = 8;

/** Resamplers by what they take and give: their filters are made once. */
export class MonoResamplers implements Disposable {
  readonly #resamplers = new Map<string, SpanResampler>();

  /** The resampler of blocks like this one, which it is to be given with the rate of `ratio.source`. */
  take(block: Frame, layout: ChannelLayout, ratio: SpeedRatio): SpanResampler {
    const key = `${block.format} ${layout.nbChannels} ${layout.mask} ${ratio.source} ${ratio.target}`;
    const known = this.#resamplers.get(key);
    this.#resamplers.delete(key);
    const input = { layout, format: block.format, sampleRate: ratio.source };
    const resampler = known ?? createResampler(input, ratio.target, 'average');
    this.#resamplers.set(key, resampler);
    if (this.#resamplers.size > RESAMPLER_SETS) {
      const [oldest] = this.#resamplers;
      oldest?.[1][Symbol.dispose]();
      this.#resamplers.delete(oldest?.[0] ?? '');
    }
    return resampler;
  }

  [Symbol.dispose](): void {
    for (const resampler of this.#resamplers.values()) resampler[Symbol.dispose]();
    this.#resamplers.clear();
  }
}

/** Gives room for so many samples at least. */
export type TakeRoom = (samples: number) => Float32Array<ArrayBuffer>;

export interface MonoSpanOptions {
  resamplers: MonoResamplers;
  /** In frames of the recording. */
  span: FrameSpan;
  /** Of the recording, Hz. */
  sampleRate: number;
  ratio: SpeedRatio;
  /** Of the recording; a guess only makes room. */
  expectedFrames: number;
  takeRoom: TakeRoom;
}

/** A span of a recording that decoded blocks are fed to: mixed to mono and resampled. */
export class MonoSpan {
  readonly #options: MonoSpanOptions;
  /** What is decoded before it is of no use. */
  readonly #from: number;
  readonly #isRateTold: boolean;
  #samples: Float32Array<ArrayBuffer>;
  #written = 0;
  /** Samples of the whole span. */
  #wanted = Infinity;
  #resampler: SpanResampler | undefined;
  /** Set where the blocks come without channel positions, which the resampler wants spelt out in every block. */
  #layout: ChannelLayout | undefined;

  constructor(options: MonoSpanOptions) {
    const { span, ratio, expectedFrames } = options;
    this.#options = options;
    this.#from = Math.max(0, span.firstFrame - contextFramesOf(ratio.source, ratio.target));
    this.#isRateTold = ratio.source !== options.sampleRate;
    const frames = Math.max(0, Math.min(span.endFrame, expectedFrames) - span.firstFrame);
    this.#samples = options.takeRoom(Math.ceil((frames * ratio.target) / ratio.source));
  }

  /** The first frame that is needed. */
  get from(): number {
    return this.#from;
  }

  /** Feeds the block that begins at a frame of the recording; true once the span is full. */
  readonly push = (block: Frame, start: number, frames: number): boolean => {
    if (start + frames <= this.#from) return false;
    const { sampleRate, ratio } = this.#options;
    const resampler = this.#resampler ?? this.#begin(block, start);
    if (this.#layout !== undefined) block.channelLayout = this.#layout;
    // The resampler is told another rate than the recording has, where that is to be played faster or slower.
    if (this.#isRateTold) block.sampleRate = ratio.source;
    this.#keep(resampler, resampler.push(block, frames, this.#wanted - this.#written));
    if (this.#isRateTold) block.sampleRate = sampleRate;
    return this.#written >= this.#wanted;
  };

  /**
   * The samples of the span, once it is full or the recording has ended.
   *
   * @param audioFrames the recording's length, where it has ended.
   */
  finish(audioFrames: number | undefined): Float32Array<ArrayBuffer> {
    const resampler = this.#resampler;
    const { firstFrame, endFrame } = this.#options.span;
    const end = Math.min(endFrame, audioFrames ?? Infinity);
    if (resampler === undefined || end <= firstFrame) return new Float32Array(0);
    const wanted = resampler.outputLength(end - firstFrame);
    for (let isFirst = true; this.#written < wanted; isFirst = false) {
      const made = resampler.flush(isFirst);
      if (made === 0) throw new Error(`The resampler gave ${this.#written} of ${wanted} samples`);
      this.#keep(resampler, Math.min(made, wanted - this.#written));
    }
    return this.#samples.length === wanted ? this.#samples : this.#samples.subarray(0, wanted);
  }

  #begin(block: Frame, start: number): SpanResampler {
    const { resamplers, span, ratio } = this.#options;
    const told = block.channelLayout;
    if (told.order !== AV_CHANNEL_ORDER_NATIVE) this.#layout = positionedLayout(told.nbChannels);
    this.#resampler = resamplers.take(block, this.#layout ?? told, ratio);
    this.#resampler.begin(span.firstFrame, start);
    this.#wanted = this.#resampler.outputLength(span.endFrame - span.firstFrame);
    return this.#resampler;
  }

  #keep(resampler: SpanResampler, made: number): void {
    if (made === 0) return;
    if (this.#written + made > this.#samples.length) {
      const kept = this.#samples.subarray(0, this.#written);
      this.#samples = this.#options.takeRoom(Math.max(this.#written + made, Math.ceil(this.#samples.length * 1.5)));
      this.#samples.set(kept);
    }
    this.#samples.set(resampler.samples.subarray(0, made), this.#written);
    this.#written += made;
  }
}
