import { AV_SAMPLE_FMT_FLTP } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import type { ChannelLayout } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import { MONO } from './span-resampler.js';
import type { ResamplerInput } from './span-resampler.js';

/**
 * A shorter filter than that for audio to be kept: what it leaves of the band's edge does not show in loudness, and measuring is to
 * cost little more than decoding.
 */
const FILTER_TAPS = 20;
const FILTER_CUTOFF = 0.95;
const KAISER_BETA = 7;
/** Above this many phases the bank of filters would take too much memory, and phases are interpolated. */
const MAX_EXACT_PHASES = 2 ** 18;

/** Brings a whole recording, block by block, to floats of one rate, all channels or their average. */
export class SignalConverter implements Disposable {
  /** The samples of each channel that the last call of `push` or `flush` made; the first so many hold as it answered. */
  channels: Float32Array[] = [];

  readonly #resampler = new SoftwareResampleContext();
  readonly #output = new Frame();
  readonly #layout: ChannelLayout;
  readonly #sourceRate: number;
  readonly #targetRate: number;
  #capacity = 0;

  constructor(input: ResamplerInput, targetRate: number, mono: boolean) {
    this.#layout = mono ? MONO : input.layout;
    this.#sourceRate = input.sampleRate;
    this.#targetRate = targetRate;
    this.#output.alloc();
    this.#configure(input);
  }

  /** How many samples a recording of so many frames gives. */
  outputLength(frames: number): number {
    return Math.ceil((frames * this.#targetRate) / this.#sourceRate);
  }

  /** Takes one decoded block; returns how many samples came out. */
  push(block: Frame, frames: number): number {
    this.#reserve(frames);
    return this.#convert(block);
  }

  /** Returns how many samples come out of what was held back, in pieces, until it answers 0. */
  flush(): number {
    this.#reserve(1);
    return this.#convert(null);
  }

  /** Makes `channels` silent, as what lies behind the end. */
  fillWithSilence(): void {
    for (const samples of this.channels) samples.fill(0);
  }

  [Symbol.dispose](): void {
    this.#output.free();
    this.#resampler.free();
  }

  #configure(input: ResamplerInput): void {
    const { layout, format, sampleRate } = input;
    const resampler = this.#resampler;
    const rates = [this.#targetRate, sampleRate] as const;
    check(resampler.allocSetOpts2(this.#layout, AV_SAMPLE_FMT_FLTP, rates[0], layout, format as never, rates[1]));
    const phases = this.#targetRate / greatestCommonDivisor(...rates);
    const isExact = phases <= MAX_EXACT_PHASES;
    const options: [string, string][] = [
      ['internal_sample_fmt', 'fltp'],
      ['filter_type', 'kaiser'],
      ['filter_size', String(FILTER_TAPS)],
      ['cutoff', String(FILTER_CUTOFF)],
      ['kaiser_beta', String(KAISER_BETA)],
      ['exact_rational', isExact ? '1' : '0'],
      ['phase_shift', String(isExact ? Math.max(10, Math.ceil(Math.log2(phases))) : 14)],
      ['linear_interp', isExact ? '0' : '1'],
    ];
    for (const [name, value] of options) check(resampler.setOption(name, value));
    const { nbChannels } = layout;
    if (this.#layout === MONO && nbChannels > 1) {
      check(
        resampler.setMatrix(
          Array.from({ length: nbChannels }, () => 1 / nbChannels),
          nbChannels,
        ),
      );
    }
    check(resampler.init());
  }

  #reserve(frames: number): void {
    const needed = this.outputLength(frames) + 256;
    if (needed <= this.#capacity) return;
    this.#capacity = Math.max(8192, needed);
    const output = this.#output;
    output.unref();
    output.format = AV_SAMPLE_FMT_FLTP;
    output.sampleRate = this.#targetRate;
    output.channelLayout = this.#layout;
    output.nbSamples = this.#capacity;
    check(output.getBuffer(0));
    const planes = output.extendedData ?? output.data ?? [];
    this.channels = planes
      .slice(0, this.#layout.nbChannels)
      .map((plane) => new Float32Array(plane.buffer, plane.byteOffset, this.#capacity));
  }

  #convert(block: Frame | null): number {
    this.#output.nbSamples = this.#capacity;
    check(this.#resampler.convertFrame(this.#output, block));
    return this.#output.nbSamples;
  }
}

function check(result: number): void {
  if (result < 0) throw new Error(`The codec library refused: ${codecMessage(result)}`);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
