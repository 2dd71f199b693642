import { AV_SAMPLE_FMT_FLTP } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import { checkResult, codecMessage } from './audio-error.js';
import { MONO, setMix } from './channel-mix.js';
import type { ChannelMix } from './channel-mix.js';
import { greatestCommonDivisor } from './common-divisor.js';
import { floatsOf } from './frame-floats.js';
import { FILTER_CUTOFF, KAISER_BETA, contextFramesOf, filterTaps } from './resampling-filter.js';
import type { ResamplerInput, SpanResampler } from './span-resampler.js';

/** Above this many phases the bank of filters would take too much memory, and phases are interpolated. */
const MAX_EXACT_PHASES = 2 ** 18;

/** Brings spans from any rate to any other, by the codec library. */
export class LibraryResampler implements SpanResampler {
  readonly contextFrames: number;
  samples = new Float32Array(0);

  readonly #resampler = new SoftwareResampleContext();
  readonly #output = new Frame();
  readonly #targetRate: number;
  /** source and target rate without their common divisor */
  readonly #sourceStep: number;
  readonly #targetStep: number;
  readonly #taps: number;
  #capacity = 0;
  /** Samples that the last conversion made, context included. */
  #converted = 0;
  /** Output samples that still belong to the context before the span. */
  #toDrop = 0;

  constructor(input: ResamplerInput, targetRate: number, mix: ChannelMix) {
    const divisor = greatestCommonDivisor(input.sampleRate, targetRate);
    this.#targetRate = targetRate;
    this.#sourceStep = input.sampleRate / divisor;
    this.#targetStep = targetRate / divisor;
    this.#taps = filterTaps(input.sampleRate, targetRate);
    this.contextFrames = contextFramesOf(input.sampleRate, targetRate);
    this.#output.alloc();
    this.#configure(input, mix);
  }

  outputLength(frames: number): number {
    return Math.ceil((frames * this.#targetStep) / this.#sourceStep);
  }

  begin(firstFrame: number, fedFrom: number): void {
    const initialised = this.#resampler.init();
    if (initialised < 0) throw new Error(`The resampler could not be set up: ${codecMessage(initialised)}`);
    // Silence before the fed audio moves the grid of output samples so that one of them falls on the first frame.
    const atLeast = fedFrom === 0 ? this.contextFrames : 0;
    const lead = firstFrame - fedFrom + atLeast;
    const silence = atLeast + ((this.#sourceStep - (lead % this.#sourceStep)) % this.#sourceStep);
    this.#toDrop = ((firstFrame - fedFrom + silence) / this.#sourceStep) * this.#targetStep;
    if (silence > 0) this.#resampler.injectSilence(silence);
  }

  push(block: Frame, frames: number): number {
    this.#reserve(frames);
    return this.#convert(block);
  }

  flush(isFirst: boolean): number {
    if (isFirst && this.contextFrames > 0) this.#resampler.injectSilence(2 * this.contextFrames + this.#sourceStep);
    this.#reserve(1);
    for (;;) {
      const made = this.#convert(null);
      // Where all that came out was context, there may be more behind it.
      if (made !== 0 || this.#converted === 0) return made;
    }
  }

  [Symbol.dispose](): void {
    this.#output.free();
    this.#resampler.free();
  }

  #configure(input: ResamplerInput, mix: ChannelMix): void {
    const resampler = this.#resampler;
    checkResult(
      resampler.allocSetOpts2(
        MONO,
        AV_SAMPLE_FMT_FLTP,
        this.#targetRate,
        input.layout,
        input.format as never,
        input.sampleRate,
      ),
    );
    const isExact = this.#targetStep <= MAX_EXACT_PHASES;
    const options: [string, string][] = [
      ['internal_sample_fmt', 'fltp'],
      ['filter_type', 'kaiser'],
      ['filter_size', String(this.#taps)],
      ['cutoff', String(FILTER_CUTOFF)],
      ['kaiser_beta', String(KAISER_BETA)],
      ['exact_rational', isExact ? '1' : '0'],
      ['phase_shift', String(isExact ? Math.max(10, Math.ceil(Math.log2(this.#targetStep))) : 14)],
      ['linear_interp', isExact ? '0' : '1'],
    ];
    for (const [name, value] of options) checkResult(resampler.setOption(name, value));
    setMix(resampler, input.layout.nbChannels, mix);
  }

  /** Makes room for what `frames` more frames of input can give. */
  #reserve(frames: number): void {
    const needed = Math.ceil((frames * this.#targetStep) / this.#sourceStep) + 64;
    if (needed <= this.#capacity) return;
    this.#capacity = Math.max(8192, needed);
    const output = this.#output;
    output.unref();
    output.format = AV_SAMPLE_FMT_FLTP;
    output.sampleRate = this.#targetRate;
    output.channelLayout = MONO;
    output.nbSamples = this.#capacity;
    checkResult(output.getBuffer(0));
    this.samples = floatsOf(output, this.#capacity);
  }

  #convert(block: Frame | null): number {
    const output = this.#output;
    output.nbSamples = this.#capacity;
    checkResult(this.#resampler.convertFrame(output, block));
    const made = output.nbSamples;
    this.#converted = made;
    const dropped = Math.min(made, this.#toDrop);
    if (dropped > 0) {
      this.#toDrop -= dropped;
      this.samples.copyWithin(0, dropped, made);
    }
    return made - dropped;
  }
}
