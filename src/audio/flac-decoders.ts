import { AVERROR_EAGAIN } from 'node-av/constants';
import type { TakeBlock } from './block-source.js';
import { FlacContexts } from './flac-contexts.js';
import type { FlacHead } from './flac-head.js';

/**
 * Decodes FLAC files that lie in memory. Setting up a demuxer and a decoder takes longer than decoding some seconds: decoders stay for the next
 * file of the same kind, and they are handed all frames of a file as one packet, of which they take one frame at a time.
 */
export class FlacDecoders implements Disposable {
  readonly #contexts = new FlacContexts();

  /**
   * Decodes a file from its start on until no more is needed.
   *
   * @returns the frames that were decoded; undefined where anything is not as the header says, which is for the codec library's demuxer to judge:
   *   what was taken until then is of no use.
   */
  decode(bytes: Buffer, head: FlacHead, take: TakeBlock): number | undefined {
    if (head.totalFrames === 0) return undefined;
    const decoder = this.#contexts.take(head.streamInfo);
    if (decoder === undefined) return undefined;
    const { packet, block } = this.#contexts;
    packet.data = bytes.subarray(head.audioOffset);
    const sent = decoder.sendPacketSync(packet);
    packet.unref();
    if (sent < 0) return undefined;
    let position = 0;
    for (;;) {
      const result = decoder.receiveFrameSync(block);
      if (result < 0) return result === AVERROR_EAGAIN && position === head.totalFrames ? position : undefined;
      const frames = block.nbSamples;
      if (block.sampleRate !== head.sampleRate || block.channels !== head.channels) return undefined;
      if (position + frames > head.totalFrames) return undefined;
      if (take(block, position, frames)) return position + frames;
      position += frames;
    }
  }

  [Symbol.dispose](): void {
    this.#contexts[Symbol.dispose]();
  }
}
