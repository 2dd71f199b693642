import { createHash } from 'node:crypto';
import {
  AVFMT_FLAG_BITEXACT,
  AVFMT_FLAG_CUSTOM_IO,
  AV_CODEC_FLAG_BITEXACT,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_QSCALE,
  AV_SAMPLE_FMT_FLTP,
  FF_ENCODER_LIBVORBIS,
  FF_QP2LAMBDA,
} from 'node-av/constants';
import { Codec, CodecContext, Dictionary, FormatContext, Frame, IOContext, Packet, Rational } from 'node-av/lib';
import type { Stream } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import type { ByteSink, SnippetEncoder } from './snippet-encoder.js';
import { MONO, floatsOf } from './span-resampler.js';

/** libvorbis' scale from -1 to 10; 4 is what most tools use when nothing is asked. */
const QUALITY = 4;
/** FFmpeg's own decoder misses the exact end of a file that is one page long, so pages are shorter than any useful snippet. */
const PAGE_MICROS = 200_000;

/** Writes mono Ogg Vorbis. The same samples under the same name give the same bytes. */
export class VorbisEncoder implements SnippetEncoder {
  /** Vorbis keeps levels beyond full scale. */
  readonly clippedSamples = 0;
  invalidSamples = 0;

  readonly #encoder: CodecContext;
  readonly #muxer = new FormatContext();
  readonly #io = new IOContext();
  readonly #stream: Stream;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  readonly #frameSamples: number;
  #filled = 0;
  #samples = 0;

  constructor(sampleRate: number, name: string, sink: ByteSink) {
    const codec = Codec.findEncoderByName(FF_ENCODER_LIBVORBIS);
    if (codec === null) throw new Error('The codec library was built without libvorbis');
    this.#encoder = new CodecContext();
    this.#encoder.allocContext3(codec);
    this.#encoder.sampleRate = sampleRate;
    this.#encoder.sampleFormat = AV_SAMPLE_FMT_FLTP;
    this.#encoder.channelLayout = MONO;
    this.#encoder.timeBase = new Rational(1, sampleRate);
    this.#encoder.threadCount = 1;
    this.#encoder.globalQuality = QUALITY * FF_QP2LAMBDA;
    this.#encoder.setFlags(AV_CODEC_FLAG_QSCALE, AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_BITEXACT);
    check(this.#encoder.open2Sync(codec), `Vorbis cannot hold ${sampleRate} Hz`);
    this.#frameSamples = this.#encoder.frameSize;
    this.#packet.alloc();
    this.#frame.alloc();

    this.#io.allocContextWithCallbacks(1 << 16, 1, null, (bytes) => {
      sink.write(bytes);
      return bytes.length;
    });
    this.#muxer.allocOutputContext2(null, 'ogg', null);
    this.#muxer.pb = this.#io;
    this.#muxer.setFlags(AVFMT_FLAG_BITEXACT, AVFMT_FLAG_CUSTOM_IO);
    this.#stream = this.#muxer.newStream(codec);
    this.#encoder.parametersFromContext(this.#stream.codecpar);
    this.#stream.timeBase = this.#encoder.timeBase;
    const serial = createHash('sha256').update(name).digest().readUInt32LE(0) >>> 1;
    const options = Dictionary.fromObject({ serial_offset: serial, page_duration: PAGE_MICROS });
    check(this.#muxer.writeHeaderSync(options), 'The Ogg header could not be written');
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
    check(this.#muxer.writeTrailerSync(), 'The last Ogg page could not be written');
  }

  [Symbol.dispose](): void {
    this.#muxer.pb = null;
    this.#muxer.freeContext();
    this.#io.freeContext();
    this.#packet.free();
    this.#frame.free();
    this.#encoder.freeContext();
  }

  /** The encoder may still hold the samples of earlier frames, so each frame has a buffer of its own. */
  #renewFrame(): void {
    this.#frame.unref();
    this.#frame.format = AV_SAMPLE_FMT_FLTP;
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
    check(this.#encoder.sendFrameSync(this.#frame), 'Samples could not be encoded as Vorbis');
    this.#drain();
  }

  #drain(): void {
    while (this.#encoder.receivePacketSync(this.#packet) >= 0) {
      this.#packet.streamIndex = this.#stream.index;
      this.#packet.rescaleTs(this.#encoder.timeBase, this.#stream.timeBase);
      check(this.#muxer.writeFrameSync(this.#packet), 'An Ogg page could not be written');
      this.#packet.unref();
    }
  }
}

function check(result: number, what: string): void {
  if (result < 0) throw new Error(`${what}: ${codecMessage(result)}`);
}
