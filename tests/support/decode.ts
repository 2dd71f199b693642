// A plain decoder for tests: FFmpeg's own demuxer and decoder from the first packet to the last, with no seeking, no
// mixing and nothing of src/audio/. What it yields is what "the full decode" of a file means.
import {
  AV_LOG_QUIET,
  AV_SAMPLE_FMT_DBL,
  AV_SAMPLE_FMT_DBLP,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S16P,
  AV_SAMPLE_FMT_S32,
  AV_SAMPLE_FMT_S32P,
  AV_SAMPLE_FMT_U8,
  AV_SAMPLE_FMT_U8P,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
} from 'node-av/constants';
import { Codec, CodecContext, FFmpegError, FormatContext, Frame, Log, Packet } from 'node-av/lib';

/** All of the audio of a file. */
export interface DecodedAudio {
  /** FFmpeg's name of the decoder. */
  codec: string;
  /** Hz. */
  sampleRate: number;
  channels: number;
  /** Sample frames decoded. */
  frames: number;
  /** Interleaved; integers divided by 2^(bits - 1), as they are held (24 bits stand in 32). */
  samples: Float64Array;
  /** Sample frames that the container claims, 0 where it claims nothing. */
  claimedFrames: number;
  /** Packets that the decoder refused. */
  refusedPackets: number;
}

/**
 * Decodes one audio stream of a file: the one that FFmpeg takes for the best, or the one with the given index.
 *
 * @throws {FFmpegError} where FFmpeg cannot open the file or its stream.
 */
export function decodeFile(filePath: string, streamIndex?: number): DecodedAudio {
  Log.setLevel(AV_LOG_QUIET);
  const format = new FormatContext();
  const context = new CodecContext();
  const packet = new Packet();
  const frame = new Frame();
  try {
    check(format.openInputSync(filePath), 'open');
    check(format.findStreamInfoSync(), 'find streams');
    const index = streamIndex ?? format.findBestStream(AVMEDIA_TYPE_AUDIO);
    check(index, 'find an audio stream');
    const stream = format.streams[index];
    if (stream === undefined) throw new RangeError(`No stream ${index} in ${filePath}`);
    const decoder = Codec.findDecoder(stream.codecpar.codecId);
    if (decoder === null) throw new Error(`No decoder for codec ${stream.codecpar.codecId}`);
    context.allocContext3(decoder);
    check(context.parametersToContext(stream.codecpar), 'set up the decoder');
    context.pktTimebase = stream.timeBase;
    context.threadCount = 1;
    check(context.open2Sync(decoder), 'open the decoder');
    const { sampleRate } = stream.codecpar;
    const claimed = stream.duration > 0n ? Number(stream.duration) : 0;
    const collector = new SampleCollector();
    packet.alloc();
    frame.alloc();
    let refusedPackets = 0;
    const drain = (): void => {
      for (;;) {
        const status = context.receiveFrameSync(frame);
        if (status === AVERROR_EAGAIN || status === AVERROR_EOF) return;
        if (status < 0) {
          refusedPackets += 1;
          return;
        }
        collector.add(frame);
        frame.unref();
      }
    };
    for (;;) {
      const status = format.readFrameSync(packet);
      if (status === AVERROR_EOF) break;
      check(status, 'read');
      if (packet.streamIndex === index) {
        if (context.sendPacketSync(packet) < 0) refusedPackets += 1;
        drain();
      }
      packet.unref();
    }
    check(context.sendPacketSync(null), 'flush the decoder');
    drain();
    const { samples, channels } = collector.finish();
    return {
      codec: decoder.name ?? '',
      sampleRate,
      channels,
      frames: channels === 0 ? 0 : samples.length / channels,
      samples,
      claimedFrames: Math.round(claimed * stream.timeBase.toDouble() * sampleRate),
      refusedPackets,
    };
  } finally {
    frame.free();
    packet.free();
    context.freeContext();
    format.closeInputSync();
  }
}

/** Interleaves frames of any sample format into one array. */
class SampleCollector {
  #pieces: Float64Array[] = [];
  #channels = 0;

  add(frame: Frame): void {
    this.#channels = frame.channels;
    this.#pieces.push(interleavedValues(frame));
  }

  finish(): { samples: Float64Array; channels: number } {
    const samples = new Float64Array(this.#pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of this.#pieces) {
      samples.set(piece, at);
      at += piece.length;
    }
    return { samples, channels: this.#channels };
  }
}

interface SampleReader {
  bytes: number;
  isPlanar: boolean;
  read: (buffer: Buffer, at: number) => number;
}

const READERS: Readonly<Record<number, SampleReader>> = {
  [AV_SAMPLE_FMT_U8]: { bytes: 1, isPlanar: false, read: (b, at) => (b.readUInt8(at) - 128) / 2 ** 7 },
  [AV_SAMPLE_FMT_U8P]: { bytes: 1, isPlanar: true, read: (b, at) => (b.readUInt8(at) - 128) / 2 ** 7 },
  [AV_SAMPLE_FMT_S16]: { bytes: 2, isPlanar: false, read: (b, at) => b.readInt16LE(at) / 2 ** 15 },
  [AV_SAMPLE_FMT_S16P]: { bytes: 2, isPlanar: true, read: (b, at) => b.readInt16LE(at) / 2 ** 15 },
  [AV_SAMPLE_FMT_S32]: { bytes: 4, isPlanar: false, read: (b, at) => b.readInt32LE(at) / 2 ** 31 },
  [AV_SAMPLE_FMT_S32P]: { bytes: 4, isPlanar: true, read: (b, at) => b.readInt32LE(at) / 2 ** 31 },
  [AV_SAMPLE_FMT_FLT]: { bytes: 4, isPlanar: false, read: (b, at) => b.readFloatLE(at) },
  [AV_SAMPLE_FMT_FLTP]: { bytes: 4, isPlanar: true, read: (b, at) => b.readFloatLE(at) },
  [AV_SAMPLE_FMT_DBL]: { bytes: 8, isPlanar: false, read: (b, at) => b.readDoubleLE(at) },
  [AV_SAMPLE_FMT_DBLP]: { bytes: 8, isPlanar: true, read: (b, at) => b.readDoubleLE(at) },
};

function interleavedValues(frame: Frame): Float64Array {
  const reader = READERS[frame.format];
  if (reader === undefined) throw new RangeError(`No reader for sample format ${frame.format}`);
  const { bytes, isPlanar, read } = reader;
  const { channels, nbSamples } = frame;
  const planes = frame.extendedData ?? [];
  const out = new Float64Array(nbSamples * channels);
  for (let n = 0; n < nbSamples; n += 1) {
    for (let c = 0; c < channels; c += 1) {
      const plane = planes[isPlanar ? c : 0];
      if (plane === undefined) throw new RangeError(`Frame without plane ${c}`);
      out[n * channels + c] = read(plane, (isPlanar ? n : n * channels + c) * bytes);
    }
  }
  return out;
}

function check(status: number, action: string): void {
  FFmpegError.throwIfError(status, action);
}
