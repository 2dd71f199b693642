import { readFileSync, statSync } from 'node:fs';
import type { BlockSource } from './block-source.js';
import { FlacDecoders } from './flac-decoders.js';
import { readFlacHead } from './flac-head.js';
import type { FlacHead } from './flac-head.js';
import { frameSpan } from './frame-span.js';
import { MonoResamplers, MonoSpan } from './mono-span.js';
import type { TakeRoom } from './mono-span.js';
import { openBlockSource } from './open-block-source.js';
import { checkFile } from './open-recording.js';
import { Pcm16Copier } from './pcm16-copier.js';
import { PacketIndexes } from './packet-indexes.js';
import { SequentialSource } from './sequential-source.js';
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
  /** Whether samples of 16 bits may come as they are, where nothing of them is changed. Default false. */
  takesPcm16?: boolean;
}

/** What was decoded. */
export interface UtteranceSamples {
  /** Mono, the average of all channels, full scale 1. Empty where the audio ends at the span's start or before it. */
  samples: Float32Array<ArrayBuffer>;
  /** In place of `samples`, where they were wished for as they are; they hold until the next call only. */
  pcm16?: Int16Array;
  /** Hz. */
  sampleRate: number;
}

export interface UtteranceReaderOptions {
  /** Samples hold until the next call only: it writes in the same place. Default false. */
  isRoomReused?: boolean;
  /** Gives the room for the samples of each call, where that is not reused. Default: new memory. */
  takeRoom?: TakeRoom;
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
  readonly #copier = new Pcm16Copier();
  readonly #resamplers = new MonoResamplers();
  readonly #indexes = new PacketIndexes(INDEX_BYTES, undefined);
  readonly #sources = new Map<string, BlockSource>();
  readonly #takeRoom: TakeRoom;
  #room = new Float32Array(0);
  #pcm16Room = new Int16Array(0);

  constructor({
    isRoomReused = false,
    takeRoom = (samples) => new Float32Array(samples),
  }: UtteranceReaderOptions = {}) {
    this.#takeRoom = isRoomReused
      ? (samples) => (this.#room = this.#room.length >= samples ? this.#room : new Float32Array(samples))
      : takeRoom;
  }

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
    this.#copier[Symbol.dispose]();
    this.#flacs[Symbol.dispose]();
  }

  /** Undefined for what has no way of its own, and for what is not as it should be. */
  #readKnown(bytes: Buffer, wish: UtteranceWish): UtteranceSamples | undefined {
    const flac = readFlacHead(bytes);
    if (flac !== undefined) return this.#readFlacAsIs(bytes, flac, wish) ?? this.#readFlac(bytes, flac, wish);
    const wav = readWavBytes(bytes);
    return wav && this.#readWav(wav, wish);
  }

  /** Undefined where the samples are not to be had as they are. */
  #readFlacAsIs(bytes: Buffer, head: FlacHead, wish: UtteranceWish): UtteranceSamples | undefined {
    const { channels, bitsPerSample, sampleRate, totalFrames } = head;
    const isPcm16 = channels === 1 && bitsPerSample <= 16 && wish.span === undefined;
    if (!isPcm16 || !isTakenAsIs(wish, sampleRate) || totalFrames > bytes.length * MAX_FRAMES_A_BYTE) return undefined;
    if (this.#pcm16Room.length < totalFrames) this.#pcm16Room = new Int16Array(totalFrames);
    const room = this.#pcm16Room;
    let isWhole = true;
    const decoded = this.#flacs.decode(bytes, head, (block, start, frames) => {
      isWhole &&= this.#copier.copy(block, sampleRate, frames, room, start);
      return !isWhole;
    });
    if (decoded === undefined || !isWhole) return undefined;
    return { samples: NO_SAMPLES, pcm16: room.subarray(0, decoded), sampleRate };
  }

  #readFlac(bytes: Buffer, head: FlacHead, wish: UtteranceWish): UtteranceSamples | undefined {
    const { mono, sampleRate } = this.#begin(head.sampleRate, head.totalFrames, wish);
    const decoded = this.#flacs.decode(bytes, head, mono.push);
    return decoded === undefined ? undefined : { samples: mono.finish(decoded), sampleRate };
  }

  #readWav(wav: WavBytes, wish: UtteranceWish): UtteranceSamples {
    if (wav.channels === 1 && wish.speed === 1 && (wish.sampleRate ?? wav.sampleRate) === wav.sampleRate) {
      const { firstFrame, endFrame } = frameSpan(wish.span, wav.sampleRate);
      const end = Math.min(endFrame, wav.frames);
      const first = Math.min(firstFrame, end);
      if (isTakenAsIs(wish, wav.sampleRate)) {
        return { samples: NO_SAMPLES, pcm16: asPcm16(wav.pcm, first, end - first), sampleRate: wav.sampleRate };
      }
      const samples = this.#takeRoom(end - first).subarray(0, end - first);
      return { samples: takePcm16(wav.pcm, first, samples), sampleRate: wav.sampleRate };
    }
    const { mono, sampleRate } = this.#begin(wav.sampleRate, wav.frames, wish);
    return { samples: mono.finish(this.#wavs.decode(wav, mono.from, mono.push)), sampleRate };
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
    const { mono, sampleRate } = this.#begin(source.info.sampleRate, 0, wish);
    return { samples: mono.finish(source.decode(mono.from, mono.push)), sampleRate };
  }

  #begin(ownRate: number, expectedFrames: number, wish: UtteranceWish): { mono: MonoSpan; sampleRate: number } {
    const sampleRate = wish.sampleRate ?? ownRate;
    const mono = new MonoSpan({
      resamplers: this.#resamplers,
      span: frameSpan(wish.span, ownRate),
      sampleRate: ownRate,
      ratio: speedRatio(ownRate, sampleRate, wish.speed),
      expectedFrames,
      takeRoom: this.#takeRoom,
    });
    return { mono, sampleRate };
  }
}

const FULL_SCALE = 1 / 32_768;
const NO_SAMPLES = new Float32Array(0);
/** A header that promises more is not to be given room for: silence of the largest blocks takes 11 bytes each. */
const MAX_FRAMES_A_BYTE = 6000;

function isTakenAsIs({ takesPcm16 = false, sampleRate, speed }: UtteranceWish, ownRate: number): boolean {
  return takesPcm16 && speed === 1 && (sampleRate ?? ownRate) === ownRate;
}

/** 16-bit samples where they lie, if that is a place for such. */
function asPcm16(pcm: Buffer, first: number, count: number): Int16Array {
  const from = pcm.byteOffset + 2 * first;
  if (from % 2 === 0) return new Int16Array(pcm.buffer, from, count);
  return new Int16Array(new Uint8Array(pcm.subarray(2 * first, 2 * (first + count))).buffer);
}

/** Takes 16-bit samples as floats: exact, for the factor is a power of two. */
function takePcm16(pcm: Buffer, first: number, into: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  into.set(asPcm16(pcm, first, into.length));
  for (let at = 0; at < into.length; at += 1) into[at] = (into[at] ?? 0) * FULL_SCALE;
  return into;
}
