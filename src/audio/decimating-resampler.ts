import type { Frame } from 'node-av/lib';
import type { ChannelMix } from './channel-mix.js';
import { decimatingFilter } from './decimating-filter.js';
import { CHUNK, MAX_STEP, MIN_STEP, decimatingKernel } from './decimating-kernel.js';
import { contextFramesOf } from './resampling-filter.js';
import { SignalConverter } from './signal-converter.js';
import type { ResamplerInput, SpanResampler } from './span-resampler.js';

/**
 * Brings spans to a rate that is a whole number of times lower, by a loop of our own. There all outputs lie on samples of the input, and the filter's
 * symmetry around them halves the multiplications. Samples that nobody wants are not made.
 *
 * ```
 * input   0 0|s s s s s s|s s s s …     what is left of the last block, then the next
 *         └─ half ─┴─ half ─┘
 * output           o     o     o
 * ```
 */
export class DecimatingResampler implements SpanResampler {
  readonly contextFrames: number;
  samples = new Float32Array(0);
  readonly #converter: SignalConverter;
  readonly #step: number;
  readonly #filter: Float32Array;
  /** Frames that an output needs on each side. */
  readonly #half: number;
  /** The samples so far that the next output needs, from `#half` before it on. */
  readonly #held: Float32Array;
  #heldCount = 0;
  /** Frames before those that the first output needs. */
  #toSkip = 0;

  /** Whether it is made for two rates. */
  static serves(sourceRate: number, targetRate: number): boolean {
    const step = sourceRate / targetRate;
    return Number.isInteger(step) && step >= MIN_STEP && step <= MAX_STEP;
  }

  constructor(input: ResamplerInput, targetRate: number, mix: ChannelMix) {
    this.contextFrames = contextFramesOf(input.sampleRate, targetRate);
    this.#step = input.sampleRate / targetRate;
    this.#filter = decimatingFilter(this.#step);
    this.#half = this.#filter.length - 1;
    this.#held = new Float32Array(2 * this.#half);
    this.#converter = new SignalConverter(input, mix);
  }

  outputLength(frames: number): number {
    return Math.ceil(frames / this.#step);
  }

  begin(firstFrame: number, fedFrom: number): void {
    const before = firstFrame - fedFrom;
    if (before < 0) throw new RangeError(`A span from frame ${firstFrame} on is fed from frame ${fedFrom} on`);
    this.#toSkip = Math.max(0, before - this.#half);
    this.#heldCount = Math.max(0, this.#half - before);
    this.#held.fill(0, 0, this.#heldCount);
  }

  push(block: Frame, frames: number, wanted: number): number {
    const from = Math.min(this.#toSkip, frames);
    this.#toSkip -= from;
    if (from === frames || wanted <= 0) return 0;
    this.#converter.push(block, frames);
    return this.#feed(this.#converter.channels[0], { from, to: frames, wanted });
  }

  flush(isFirst: boolean): number {
    return isFirst ? this.#feed(undefined, { from: 0, to: this.#half, wanted: Infinity }) : 0;
  }

  [Symbol.dispose](): void {
    this.#converter[Symbol.dispose]();
  }

  /** Takes samples, undefined is silence, until as many have come out as are wanted. */
  #feed(samples: Float32Array | undefined, { from, to, wanted }: { from: number; to: number; wanted: number }): number {
    this.#reserve(to - from);
    const kernel = decimatingKernel();
    let count = 0;
    for (let at = from; at < to && count < wanted; at += CHUNK) {
      const end = Math.min(to, at + CHUNK);
      const held = this.#heldCount + end - at;
      kernel.input.set(this.#held.subarray(0, this.#heldCount));
      if (samples === undefined) kernel.input.fill(0, this.#heldCount, held);
      else kernel.input.set(samples.subarray(at, end), this.#heldCount);

      const room = held - 2 * this.#half - 1;
      const made = room < 0 ? 0 : Math.floor(room / this.#step) + 1;
      const kept = Math.min(made, wanted - count);
      if (kept > 0) {
        kernel.run(this.#filter, this.#step, kept);
        this.samples.set(kernel.output.subarray(0, kept), count);
        count += kept;
      }
      const done = made * this.#step;
      this.#held.set(kernel.input.subarray(done, held));
      this.#heldCount = held - done;
    }
    return count;
  }

  /** Makes room for what so many more frames can give. */
  #reserve(frames: number): void {
    const needed = Math.ceil(frames / this.#step) + 1;
    if (needed > this.samples.length) this.samples = new Float32Array(needed);
  }
}
