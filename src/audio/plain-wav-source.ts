import {
  AV_SAMPLE_FMT_DBL,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S32,
  AV_SAMPLE_FMT_U8,
} from 'node-av/constants';
import { Frame } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import type { BlockSource, TakeBlock } from './block-source.js';
import { positionedLayout } from './channel-weights.js';
import { PlainWav } from './plain-wav.js';
import type { RecordingInfo } from './recording-reader.js';

const BLOCK_FRAMES = 1 << 14;

/** The codec library's name of samples that lie in a file as they do in memory, and its name of them there. */
const FORMATS: ReadonlyMap<string, Frame['format']> = new Map<string, Frame['format']>([
  ['pcm_u8', AV_SAMPLE_FMT_U8],
  ['pcm_s16le', AV_SAMPLE_FMT_S16],
  ['pcm_s32le', AV_SAMPLE_FMT_S32],
  ['pcm_f32le', AV_SAMPLE_FMT_FLT],
  ['pcm_f64le', AV_SAMPLE_FMT_DBL],
]);

/** A WAV of plain samples: they are read from where they stand. */
export class PlainWavSource implements BlockSource {
  readonly info: RecordingInfo;
  readonly #wav: PlainWav;
  readonly #frame = new Frame();
  readonly #bytes: Buffer;

  /** @returns undefined where the file is anything else. */
  static open(path: string): PlainWavSource | undefined {
    const wav = PlainWav.open(path);
    if (wav === undefined) return undefined;
    const format = FORMATS.get(wav.info.codec);
    if (format !== undefined) return new PlainWavSource(wav, format);
    wav[Symbol.dispose]();
    return undefined;
  }

  private constructor(wav: PlainWav, format: Frame['format']) {
    this.#wav = wav;
    this.info = wav.info;
    const frame = this.#frame;
    frame.alloc();
    frame.format = format;
    frame.sampleRate = wav.info.sampleRate;
    frame.channelLayout = positionedLayout(wav.info.channels);
    frame.nbSamples = BLOCK_FRAMES;
    const result = frame.getBuffer(0);
    const plane = frame.data?.[0];
    if (result < 0 || plane === undefined) throw new Error(`No memory for a block of samples: ${codecMessage(result)}`);
    this.#bytes = plane.subarray(0, BLOCK_FRAMES * wav.bytesPerFrame);
  }

  frames(): number {
    this.#wav.checkEnd();
    return this.#wav.frames;
  }

  decode(firstFrame: number, take: TakeBlock): number | undefined {
    for (let at = firstFrame; ;) {
      const frames = this.#wav.read(this.#bytes, at);
      if (frames === 0) {
        this.#wav.checkEnd();
        return this.#wav.frames;
      }
      this.#frame.nbSamples = frames;
      if (take(this.#frame, at, frames)) return undefined;
      at += frames;
    }
  }

  [Symbol.dispose](): void {
    this.#frame.free();
    this.#wav[Symbol.dispose]();
  }
}
