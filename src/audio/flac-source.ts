import { statSync } from 'node:fs';
import { AV_CODEC_ID_FLAC } from 'node-av/constants';
import { Codec, CodecContext, Frame, Packet } from 'node-av/lib';
import type { BlockSource, TakeBlock } from './block-source.js';
import { FileChunks } from './file-chunks.js';
import { readFlacLength } from './flac-end.js';
import type { FlacInfo } from './flac-end.js';
import { FlacFrames } from './flac-frames.js';
import type { PlacedFlacFrame } from './flac-frames.js';
import type { RecordingInfo } from './recording-info.js';
import { SequentialSource } from './sequential-source.js';

/** A few frames of CD quality and more. */
const CHUNK_BYTES = 1 << 16;

/**
 * A FLAC file whose frames are found by their numbers: the codec library's own search parses each place that it looks at, which takes
 * as long as decoding half a second. Where anything is not as it should be, the codec library goes on from there.
 */
export class FlacSource implements BlockSource {
  readonly info: RecordingInfo;
  readonly #path: string;
  readonly #totalFrames: number;
  readonly #file: FileChunks;
  readonly #frames: FlacFrames;
  readonly #decoder: CodecContext;
  readonly #packet = new Packet();
  readonly #block = new Frame();
  #sequential: SequentialSource | undefined;

  /** @returns undefined where the file is anything else, or does not bear out what its header says. */
  static open(path: string): FlacSource | undefined {
    const info = readFlacLength(path);
    if (info === undefined) return undefined;
    const file = new FileChunks(path, CHUNK_BYTES);
    const frames = FlacFrames.open(file, statSync(path).size, info.totalFrames);
    const decoder = frames && openFlacDecoder(info, frames.streamInfo);
    if (frames !== undefined && decoder !== undefined) return new FlacSource(path, info, file, frames, decoder);
    file[Symbol.dispose]();
    return undefined;
  }

  private constructor(path: string, info: FlacInfo, file: FileChunks, frames: FlacFrames, decoder: CodecContext) {
    this.#path = path;
    this.#totalFrames = info.totalFrames;
    this.info = { sampleRate: info.sampleRate, channels: info.channels, container: 'flac', codec: 'flac' };
    this.#file = file;
    this.#frames = frames;
    this.#decoder = decoder;
    this.#packet.alloc();
    this.#block.alloc();
  }

  frames(): number {
    return this.#totalFrames;
  }

  decode(firstFrame: number, take: TakeBlock): number | undefined {
    if (firstFrame >= this.#totalFrames) return this.#totalFrames;
    let position = firstFrame;
    for (let frame = this.#frames.find(firstFrame); frame !== undefined; frame = this.#frames.next(frame)) {
      if (!this.#decodeFrame(frame)) break;
      position = frame.start + frame.frames;
      if (take(this.#block, frame.start, frame.frames)) return undefined;
    }
    if (position >= this.#totalFrames) return this.#totalFrames;
    this.#sequential ??= new SequentialSource(this.#path);
    return this.#sequential.decode(position, (block, start, frames) => take(block, start, frames));
  }

  [Symbol.dispose](): void {
    this.#sequential?.[Symbol.dispose]();
    this.#block.free();
    this.#packet.free();
    this.#decoder.freeContext();
    this.#file[Symbol.dispose]();
  }

  /** Decodes a frame into the block; false where it is damaged, or of another form than the header says. */
  #decodeFrame({ offset, endOffset, frames }: PlacedFlacFrame): boolean {
    this.#packet.data = this.#file.bytes(offset, endOffset - offset);
    const sent = this.#decoder.sendPacketSync(this.#packet);
    this.#packet.unref();
    if (sent < 0 || this.#decoder.receiveFrameSync(this.#block) < 0) return false;
    const { sampleRate, channels, nbSamples } = this.#block;
    return nbSamples === frames && sampleRate === this.info.sampleRate && channels === this.info.channels;
  }
}

/** Frames carry checksums, which tell of damage that would be heard as noise. */
function openFlacDecoder({ sampleRate, channels }: FlacInfo, streamInfo: Buffer): CodecContext | undefined {
  const codec = Codec.findDecoder(AV_CODEC_ID_FLAC);
  if (codec === null) return undefined;
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  decoder.extraData = streamInfo;
  decoder.sampleRate = sampleRate;
  decoder.channels = channels;
  decoder.threadCount = 1;
  decoder.setOption('err_detect', 'crccheck+explode');
  if (decoder.open2Sync(codec) >= 0) return decoder;
  decoder.freeContext();
  return undefined;
}
