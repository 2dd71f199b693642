import { AV_CHANNEL_ORDER_NATIVE } from 'node-av/constants';
import type { ChannelLayout, Frame } from 'node-av/lib';
import type { BlockSource } from './block-source.js';
import type { ChannelMix } from './channel-mix.js';
import { positionedLayout } from './channel-weights.js';
import { IndexFolder } from './index-folder.js';
import { openBlockSource, openBlockSourceInTurns } from './open-block-source.js';
import { SharedDecoders } from './packet-decoders.js';
import { PacketIndexes } from './packet-indexes.js';
import type { BetweenSteps } from './packet-indexes.js';
import type { RecordingInfo } from './recording-reader.js';
import { contextFramesOf } from './resampling-filter.js';
import { createResampler } from './span-resampler.js';
import type { SpanResampler } from './span-resampler.js';

export interface WindowReaderOptions {
  /** Hz; null keeps each recording's. */
  sampleRate: number | null;
  /** Whether channels are averaged into one. */
  mono: boolean;
  /** How many recordings stay open; 64 by default. */
  openFiles?: number;
  /** Memory for what is remembered of where packets lie; 64 MB by default. */
  indexBytes?: number;
  /** Where that is kept from one process to the next; nowhere by default. */
  indexFolder?: string;
}

/** A window of a recording as it was decoded. */
export interface WindowSamples {
  /** Hz. */
  sampleRate: number;
  channels: number;
  /** One channel behind the other, `samples` each; zero behind the end of the recording. */
  waveform: Float32Array<ArrayBuffer>;
  /** Samples of each channel. */
  samples: number;
  /** How many of them stand before the end of the recording. */
  audioSamples: number;
}

const OPEN_FILES = 64;
const INDEX_BYTES = 64 * 2 ** 20;
/** Waveforms that were given back and are kept for the next windows. */
const SPARE_WAVEFORMS = 64;
/** Of rates that have no small divisor in common, the filters of one take 100 MB. */
const RESAMPLER_SETS = 8;

/**
 * Reads windows of many recordings, in any order: what comes out equals the same span of the whole recording resampled on a grid that begins at
 * the window's first frame. Recordings stay open for the next window, the least recently used one is closed first. All calls but `prepare` block.
 */
export class WindowReader implements Disposable {
  readonly #options: WindowReaderOptions;
  readonly #sources = new Map<string, BlockSource>();
  readonly #resamplers = new Resamplers();
  readonly #indexes: PacketIndexes;
  readonly #decoders = new SharedDecoders();
  /** All of one length. */
  readonly #spare: Float32Array<ArrayBuffer>[] = [];

  /** @param onNotice takes what is to be said of kept indexes: that one is of no use, or cannot be kept. */
  constructor(options: WindowReaderOptions, onNotice?: (message: string) => void) {
    this.#options = options;
    const { indexBytes = INDEX_BYTES, indexFolder } = options;
    const store = indexFolder === undefined ? undefined : new IndexFolder(indexFolder, onNotice);
    this.#indexes = new PacketIndexes(indexBytes, store);
  }

  /**
   * Opens a recording, so that the calls below find it open. Where that takes a first pass over it, other work is done in between.
   *
   * @returns undefined where it is open.
   * @throws AudioError where it cannot be opened; what `between` throws.
   */
  prepare(path: string, between: BetweenSteps): Promise<void> | undefined {
    return this.#sources.has(path) ? undefined : this.#prepare(path, between);
  }

  /** What the recording is. */
  info(path: string): RecordingInfo {
    return this.#source(path).info;
  }

  /**
   * The length of a recording, in its own frames.
   *
   * @throws AudioError where it cannot be read to its end; it is closed then.
   */
  frames(path: string): number {
    return this.#closingOnError(path, () => this.#source(path).frames());
  }

  /**
   * Reads `samples` samples, at the rate of the output, from `firstFrame` of the recording on.
   *
   * @param samples a number, or what gives it once the rate of the output is known.
   * @throws AudioError where the audio is not to be had; the recording is closed then.
   */
  read(path: string, firstFrame: number, samples: number | ((sampleRate: number) => number)): WindowSamples {
    return this.#closingOnError(path, () => this.#read(this.#source(path), firstFrame, samples));
  }

  /** Takes the waveform of a window that nobody looks at any more, for one of the next: to make a new one takes a tenth of the work. */
  recycle(waveform: Float32Array<ArrayBuffer>): void {
    if (waveform.length !== this.#spare[0]?.length) this.#spare.length = 0;
    if (this.#spare.length < SPARE_WAVEFORMS) this.#spare.push(waveform);
  }

  /** Closes a recording, and forgets what is known of it. */
  close(path: string): void {
    this.#sources.get(path)?.[Symbol.dispose]();
    this.#sources.delete(path);
    this.#indexes.forget(path);
  }

  [Symbol.dispose](): void {
    for (const source of this.#sources.values()) source[Symbol.dispose]();
    this.#sources.clear();
    this.#resamplers[Symbol.dispose]();
    this.#decoders[Symbol.dispose]();
  }

  #closingOnError<T>(path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.close(path);
      throw error;
    }
  }

  async #prepare(path: string, between: BetweenSteps): Promise<void> {
    const source = await openBlockSourceInTurns(path, this.#indexes, between, this.#decoders);
    if (this.#sources.has(path)) source[Symbol.dispose]();
    else this.#use(path, source);
  }

  #source(path: string): BlockSource {
    return this.#use(path, this.#sources.get(path) ?? openBlockSource(path, this.#indexes, this.#decoders));
  }

  #use(path: string, source: BlockSource): BlockSource {
    // A map goes through its keys in the order in which they came: the one to close stands first.
    this.#sources.delete(path);
    this.#sources.set(path, source);
    if (this.#sources.size > (this.#options.openFiles ?? OPEN_FILES)) {
      const [oldest] = this.#sources;
      if (oldest !== undefined) {
        oldest[1][Symbol.dispose]();
        this.#sources.delete(oldest[0]);
      }
    }
    return source;
  }

  #takeWaveform(channels: number, samples: number): Float32Array<ArrayBuffer> {
    const length = channels * samples;
    return (this.#spare[0]?.length === length ? this.#spare.pop() : undefined) ?? new Float32Array(length);
  }

  #read(source: BlockSource, firstFrame: number, samplesOf: number | ((sampleRate: number) => number)): WindowSamples {
    const { info } = source;
    const sampleRate = this.#options.sampleRate ?? info.sampleRate;
    const samples = typeof samplesOf === 'number' ? samplesOf : samplesOf(sampleRate);
    let window: OpenWindow | undefined;
    /** Set where the blocks come without channel positions, which the resampler wants spelt out in every block. */
    let ownLayout: ChannelLayout | undefined;
    const fedFrom = Math.max(0, firstFrame - contextFramesOf(info.sampleRate, sampleRate));
    const end = source.decode(fedFrom, (block, start, frames) => {
      if (window === undefined) {
        // A decoder tells positions of all of a recording or of none, and to ask for them takes longer than for all else.
        const told = block.channelLayout;
        if (told.order !== AV_CHANNEL_ORDER_NATIVE) ownLayout = positionedLayout(told.nbChannels);
        const resamplers = this.#resamplers.take(block, ownLayout ?? told, sampleRate, this.#options.mono);
        const waveform = this.#takeWaveform(resamplers.length, samples);
        window = new OpenWindow(resamplers, { firstFrame, fedFrom: start }, waveform);
      }
      if (ownLayout !== undefined) block.channelLayout = ownLayout;
      return window.push(block, frames);
    });
    if (end !== undefined && end > firstFrame) window?.finish(end - firstFrame);
    window?.silenceRest();
    const channels = window?.channels ?? (this.#options.mono ? 1 : info.channels);
    const waveform = window?.waveform ?? new Float32Array(channels * samples);
    return {
      sampleRate,
      channels,
      waveform,
      samples,
      audioSamples: end === undefined || end > firstFrame ? (window?.written ?? 0) : 0,
    };
  }
}

/** A window that decoded audio is being fed to: one resampler for each channel of the output. */
class OpenWindow {
  readonly channels: number;
  readonly waveform: Float32Array<ArrayBuffer>;
  /** Samples of each channel so far. */
  written = 0;
  readonly #resamplers: readonly SpanResampler[];
  readonly #samples: number;

  /** @param waveform with any content. */
  constructor(
    resamplers: readonly SpanResampler[],
    { firstFrame, fedFrom }: { firstFrame: number; fedFrom: number },
    waveform: Float32Array<ArrayBuffer>,
  ) {
    this.#resamplers = resamplers;
    this.channels = resamplers.length;
    this.#samples = waveform.length / this.channels;
    this.waveform = waveform;
    for (const resampler of resamplers) resampler.begin(firstFrame, fedFrom);
  }

  /** Feeds a block; true once the window is full. */
  push(block: Frame, frames: number): boolean {
    let count = 0;
    for (const [channel, resampler] of this.#resamplers.entries()) {
      count = this.#keep(channel, resampler, resampler.push(block, frames, this.#samples - this.written));
    }
    this.written += count;
    return this.written >= this.#samples;
  }

  /** Fills the window from the silence behind the end of the recording, as far as it has `frames` frames. */
  finish(frames: number): void {
    const [first] = this.#resamplers;
    const wanted = Math.min(this.#samples, first?.outputLength(frames) ?? 0);
    for (let isFirst = true; this.written < wanted; isFirst = false) {
      let count = 0;
      for (const [channel, resampler] of this.#resamplers.entries()) {
        const made = resampler.flush(isFirst);
        if (made === 0) throw new Error(`The resampler gave ${this.written} of ${wanted} samples`);
        count = this.#keep(channel, resampler, Math.min(made, wanted - this.written));
      }
      this.written += count;
    }
  }

  /** What lies behind the end of the recording. */
  silenceRest(): void {
    if (this.written >= this.#samples) return;
    for (let channel = 0; channel < this.channels; channel += 1) {
      this.waveform.fill(0, channel * this.#samples + this.written, (channel + 1) * this.#samples);
    }
  }

  #keep(channel: number, resampler: SpanResampler, made: number): number {
    const count = Math.min(made, this.#samples - this.written);
    if (count > 0) this.waveform.set(resampler.samples.subarray(0, count), channel * this.#samples + this.written);
    return Math.max(0, count);
  }
}

/** Resamplers by what they take and give: their filters are made once. */
class Resamplers implements Disposable {
  readonly #sets = new Map<string, readonly SpanResampler[]>();

  take(block: Frame, layout: ChannelLayout, targetRate: number, isMono: boolean): readonly SpanResampler[] {
    const { format, sampleRate } = block;
    const key = `${format} ${sampleRate} ${layout.nbChannels} ${layout.mask} ${targetRate}`;
    const known = this.#sets.get(key);
    this.#sets.delete(key);
    const mixes: ChannelMix[] = isMono
      ? ['average']
      : Array.from({ length: layout.nbChannels }, (_, channel) => channel);
    const set = known ?? mixes.map((mix) => createResampler({ layout, format, sampleRate }, targetRate, mix));
    this.#sets.set(key, set);
    if (this.#sets.size > RESAMPLER_SETS) {
      const [oldest] = this.#sets;
      for (const resampler of oldest?.[1] ?? []) resampler[Symbol.dispose]();
      this.#sets.delete(oldest?.[0] ?? '');
    }
    return set;
  }

  [Symbol.dispose](): void {
    for (const set of this.#sets.values()) for (const resampler of set) resampler[Symbol.dispose]();
    this.#sets.clear();
  }
}
