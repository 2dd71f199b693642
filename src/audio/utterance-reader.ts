import { readFileSync, statSync } from 'node:fs';
import { AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import type { BlockSource } from './block-source.js';
import type { FrameSpan } from './cut-spans.js';
import { FlacDecoders } from './flac-decoders.js';
import { readFlacHead } from './flac-head.js';
import type { FlacHead } from './flac-head.js';
import { frameSpan } from './frame-span.js';
import { MonoResamplers, MonoSpan } from './mono-span.js';
import { openBlockSource } from './open-block-source.js';
import { checkFile } from './open-recording.js';
import { PacketIndexes } from './packet-indexes.js';
import { SequentialSource } from './sequential-source.js';
import { contextFramesOf } from './span-resampler.js';
import { SpooledFile } from './spooled-file.js';
import { speedRatio } from './speed-ratio.js';
import { readWavBytes } from './wav-bytes.js';
import type { WavBytes } from './wav-bytes.js';
import { WavBlocks } from './wav-blocks.js';

/** What is wanted of a recording. */
export interface UtteranceWish {
  /** Half-open, whole microseconds of the recording; an end of null is that of the audio. Undefined is all of it. */
  span: { start: number; end: number | null } | undefined;
  /** Hz; null keeps the recording's. */
  sampleRate: number | null;
  /** Faster is shorter, as if the recording's rate were so much higher; 1 changes nothing. */
  speed: number;
}

/** What was decoded: mono, the average of all channels. */
export interface UtteranceSamples {
  /**
   * 16-bit samples as they are where the recording has such, one channel and the rate that is wanted; else full scale is 1. Empty where the
   * audio ends at the span's start or before it.
   */
  samples: Int16Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
  /** Hz. */
  sampleRate: number;
}

/** Larger files are read in pieces. */
const WHOLE_FILE_BYTES = 32 * 2 ** 20;
/** Recordings that spans are taken from stay open for the next one. */
const OPEN_FILES = 16;
const INDEX_BYTES = 64 * 2 ** 20;

/**
 * Decodes short recordings, one after the other, from memory or from files: what comes out equals decoding the file as a whole. What it takes to
 * decode one is kept for the next. All calls block.
 */
export class UtteranceReader implements Disposable {
  readonly #flacs = new FlacDecoders();
  readonly #wavs = new WavBlocks();
  readonly #resamplers = new MonoResamplers();
  readonly #indexes = new PacketIndexes(INDEX_BYTES, undefined);
  readonly #sources = new Map<string, BlockSource>();

  /**
   * Decodes a file that lies in memory.
   *
   * @param name what tells its kind where its bytes do not.
   * @throws AudioError where the audio is not to be had; it names a file that is gone by then.
   */
  readBytes(bytes: Buffer, name: string, wish: UtteranceWish): UtteranceSamples {
    const known = this.#readKnown(bytes, wish);
    if (known !== undefined) return known;
    using file = new SpooledFile(bytes, name);
    using source = new SequentialSource(file.path);
    return this.#readSource(source, wish);
  }

  /**
   * Decodes a file.
   *
   * @throws AudioError where the audio is not to be had.
   */
  readFile(path: string, wish: UtteranceWish): UtteranceSamples {
    checkFile(path);
    if (wish.span !== undefined) return this.#readOpen(path, wish);
    const isSmall = statSync(path).size <= WHOLE_FILE_BYTES;
    const known = isSmall ? this.#readKnown(readFileSync(path), wish) : undefined;
    if (known !== undefined) return known;
    using source = new SequentialSource(path);
    return this.#readSource(source, wish);
  }

  [Symbol.dispose](): void {
    for (const source of this.#sources.values()) source[Symbol.dispose]();
    this.#sources.clear();
    this.#resamplers[Symbol.dispose]();
    this.#wavs[Symbol.dispose]();
    this.#flacs[Symbol.dispose]();
  }

  /** Undefined for what has no way of its own, and for what is not as it should be. */
  #readKnown(bytes: Buffer, wish: UtteranceWish): UtteranceSamples | undefined {
    const flac = readFlacHead(bytes);
    if (flac !== undefined) return this.#readFlac(bytes, flac, wish);
    const wav = readWavBytes(bytes);
    return wav && this.#readWav(wav, wish);
  }

  #readFlac(bytes: Buffer, head: FlacHead, wish: UtteranceWish): UtteranceSamples | undefined {
    const span = frameSpan(wish.span, head.sampleRate);
    if (isUnchanged(head, wish) && head.bitsPerSample === 16) {
      const pcm = new Pcm16Span(span, head.totalFrames);
      const decoded = this.#flacs.decode(bytes, head, pcm.push);
      return decoded === undefined ? undefined : { samples: pcm.samples, sampleRate: head.sampleRate };
    }
    const sampleRate = wish.sampleRate ?? head.sampleRate;
    const mono = new MonoSpan(
      this.#resamplers,
      span,
      speedRatio(head.sampleRate, sampleRate, wish.speed),
      head.totalFrames,
    );
    const decoded = this.#flacs.decode(bytes, head, mono.push);
    return decoded === undefined ? undefined : { samples: mono.finish(decoded), sampleRate };
  }

  #readWav(wav: WavBytes, wish: UtteranceWish): UtteranceSamples {
    const span = frameSpan(wish.span, wav.sampleRate);
    if (isUnchanged(wav, wish)) {
      const first = Math.min(span.firstFrame, wav.frames);
      const samples = new Int16Array(Math.min(span.endFrame, wav.frames) - first);
      wav.pcm.copy(new Uint8Array(samples.buffer), 0, 2 * first);
      return { samples, sampleRate: wav.sampleRate };
    }
    const sampleRate = wish.sampleRate ?? wav.sampleRate;
    const ratio = speedRatio(wav.sampleRate, sampleRate, wish.speed);
    const mono = new MonoSpan(this.#resamplers, span, ratio, wav.frames);
    const from = Math.max(0, span.firstFrame - contextFramesOf(ratio.source, ratio.target));
    return { samples: mono.finish(this.#wavs.decode(wav, from, mono.push)), sampleRate };
  }

  #readOpen(path: string, wish: UtteranceWish): UtteranceSamples {
    const source = this.#sources.get(path) ?? openBlockSource(path, this.#indexes);
    // A map goes through its keys in the order in which they came: the one to close stands first.
    this.#sources.delete(path);
    try {
      const read = this.#readSource(source, wish);
      this.#sources.set(path, source);
      return read;
    } catch (error) {
      source[Symbol.dispose]();
      this.#indexes.forget(path);
      throw error;
    } finally {
      if (this.#sources.size > OPEN_FILES) {
        const [oldest] = this.#sources;
        oldest?.[1][Symbol.dispose]();
        this.#sources.delete(oldest?.[0] ?? '');
      }
    }
  }

  #readSource(source: BlockSource, wish: UtteranceWish): UtteranceSamples {
    const { sampleRate: ownRate } = source.info;
    const sampleRate = wish.sampleRate ?? ownRate;
    const span = frameSpan(wish.span, ownRate);
    const ratio = speedRatio(ownRate, sampleRate, wish.speed);
    const mono = new MonoSpan(this.#resamplers, span, ratio, 0);
    const from = Math.max(0, span.firstFrame - contextFramesOf(ratio.source, ratio.target));
    const end = source.decode(from, mono.push);
    return { samples: mono.finish(end), sampleRate };
  }
}

function isUnchanged(
  { channels, sampleRate }: { channels: number; sampleRate: number },
  { sampleRate: wanted, speed }: UtteranceWish,
): boolean {
  return channels === 1 && speed === 1 && (wanted ?? sampleRate) === sampleRate;
}

/** 16-bit samples of a span, as they are decoded. */
class Pcm16Span {
  readonly samples: Int16Array<ArrayBuffer>;
  readonly #first: number;

  constructor({ firstFrame, endFrame }: FrameSpan, totalFrames: number) {
    this.#first = Math.min(firstFrame, totalFrames);
    this.samples = new Int16Array(Math.min(endFrame, totalFrames) - this.#first);
  }

  readonly push = (block: Frame, start: number, frames: number): boolean => {
    const end = this.#first + this.samples.length;
    const from = Math.max(start, this.#first);
    const to = Math.min(start + frames, end);
    if (from < to) {
      if (block.format !== AV_SAMPLE_FMT_S16 && block.format !== AV_SAMPLE_FMT_S16P) {
        throw new Error('The decoder gave other samples than its header says');
      }
      const plane = block.data?.[0];
      if (plane === undefined) throw new Error('A block of the codec library has no samples');
      const decoded = new Int16Array(plane.buffer, plane.byteOffset, frames);
      this.samples.set(decoded.subarray(from - start, to - start), from - this.#first);
    }
    // The rest is decoded too where all is wanted: its end tells whether the file is whole.
    return start + frames > end;
  };
}
