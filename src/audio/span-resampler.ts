import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_FLTP } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import type { ChannelLayout } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import { greatestCommonDivisor } from './common-divisor.js';

/** `average` of all channels, or the 0-based number of the one to keep. */
export type ChannelMix = 'average' | number;

export const MONO: ChannelLayout = AV_CHANNEL_LAYOUT_MONO;

/** Kaiser-windowed sinc; its limits are in docs/performance.md. Taps count at the lower of the two rates. */
const FILTER_TAPS = 48;
/** Towards a higher rate the codec library keeps the whole band whatever the cutoff, so the slope has to be steeper. */
const FILTER_TAPS_UPWARDS = 72;
const FILTER_CUTOFF = 0.96;
const KAISER_BETA = 10;
/** Above this many phases the bank of filters would take too much memory, and phases are interpolated. */
const MAX_EXACT_PHASES = 2 ** 18;

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
export class SpanResampler implements Disposable {
  /** Frames of context that a span needs on each side. */
  readonly contextFrames: number;
  /** The samples that the last call of `push` or `flush` made; the first `count` of them hold. */
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
    this.#taps = tapsOf(input.sampleRate, targetRate);
    this.contextFrames = contextFramesOf(input.sampleRate, targetRate);
    this.#output.alloc();
    this.#configure(input, mix);
  }

  /** The number of samples that a span of `frames` gives. */
  outputLength(frames: number): number {
    return Math.ceil((frames * this.#targetStep) / this.#sourceStep);
  }

  /**
   * Begins a span. What is pushed next must start at `fedFrom`, at least `contextFrames` before `firstFrame` unless it
   * is the start of the recording.
   */
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

  /**
   * Feeds one decoded block of `frames` frames.
   *
   * @returns how many samples of the span came out, in `samples`.
   */
  push(block: Frame, frames: number): number {
    this.#reserve(frames);
    return this.#convert(block);
  }

  /** Feeds silence for the end of the recording and returns what is left, in pieces, until it answers 0. */
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
    check(
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
    for (const [name, value] of options) check(resampler.setOption(name, value));
    const { nbChannels } = input.layout;
    if (nbChannels > 1) {
      const weight = (channel: number): number => (mix === 'average' ? 1 / nbChannels : channel === mix ? 1 : 0);
      check(
        resampler.setMatrix(
          Array.from({ length: nbChannels }, (_, channel) => weight(channel)),
          nbChannels,
        ),
      );
    }
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
    check(output.getBuffer(0));
    this.samples = floatsOf(output, this.#capacity);
  }

  #convert(block: Frame | null): number {
    const output = this.#output;
    output.nbSamples = this.#capacity;
    check(this.#resampler.convertFrame(output, block));
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

/** Frames of context that a span needs on each side to be brought from one rate to another. */
export function contextFramesOf(sourceRate: number, targetRate: number): number {
  if (sourceRate === targetRate) return 0;
  const widening = Math.max(1, sourceRate / targetRate);
  return Math.ceil((tapsOf(sourceRate, targetRate) * widening) / 2 / FILTER_CUTOFF) + 2;
}

function tapsOf(sourceRate: number, targetRate: number): number {
  return targetRate > sourceRate ? FILTER_TAPS_UPWARDS : FILTER_TAPS;
}

/** A view of the samples of a mono float frame; it holds as long as the frame keeps its buffer. */
export function floatsOf(frame: Frame, count: number): Float32Array<ArrayBuffer> {
  const plane = frame.data?.[0];
  if (plane === undefined) throw new Error('A frame of the codec library has no buffer');
  return new Float32Array(plane.buffer as ArrayBuffer, plane.byteOffset, count);
}

function check(result: number): void {
  if (result < 0) throw new Error(`The codec library refused: ${codecMessage(result)}`);
}
