import { AV_CODEC_ID_FLAC } from 'node-av/constants';
import { Codec, CodecContext, Frame, Packet } from 'node-av/lib';
import { checkResult } from './audio-error.js';

/** Decoders of streams that differ in rate, channels, bits or blocks. */
const MAX_CONTEXTS = 8;

/**
 * Decoders of FLAC that stay for the next file of the same kind, with what they decode from and into: to make them anew takes as long as decoding
 * some frames. Who has one decodes all that it wants before the next one takes it.
 */
export class FlacContexts implements Disposable {
  /** What decoders are handed. */
  readonly packet = new Packet();
  /** What they decode into. */
  readonly block = new Frame();
  readonly #contexts = new Map<string, CodecContext>();

  constructor() {
    this.packet.alloc();
    this.block.alloc();
  }

  /**
   * A decoder, emptied, which holds until the next call.
   *
   * @param streamInfo the STREAMINFO block of the file.
   * @returns undefined where the codec library does not take it.
   */
  take(streamInfo: Buffer): CodecContext | undefined {
    // Sizes of blocks, rate, channels and bits; not sizes of frames, the length and the checksum.
    const key = `${streamInfo.toString('latin1', 0, 4)}${streamInfo.readUIntBE(10, 4) >>> 4}`;
    const known = this.#contexts.get(key);
    this.#contexts.delete(key);
    const context = known ?? openContext(streamInfo);
    if (context === undefined) return undefined;
    this.#contexts.set(key, context);
    if (this.#contexts.size > MAX_CONTEXTS) {
      const [oldest] = this.#contexts;
      oldest?.[1].freeContext();
      this.#contexts.delete(oldest?.[0] ?? '');
    }
    context.flushBuffers();
    return context;
  }

  [Symbol.dispose](): void {
    for (const context of this.#contexts.values()) context.freeContext();
    this.#contexts.clear();
    this.block.free();
    this.packet.free();
  }
}

/** Frames carry checksums, which tell of damage that would be heard as noise. */
function openContext(streamInfo: Buffer): CodecContext | undefined {
  const codec = Codec.findDecoder(AV_CODEC_ID_FLAC);
  if (codec === null) throw new Error('The codec library has no decoder for FLAC');
  const context = new CodecContext();
  context.allocContext3(codec);
  context.extraData = Buffer.from(streamInfo);
  context.threadCount = 1;
  checkResult(context.setOption('err_detect', 'crccheck+explode'));
  if (context.open2Sync(codec) >= 0) return context;
  context.freeContext();
  return undefined;
}
