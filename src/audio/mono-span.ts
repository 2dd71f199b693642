import { AV_CHANNEL_ORDER_NATIVE } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { positionedLayout } from './channel-weights.js';
import type { FrameSpan } from './cut-spans.js';
import type { SpeedRatio } from './speed-ratio.js';
import { SpanResampler, contextFramesOf } from './span-resampler.js';

/** Of rates that have no small divisor in common, the filters of one take 100 MB. */
const RESAMPLER_SETS = 8;

/** Resamplers by what they take and give: their filters are made once. */
export class MonoResamplers implements Disposable {
  readonly #resamplers = new Map<string, SpanResampler>();

  /** The resampler of blocks like this one, which it is to be given with the rate of `ratio.source`. */
  take(block: Frame, ratio: SpeedRatio): SpanResampler {
    const layout = block.channelLayout;
    const key = `${block.format} ${layout.nbChannels} ${layout.mask} ${ratio.source} ${ratio.target}`;
    const known = this.#resamplers.get(key);
    this.#resamplers.delete(key);
    const input = { layout, format: block.format, sampleRate: ratio.source };
    const resampler = known ?? new SpanResampler(input, ratio.target, 'average');
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

/** A span that decoded audio is being fed to, from its first block on. */
export class MonoSpan {
  #samples: Float32Array<ArrayBuffer>;
  #written = 0;
  readonly #span: FrameSpan;
  readonly #ratio: SpeedRatio;
  readonly #resamplers: MonoResamplers;
  /** What is decoded before it is of no use. */
  readonly #from: number;
  #resampler: SpanResampler | undefined;

  /** @param expectedFrames of the recording; a guess only makes room. */
  constructor(resamplers: MonoResamplers, span: FrameSpan, ratio: SpeedRatio, expectedFrames: number) {
    this.#resamplers = resamplers;
    this.#span = span;
    this.#ratio = ratio;
    this.#from = span.firstFrame - contextFramesOf(ratio.source, ratio.target);
    const frames = Math.max(0, Math.min(span.endFrame, expectedFrames) - span.firstFrame);
    this.#samples = new Float32Array(Math.ceil((frames * ratio.target) / ratio.source));
  }

  /** Feeds the block that begins at a frame of the recording; true once the span is full. */
  readonly push = (block: Frame, start: number, frames: number): boolean => {
    if (start + frames <= this.#from) return false;
    if (block.channelLayout.order !== AV_CHANNEL_ORDER_NATIVE) block.channelLayout = positionedLayout(block.channels);
    const resampler = this.#resampler ?? this.#begin(block, start);
    const { sampleRate } = block;
    // The resampler is told another rate than the recording has, where that is to be played faster or slower.
    if (sampleRate !== this.#ratio.source) block.sampleRate = this.#ratio.source;
    this.#keep(resampler, resampler.push(block, frames));
    if (sampleRate !== this.#ratio.source) block.sampleRate = sampleRate;
    return this.#written >= resampler.outputLength(this.#span.endFrame - this.#span.firstFrame);
  };

  /**
   * The samples of the span, once it is full or the recording has ended.
   *
   * @param audioFrames the recording's length, where it has ended.
   */
  finish(audioFrames: number | undefined): Float32Array<ArrayBuffer> {
    const resampler = this.#resampler;
    const endFrame = Math.min(this.#span.endFrame, audioFrames ?? Infinity);
    if (resampler === undefined || endFrame <= this.#span.firstFrame) return new Float32Array(0);
    const wanted = resampler.outputLength(endFrame - this.#span.firstFrame);
    for (let isFirst = true; this.#written < wanted; isFirst = false) {
      const made = resampler.flush(isFirst);
      if (made === 0) throw new Error(`The resampler gave ${this.#written} of ${wanted} samples`);
      this.#keep(resampler, Math.min(made, wanted - this.#written));
    }
    return this.#samples.length === wanted ? this.#samples : this.#samples.slice(0, wanted);
  }

  #begin(block: Frame, start: number): SpanResampler {
    this.#resampler = this.#resamplers.take(block, this.#ratio);
    this.#resampler.begin(this.#span.firstFrame, start);
    return this.#resampler;
  }

  #keep(resampler: SpanResampler, made: number): void {
    if (this.#written + made > this.#samples.length) {
      const larger = new Float32Array(Math.max(this.#written + made, Math.ceil(this.#samples.length * 1.5)));
      larger.set(this.#samples.subarray(0, this.#written));
      this.#samples = larger;
    }
    this.#samples.set(resampler.samples.subarray(0, made), this.#written);
    this.#written += made;
  }
}
