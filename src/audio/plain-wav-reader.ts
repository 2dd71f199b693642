import { AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Frame } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import type { BlockReader } from './block-reader.js';
import { positionedLayout } from './channel-weights.js';
import { WAV_PACKET_BYTES } from './open-recording.js';
import type { PlainWav } from './plain-wav.js';
import type { RecordingInfo } from './recording-info.js';
import { SKIP_AT_LEAST_SECONDS } from './skip-method.js';

/**
 * A plain 16-bit WAV in the blocks that `RecordingReader` gives, without the demuxer, whose setting up takes longer than decoding a short file.
 * Blocks, skips and faults are the same: so is what is made of them.
 */
export class PlainWavReader implements BlockReader {
  readonly path: string;
  readonly info: RecordingInfo;
  readonly block = new Frame();
  blockStart = 0;
  blockFrames = 0;
  position = 0;
  readonly #wav: PlainWav;
  readonly #bytes: Buffer;
  #isStarted = false;

  /** @param wav one of `pcm_s16le`; it is disposed of with this. */
  constructor(wav: PlainWav) {
    this.#wav = wav;
    this.path = wav.path;
    this.info = wav.info;
    const frames = Math.max(1, Math.floor(WAV_PACKET_BYTES / wav.bytesPerFrame));
    const { block } = this;
    block.alloc();
    block.format = AV_SAMPLE_FMT_S16;
    block.sampleRate = wav.info.sampleRate;
    block.channelLayout = positionedLayout(wav.info.channels);
    block.nbSamples = frames;
    const result = block.getBuffer(0);
    const plane = block.data?.[0];
    if (result < 0 || plane === undefined) throw new Error(`No memory for a block of samples: ${codecMessage(result)}`);
    this.#bytes = plane.subarray(0, frames * wav.bytesPerFrame);
  }

  next(): boolean {
    this.#isStarted = true;
    const frames = this.#wav.read(this.#bytes, this.position);
    if (frames === 0) return false;
    if (frames !== this.blockFrames) this.block.nbSamples = frames;
    this.blockStart = this.position;
    this.blockFrames = frames;
    this.position += frames;
    return true;
  }

  skip(from: number, to: number): void {
    if (!this.#isStarted || to - from < SKIP_AT_LEAST_SECONDS * this.info.sampleRate) return;
    this.position = Math.max(this.position, Math.min(to, this.#wav.frames - 1));
  }

  shortfall(): string | undefined {
    return this.#wav.shortfall;
  }

  [Symbol.dispose](): void {
    this.block.free();
    this.#wav[Symbol.dispose]();
  }
}
