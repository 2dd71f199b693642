import {
  AV_LOG_QUIET,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AVFMT_FLAG_BITEXACT,
  AVFMT_FLAG_CUSTOM_IO,
  AV_CODEC_FLAG_BITEXACT,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AVSEEK_SET,
} from 'node-av/constants';
import type { FFAudioEncoder } from 'node-av/constants';
import { Codec, CodecContext, Dictionary, FormatContext, Frame, IOContext, Log, Packet, Rational } from 'node-av/lib';
import type { Stream } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import { MONO } from './channel-mix.js';
import { floatsOf } from './frame-floats.js';
import type { ByteSink, SnippetEncoder } from './snippet-encoder.js';

/** An encoder of the codec library that takes floats, and the container for what it makes. */
export interface MuxedFormat {
  /** Its name in messages. */
  title: string;
  codec: FFAudioEncoder;
  /** The encoder's sample format: floats, of one channel. */
  sampleFormat: Frame['format'];
  container: 'ogg' | 'mp3';
  /** Set where the muxer goes back to complete its header: may change that, knowing the length. */
  completeHeader?: (header: Buffer, samples: number) => void;
  muxerOptions: Readonly<Record<string, number>>;
  /** Sets what is the encoder's own, as its bit rate, before it is opened. */
  configure(encoder: CodecContext): void;
}

/** Writes mono audio in a lossy format. The same samples in the same format give the same bytes. */
export class MuxedEncoder implements SnippetEncoder {
  /** Lossy formats keep levels beyond full scale. */
  readonly clippedSamples = 0;
  invalidSamples = 0;

  readonly #format: MuxedFormat;
  readonly #encoder: CodecContext;
  readonly #muxer = new FormatContext();
  readonly #io = new IOContext();
  readonly #stream: Stream;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  readonly #frameSamples: number;
  #filled = 0;
  #samples = 0;

  constructor(format: MuxedFormat, sampleRate: number, sink: ByteSink) {
    Log.setLevel(AV_LOG_QUIET);
    this.#format = format;
    const codec = Codec.findEncoderByName(format.codec);
    if (codec === null) throw new Error(`The codec library was built without ${format.codec}`);
    this.#encoder = new CodecContext();
    this.#encoder.allocContext3(codec);
    this.#encoder.sampleRate = sampleRate;
    this.#encoder.sampleFormat = format.sampleFormat as never;
    this.#encoder.channelLayout = MONO;
    this.#encoder.timeBase = new Rational(1, sampleRate);
    this.#encoder.threadCount = 1;
    this.#encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_BITEXACT);
    format.configure(this.#encoder);
    check(this.#encoder.open2Sync(codec), `${format.title} cannot hold ${sampleRate} Hz`);
    this.#frameSamples = this.#encoder.frameSize;
    this.#packet.alloc();
    this.#frame.alloc();

    this.#openOutput(sink);
    this.#muxer.allocOutputContext2(null, format.container, null);
    this.#muxer.pb = this.#io;
    this.#muxer.setFlags(AVFMT_FLAG_BITEXACT, AVFMT_FLAG_CUSTOM_IO);
    this.#stream = this.#muxer.newStream(codec);
    this.#encoder.parametersFromContext(this.#stream.codecpar);
    this.#stream.timeBase = this.#encoder.timeBase;
    const options = Dictionary.fromObject(format.muxerOptions);
    check(this.#muxer.writeHeaderSync(options), `The header of ${format.title} could not be written`);
    options.free();
  }

  write(samples: Float32Array, count: number): void {
    for (let taken = 0; taken < count;) {
      if (this.#filled === 0) this.#renewFrame();
      const target = floatsOf(this.#frame, this.#frameSamples);
      const size = Math.min(count - taken, this.#frameSamples - this.#filled);
      for (let index = 0; index < size; index += 1) {
        const sample = samples[taken + index] ?? 0;
        const isValid = Number.isFinite(sample);
        if (!isValid) this.invalidSamples += 1;
        target[this.#filled + index] = isValid ? sample : 0;
      }
      this.#filled += size;
      taken += size;
      if (this.#filled === this.#frameSamples) this.#encode();
    }
  }

  finish(): void {
    if (this.#filled > 0) this.#encode();
    this.#encoder.sendFrameSync(null);
    this.#drain();
    check(this.#muxer.writeTrailerSync(), `The end of ${this.#format.title} could not be written`);
  }

  [Symbol.dispose](): void {
    this.#muxer.pb = null;
    this.#muxer.freeContext();
    this.#io.freeContext();
    this.#packet.free();
    this.#frame.free();
    this.#encoder.freeContext();
  }

  #openOutput(sink: ByteSink): void {
    const { completeHeader } = this.#format;
    let position = 0;
    let sizeBytes = 0;
    const write = (bytes: Buffer): number => {
      if (position < sizeBytes) {
        completeHeader?.(bytes, this.#samples);
        sink.patch(position, bytes);
      } else {
        sink.write(bytes);
        sizeBytes += bytes.length;
      }
      position += bytes.length;
      return bytes.length;
    };
    const seek = (offset: bigint, whence: number): bigint => {
      if (whence !== AVSEEK_SET) return -1n;
      position = Number(offset);
      return offset;
    };
    this.#io.allocContextWithCallbacks(1 << 16, 1, null, write, completeHeader === undefined ? null : seek);
  }

  /** The encoder may still hold the samples of earlier frames, so each frame has a buffer of its own. */
  #renewFrame(): void {
    this.#frame.unref();
    this.#frame.format = this.#format.sampleFormat;
    this.#frame.sampleRate = this.#encoder.sampleRate;
    this.#frame.channelLayout = MONO;
    this.#frame.nbSamples = this.#frameSamples;
    check(this.#frame.getBuffer(0), 'No memory for a block of samples');
  }

  #encode(): void {
    this.#frame.nbSamples = this.#filled;
    this.#frame.pts = BigInt(this.#samples);
    this.#samples += this.#filled;
    this.#filled = 0;
    check(this.#encoder.sendFrameSync(this.#frame), `Samples could not be encoded as ${this.#format.title}`);
    this.#drain();
  }

  #drain(): void {
    for (;;) {
      const result = this.#encoder.receivePacketSync(this.#packet);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return;
      check(result, `Samples could not be encoded as ${this.#format.title}`);
      this.#packet.streamIndex = this.#stream.index;
      this.#packet.rescaleTs(this.#encoder.timeBase, this.#stream.timeBase);
      check(this.#muxer.writeFrameSync(this.#packet), `A packet of ${this.#format.title} could not be written`);
      this.#packet.unref();
    }
  }
}

function check(result: number, what: string): void {
  if (result < 0) throw new Error(`${what}: ${codecMessage(result)}`);
}
