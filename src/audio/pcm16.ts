import { AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import { MONO } from './channel-mix.js';
import { floatsOf } from './frame-floats.js';

/** Samples in a block, and so in a FLAC frame: fewer, larger frames cost less time for a few bytes more. */
export const BLOCK_SAMPLES = 4096;

/** Adding and subtracting it rounds a double of modest size to the nearest integer, ties to even. */
const ROUNDER = 1.5 * 2 ** 52;

/** The bits of the largest float that is surely not clipped: 32,766 of 32,768. */
const BELOW_FULL_SCALE = new Int32Array(Float32Array.of(32_766 / 32_768).buffer)[0] ?? 0;

/** Collects samples into blocks of 16-bit PCM; those that come as floats are rounded half to even and clipped. */
export class Pcm16Blocks implements Disposable {
  /** The current block, for an encoder of the codec library. */
  readonly frame: Frame;
  /** The same block's bytes: little-endian 16-bit samples. */
  readonly bytes: Buffer;

  readonly #sampleRate: number;
  readonly #onBlock: (count: number) => void;
  /** Made for the first float: many a file has none. */
  #converter: FloatConverter | undefined;
  #filled = 0;

  /** @param onBlock is called with the number of samples whenever a block is full, and for the rest at the end. */
  constructor(sampleRate: number, onBlock: (count: number) => void) {
    this.#sampleRate = sampleRate;
    this.#onBlock = onBlock;
    this.frame = makeFrame(AV_SAMPLE_FMT_S16, sampleRate);
    const plane = this.frame.data?.[0];
    if (plane === undefined) throw new Error('A frame of the codec library has no buffer');
    this.bytes = plane.subarray(0, BLOCK_SAMPLES * 2);
  }

  get clippedSamples(): number {
    return this.#converter?.clippedSamples ?? 0;
  }

  get invalidSamples(): number {
    return this.#converter?.invalidSamples ?? 0;
  }

  write(samples: Float32Array, count: number): void {
    this.#converter ??= new FloatConverter(this.#sampleRate);
    for (let taken = 0; taken < count;) {
      const size = Math.min(count - taken, BLOCK_SAMPLES - this.#filled);
      this.#converter.floats.set(samples.subarray(taken, taken + size), this.#filled);
      this.#filled += size;
      taken += size;
      if (this.#filled === BLOCK_SAMPLES) this.#emit();
    }
  }

  /** Takes little-endian 16-bit samples as they are; a file takes all its samples thus, or all as floats. */
  writePcm16(samples: Uint8Array): void {
    if (this.#converter !== undefined) throw new TypeError('A file that began with floats takes floats alone');
    for (let taken = 0; taken < samples.length;) {
      const size = Math.min(samples.length - taken, (BLOCK_SAMPLES - this.#filled) * 2);
      this.bytes.set(samples.subarray(taken, taken + size), this.#filled * 2);
      this.#filled += size / 2;
      taken += size;
      if (this.#filled === BLOCK_SAMPLES) this.#emit();
    }
  }

  /** Emits what does not fill a block. */
  finish(): void {
    if (this.#filled > 0) this.#emit();
  }

  [Symbol.dispose](): void {
    this.frame.free();
    this.#converter?.[Symbol.dispose]();
  }

  #emit(): void {
    const count = this.#filled;
    this.#filled = 0;
    this.frame.nbSamples = count;
    this.#converter?.convert(this.frame, this.bytes, count);
    this.#onBlock(count);
  }
}

/**
 * Makes 16-bit samples of floats.
 *
 * The conversion runs in the codec library; only a block that reaches full scale is looked at sample by sample.
 */
class FloatConverter implements Disposable {
  /** A block of samples, nominally within ±1. */
  readonly floats: Float32Array;
  clippedSamples = 0;
  invalidSamples = 0;

  readonly #source: Frame;
  readonly #floatBits: Int32Array;
  readonly #resampler = new SoftwareResampleContext();

  constructor(sampleRate: number) {
    this.#source = makeFrame(AV_SAMPLE_FMT_FLTP, sampleRate);
    this.floats = floatsOf(this.#source, BLOCK_SAMPLES);
    this.#floatBits = new Int32Array(this.floats.buffer, this.floats.byteOffset, BLOCK_SAMPLES);
    const result = this.#resampler.allocSetOpts2(
      MONO,
      AV_SAMPLE_FMT_S16,
      sampleRate,
      MONO,
      AV_SAMPLE_FMT_FLTP,
      sampleRate,
    );
    const initialised = result < 0 ? result : this.#resampler.init();
    if (initialised < 0) throw new Error(`The sample converter could not be set up: ${codecMessage(initialised)}`);
  }

  /** Converts the first `count` floats into a frame, whose bytes `target` are. */
  convert(frame: Frame, target: Buffer, count: number): void {
    this.#source.nbSamples = count;
    const result = this.#resampler.convertFrame(frame, this.#source);
    if (result < 0) throw new Error(`Samples could not be converted: ${codecMessage(result)}`);
    if (this.#reachesFullScale(count)) this.#convertSlowly(target, count);
  }

  [Symbol.dispose](): void {
    this.#source.free();
    this.#resampler.free();
  }

  /**
   * Looks at what goes into the conversion, since what comes out of it is undefined for numbers far beyond full scale and
   * for what is no number. Without branches in the loop: the bits of floats are in the order of their magnitudes.
   */
  #reachesFullScale(count: number): boolean {
    const bits = this.#floatBits;
    let signs = 0;
    for (let index = 0; index < count; index += 1) signs |= BELOW_FULL_SCALE - ((bits[index] ?? 0) & 0x7fff_ffff);
    return signs < 0;
  }

  #convertSlowly(target: Buffer, count: number): void {
    const integers = new Int16Array(target.buffer, target.byteOffset, count);
    for (let index = 0; index < count; index += 1) {
      const sample = this.floats[index] ?? 0;
      if (Number.isNaN(sample)) {
        this.invalidSamples += 1;
        integers[index] = 0;
        continue;
      }
      const scaled = Math.min(Math.max(sample * 32_768, -40_000), 40_000);
      const rounded = scaled + ROUNDER - ROUNDER;
      const clipped = Math.min(Math.max(rounded, -32_768), 32_767);
      if (clipped !== rounded) this.clippedSamples += 1;
      integers[index] = clipped;
    }
  }
}

function makeFrame(format: typeof AV_SAMPLE_FMT_S16, sampleRate: number): Frame {
  const frame = new Frame();
  frame.alloc();
  frame.format = format;
  frame.sampleRate = sampleRate;
  frame.channelLayout = MONO;
  frame.nbSamples = BLOCK_SAMPLES;
  const result = frame.getBuffer(0);
  if (result < 0) throw new Error(`No memory for a block of samples: ${codecMessage(result)}`);
  return frame;
}
