import { AVERROR_EAGAIN, AV_CODEC_ID_FLAC } from 'node-av/constants';
import { Codec, CodecContext, Frame, Packet } from 'node-av/lib';
import type { TakeBlock } from './block-source.js';
import { codecMessage } from './audio-error.js';
import type { FlacHead } from './flac-head.js';

/** Decoders of streams that differ in rate, channels, bits or blocks. */
const MAX_DECODERS = 8;

/**
 * Decodes FLAC files that lie in memory. Setting up a demuxer and a decoder takes longer than decoding some seconds: decoders stay for the next
 * file of the same kind, and they are handed all frames of a file as one packet, of which they take one frame at a time.
 */
export class FlacDecoders implements Disposable {
  readonly #packet = new Packet();
  readonly #block = new Frame();
  readonly #decoders = new Map<string, CodecContext>();

  constructor() {
    this.#packet.alloc();
    this.#block.alloc();
  }

  /**
   * Decodes a file from its start on until no more is needed.
   *
   * @returns the frames that were decoded; undefined where anything is not as the header says, which is for the codec library's demuxer to judge:
   *   what was taken until then is of no use.
   */
  decode(bytes: Buffer, head: FlacHead, take: TakeBlock): number | undefined {
    if (head.totalFrames === 0) return undefined;
    const decoder = this.#decoderOf(head);
    if (decoder === undefined) return undefined;
    const block = this.#block;
    decoder.flushBuffers();
    this.#packet.data = bytes.subarray(head.audioOffset);
    const sent = decoder.sendPacketSync(this.#packet);
    this.#packet.unref();
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
    for (const decoder of this.#decoders.values()) decoder.freeContext();
    this.#decoders.clear();
    this.#block.free();
    this.#packet.free();
  }

  #decoderOf({ streamInfo }: FlacHead): CodecContext | undefined {
    // Sizes of blocks, rate, channels and bits; not sizes of frames, the length and the checksum.
    const key = `${streamInfo.toString('latin1', 0, 4)}${streamInfo.readUIntBE(10, 4) >>> 4}`;
    const known = this.#decoders.get(key);
    this.#decoders.delete(key);
    const decoder = known ?? openFlacDecoder(streamInfo);
    if (decoder === undefined) return undefined;
    this.#decoders.set(key, decoder);
    if (this.#decoders.size > MAX_DECODERS) {
      const [oldest] = this.#decoders;
      oldest?.[1].freeContext();
      this.#decoders.delete(oldest?.[0] ?? '');
    }
    return decoder;
  }
}

/** Frames carry checksums, which tell of damage that would be heard as noise. */
function openFlacDecoder(streamInfo: Buffer): CodecContext | undefined {
  const codec = Codec.findDecoder(AV_CODEC_ID_FLAC);
  if (codec === null) throw new Error('The codec library has no decoder for FLAC');
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  decoder.extraData = Buffer.from(streamInfo);
  decoder.threadCount = 1;
  const set = decoder.setOption('err_detect', 'crccheck+explode');
  if (set < 0) throw new Error(`The codec library refused: ${codecMessage(set)}`);
  if (decoder.open2Sync(codec) >= 0) return decoder;
  decoder.freeContext();
  return undefined;
}
