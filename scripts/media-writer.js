// Encodes audio into a file, a piece at a time and with the same bytes each time, for the sample, the bench's corpora and
// the tests. It shares no code with src/audio/, so that a fault there cannot hide behind the same fault here.
import {
  AV_CHANNEL_ORDER_NATIVE,
  AV_CODEC_FLAG_BITEXACT,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_QSCALE,
  AV_LOG_ERROR,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUVJ420P,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S16P,
  AV_SAMPLE_FMT_S32,
  AV_SAMPLE_FMT_S32P,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AVFMT_FLAG_BITEXACT,
  AVFMT_GLOBALHEADER,
} from 'node-av/constants';
import {
  AudioFifo,
  Codec,
  CodecContext,
  Dictionary,
  FFmpegError,
  FormatContext,
  Frame,
  Log,
  Packet,
  Rational,
  SoftwareResampleContext,
} from 'node-av/lib';

/** Samples of a frame for encoders that take any number (PCM). */
const FREE_FRAME_SAMPLES = 4096;
/** FF_QP2LAMBDA of libavutil: what a quality is multiplied by in `global_quality`. */
const QUALITY_SCALE = 118;
const ANY_FORMAT = [AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT];
const INPUTS = {
  s16: {
    format: AV_SAMPLE_FMT_S16,
    encoderFormats: [AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P, ...ANY_FORMAT, AV_SAMPLE_FMT_S32P],
  },
  s32: {
    format: AV_SAMPLE_FMT_S32,
    encoderFormats: [AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P, ...ANY_FORMAT, AV_SAMPLE_FMT_S16],
  },
  f32: { format: AV_SAMPLE_FMT_FLT, encoderFormats: [AV_SAMPLE_FMT_FLT, ...ANY_FORMAT, AV_SAMPLE_FMT_S16] },
};
/** WAVE channel masks of the usual layouts, by number of channels. */
const CHANNEL_MASKS = [0n, 0x4n, 0x3n, 0x7n, 0x33n, 0x37n, 0x3fn, 0x13fn, 0x63fn];

/** Writes one file of encoded audio (and, for tests, video); see media-writer.d.ts for the options. */
export class MediaWriter {
  #format = new FormatContext();
  #packet = new Packet();
  #tracks;

  constructor(filePath, { container, tracks, muxerOptions = {} }) {
    Log.setLevel(AV_LOG_ERROR);
    check(this.#format.allocOutputContext2(null, container, filePath), `open container ${container}`);
    this.#format.setFlags(AVFMT_FLAG_BITEXACT);
    const wantsGlobalHeader = (this.#format.oformat.flags & AVFMT_GLOBALHEADER) !== 0;
    this.#packet.alloc();
    const emit = (context, stream) => this.#drain(context, stream);
    this.#tracks = tracks.map((track) =>
      'width' in track
        ? new VideoTrack(this.#format, track, wantsGlobalHeader, emit)
        : new AudioTrack(this.#format, track, wantsGlobalHeader, emit),
    );
    check(this.#format.openOutputSync(), `open ${filePath}`);
    check(this.#format.writeHeaderSync(Dictionary.fromObject(muxerOptions)), `write header of ${filePath}`);
  }

  /** Appends interleaved samples to an audio track. */
  write(samples, trackIndex = 0) {
    this.#tracks[trackIndex].write(samples);
  }

  /** Appends a plain grey picture to a video track. */
  writePicture(trackIndex) {
    this.#tracks[trackIndex].writePicture();
  }

  /** Flushes the encoders and completes the file. */
  close() {
    for (const track of this.#tracks) track.close();
    check(this.#format.writeTrailerSync(), 'write trailer');
    this.#format.closeOutputSync();
    this.#format.freeContext();
    this.#packet.free();
  }

  #drain(context, stream) {
    for (;;) {
      const status = context.receivePacketSync(this.#packet);
      if (status === AVERROR_EAGAIN || status === AVERROR_EOF) return;
      check(status, 'encode');
      this.#packet.streamIndex = stream.index;
      this.#packet.rescaleTs(context.timeBase, stream.timeBase);
      check(this.#format.interleavedWriteFrameSync(this.#packet), 'write packet');
    }
  }
}

/** Pieces of any length → resampler → FIFO → frames of the encoder's length. */
class AudioTrack {
  #context = new CodecContext();
  #stream;
  #emit;
  #input;
  #resampler;
  #fifo = new AudioFifo();
  #frameSamples;
  #writtenSamples = 0n;

  constructor(format, track, wantsGlobalHeader, emit) {
    const { codec: name, sampleRate, channels, input = 's16' } = track;
    const codec = Codec.findEncoderByName(name);
    if (codec === null) throw new Error(`This build of FFmpeg has no encoder ${name}`);
    const context = this.#context;
    context.allocContext3(codec);
    const formats = codec.sampleFormats ?? [];
    const { encoderFormats } = INPUTS[input];
    context.sampleFormat = encoderFormats.find((each) => formats.includes(each)) ?? formats[0];
    context.sampleRate = track.encodeRate ?? sampleRate;
    context.channelLayout = layoutOf(track.encodeChannels ?? channels);
    context.timeBase = new Rational(1, context.sampleRate);
    context.threadCount = 1;
    if (track.bitRate !== undefined) context.bitRate = BigInt(track.bitRate);
    if (track.quality !== undefined) {
      context.setFlags(AV_CODEC_FLAG_QSCALE);
      context.globalQuality = Math.round(track.quality * QUALITY_SCALE);
    }
    if (track.bitsPerSample !== undefined) context.bitsPerRawSample = track.bitsPerSample;
    context.setFlags(AV_CODEC_FLAG_BITEXACT);
    if (wantsGlobalHeader) context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
    // One by one: `open2Sync` frees a dictionary that its wrapper frees again.
    for (const [option, value] of Object.entries(track.options ?? {})) {
      check(context.setOption(option, value), `set ${option} of encoder ${name}`);
    }
    check(context.open2Sync(codec), `open encoder ${name}`);
    this.#stream = addStream(format, codec, context);
    this.#emit = emit;
    this.#input = { format: INPUTS[input].format, sampleRate, channels };
    this.#frameSamples = context.frameSize || FREE_FRAME_SAMPLES;
    this.#fifo.alloc(context.sampleFormat, context.channelLayout.nbChannels, this.#frameSamples * 2);
    this.#resampler = new SoftwareResampleContext();
    check(
      this.#resampler.allocSetOpts2(
        context.channelLayout,
        context.sampleFormat,
        context.sampleRate,
        layoutOf(channels),
        this.#input.format,
        sampleRate,
      ),
      'set up the resampler',
    );
    check(this.#resampler.init(), 'start the resampler');
  }

  write(samples) {
    if (samples.length === 0) return;
    const { format, sampleRate, channels } = this.#input;
    const frame = Frame.fromAudioBuffer(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength), {
      nbSamples: samples.length / channels,
      format,
      sampleRate,
      channelLayout: layoutOf(channels),
    });
    this.#convert(frame);
    frame.free();
    while (this.#fifo.size >= this.#frameSamples) this.#encode(this.#frameSamples);
  }

  close() {
    this.#convert(null);
    while (this.#fifo.size > 0) this.#encode(Math.min(this.#frameSamples, this.#fifo.size));
    check(this.#context.sendFrameSync(null), 'flush encoder');
    this.#emit(this.#context, this.#stream);
    this.#resampler.free();
    this.#fifo.free();
    this.#context.freeContext();
  }

  #convert(frame) {
    const converted = this.#newFrame();
    check(this.#resampler.convertFrame(converted, frame), 'resample');
    if (converted.nbSamples > 0) this.#fifo.writeSync(converted.extendedData, converted.nbSamples);
    converted.free();
  }

  #encode(count) {
    const frame = this.#newFrame();
    frame.nbSamples = count;
    check(frame.getBuffer(), 'allocate a frame');
    this.#fifo.readSync(frame.extendedData, count);
    frame.pts = this.#writtenSamples;
    this.#writtenSamples += BigInt(count);
    check(this.#context.sendFrameSync(frame), 'encode');
    frame.free();
    this.#emit(this.#context, this.#stream);
  }

  #newFrame() {
    const frame = new Frame();
    frame.alloc();
    frame.format = this.#context.sampleFormat;
    frame.sampleRate = this.#context.sampleRate;
    frame.channelLayout = this.#context.channelLayout;
    return frame;
  }
}

/** Grey pictures, for files that hold audio beside a video. */
class VideoTrack {
  #context = new CodecContext();
  #stream;
  #emit;
  #pictures = 0n;

  constructor(format, track, wantsGlobalHeader, emit) {
    const codec = Codec.findEncoderByName(track.codec);
    if (codec === null) throw new Error(`This build of FFmpeg has no encoder ${track.codec}`);
    const context = this.#context;
    context.allocContext3(codec);
    context.width = track.width;
    context.height = track.height;
    context.pixelFormat = track.codec === 'mjpeg' ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
    context.timeBase = new Rational(1, track.picturesPerSecond);
    context.framerate = new Rational(track.picturesPerSecond, 1);
    context.threadCount = 1;
    context.setFlags(AV_CODEC_FLAG_BITEXACT);
    if (wantsGlobalHeader) context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
    check(context.open2Sync(codec), `open encoder ${track.codec}`);
    this.#stream = addStream(format, codec, context);
    this.#emit = emit;
  }

  writePicture() {
    const { width, height, pixelFormat } = this.#context;
    const frame = Frame.fromVideoBuffer(Buffer.alloc((width * height * 3) / 2, 128), {
      width,
      height,
      format: pixelFormat,
      timeBase: this.#context.timeBase,
      pts: this.#pictures++,
    });
    check(this.#context.sendFrameSync(frame), 'encode a picture');
    frame.free();
    this.#emit(this.#context, this.#stream);
  }

  close() {
    check(this.#context.sendFrameSync(null), 'flush encoder');
    this.#emit(this.#context, this.#stream);
    this.#context.freeContext();
  }
}

function addStream(format, codec, context) {
  const stream = format.newStream(codec);
  check(stream.codecpar.fromContext(context), 'describe the stream');
  stream.timeBase = context.timeBase;
  return stream;
}

function layoutOf(channels) {
  return { nbChannels: channels, order: AV_CHANNEL_ORDER_NATIVE, mask: CHANNEL_MASKS[channels] };
}

function check(status, action) {
  FFmpegError.throwIfError(status, action);
}
