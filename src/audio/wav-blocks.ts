import { AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Frame } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import type { TakeBlock } from './block-source.js';
import { positionedLayout } from './channel-weights.js';
import type { WavBytes } from './wav-bytes.js';

const BLOCK_FRAMES = 1 << 14;

/** Hands samples that lie in memory over in blocks of the codec library, for its resampler. */
export class WavBlocks implements Disposable {
  #block: { frame: Frame; bytes: Buffer; channels: number } | undefined;

  /** @returns the frames that were handed over up to the one after which no more was needed. */
  decode({ sampleRate, channels, frames, pcm }: WavBytes, firstFrame: number, take: TakeBlock): number {
    const { frame, bytes } = this.#blockOf(channels);
    frame.sampleRate = sampleRate;
    for (let at = firstFrame; at < frames;) {
      const count = Math.min(BLOCK_FRAMES, frames - at);
      pcm.copy(bytes, 0, at * 2 * channels, (at + count) * 2 * channels);
      frame.nbSamples = count;
      if (take(frame, at, count)) return at + count;
      at += count;
    }
    return frames;
  }

  [Symbol.dispose](): void {
    this.#block?.frame.free();
    this.#block = undefined;
  }

  #blockOf(channels: number): { frame: Frame; bytes: Buffer } {
    if (this.#block?.channels === channels) return this.#block;
    this.#block?.frame.free();
    const frame = new Frame();
    frame.alloc();
    frame.format = AV_SAMPLE_FMT_S16;
    frame.channelLayout = positionedLayout(channels);
    frame.nbSamples = BLOCK_FRAMES;
    const result = frame.getBuffer(0);
    const plane = frame.data?.[0];
    if (result < 0 || plane === undefined) throw new Error(`No memory for a block of samples: ${codecMessage(result)}`);
    this.#block = { frame, bytes: plane, channels };
    return this.#block;
  }
}
