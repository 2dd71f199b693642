import {
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AV_PKT_DATA_NEW_EXTRADATA,
  AV_SAMPLE_FMT_S16,
  FF_ENCODER_FLAC,
} from 'node-av/constants';
import { Codec, CodecContext, Packet, Rational } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import { MONO } from './channel-mix.js';
import { BLOCK_SAMPLES, Pcm16Blocks } from './pcm16.js';
import type { ByteSink, Pcm16Encoder } from './snippet-encoder.js';

const STREAMINFO_BYTES = 34;
/** Offset of STREAMINFO in the file: the `fLaC` marker and one block header come before it. */
const STREAMINFO_OFFSET = 8;

/**
 * Writes 16-bit mono FLAC: marker, STREAMINFO (with length and MD5), frames.
 *
 * Source: RFC 9639, sections 6 to 8.
 */
export class FlacEncoder implements Pcm16Encoder {
  readonly #sink: ByteSink;
  readonly #blocks: Pcm16Blocks;
  readonly #encoder: CodecContext;
  readonly #packet = new Packet();
  #samples = 0;
  #finalInfo: Buffer | undefined;

  constructor(sampleRate: number, sink: ByteSink) {
    this.#sink = sink;
    const codec = Codec.findEncoderByName(FF_ENCODER_FLAC);
    if (codec === null) throw new Error('The codec library was built without its FLAC encoder');
    this.#encoder = new CodecContext();
    this.#encoder.allocContext3(codec);
    this.#encoder.sampleRate = sampleRate;
    this.#encoder.sampleFormat = AV_SAMPLE_FMT_S16;
    this.#encoder.channelLayout = MONO;
    this.#encoder.timeBase = new Rational(1, sampleRate);
    this.#encoder.threadCount = 1;
    this.#encoder.frameSize = BLOCK_SAMPLES;
    const opened = this.#encoder.open2Sync(codec);
    if (opened < 0) throw new Error(`FLAC cannot hold ${sampleRate} Hz: ${codecMessage(opened)}`);
    this.#packet.alloc();
    this.#blocks = new Pcm16Blocks(sampleRate, (count) => this.#encode(count));
    sink.write(Buffer.from([0x66, 0x4c, 0x61, 0x43, 0x80, 0, 0, STREAMINFO_BYTES]));
    sink.write(this.#streamInfo());
  }

  get clippedSamples(): number {
    return this.#blocks.clippedSamples;
  }

  get invalidSamples(): number {
    return this.#blocks.invalidSamples;
  }

  write(samples: Float32Array, count: number): void {
    this.#blocks.write(samples, count);
  }

  writePcm16(samples: Uint8Array): void {
    this.#blocks.writePcm16(samples);
  }

  finish(): void {
    this.#blocks.finish();
    this.#encoder.sendFrameSync(null);
    this.#drain();
    if (this.#finalInfo === undefined) throw new Error('The FLAC encoder gave no final STREAMINFO');
    this.#sink.patch(STREAMINFO_OFFSET, this.#finalInfo);
  }

  [Symbol.dispose](): void {
    this.#packet.free();
    this.#encoder.freeContext();
    this.#blocks[Symbol.dispose]();
  }

  #encode(count: number): void {
    const { frame } = this.#blocks;
    frame.pts = BigInt(this.#samples);
    this.#samples += count;
    const sent = this.#encoder.sendFrameSync(frame);
    if (sent < 0) throw new Error(`A FLAC frame could not be encoded: ${codecMessage(sent)}`);
    this.#drain();
  }

  #drain(): void {
    for (;;) {
      const result = this.#encoder.receivePacketSync(this.#packet);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return;
      if (result < 0) throw new Error(`A FLAC frame could not be encoded: ${codecMessage(result)}`);
      const { data } = this.#packet;
      if (data !== null && data.length > 0) {
        this.#sink.write(data);
      } else {
        // The packet that ends the stream is empty: it only carries the final STREAMINFO.
        const info = this.#packet.getSideData(AV_PKT_DATA_NEW_EXTRADATA);
        if (info !== null) this.#finalInfo = Buffer.from(info);
      }
      this.#packet.unref();
    }
  }

  #streamInfo(): Buffer {
    const info = this.#encoder.extraData;
    if (info?.length !== STREAMINFO_BYTES) throw new Error('The FLAC encoder gave no STREAMINFO');
    return info;
  }
}
