import { statSync } from 'node:fs';
import type { CodecContext } from 'node-av/lib';
import type { BlockSource, TakeBlock } from './block-source.js';
import { FileChunks } from './file-chunks.js';
import { FlacContexts } from './flac-contexts.js';
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
  readonly #contexts: FlacContexts;
  readonly #ownsContexts: boolean;
  #sequential: SequentialSource | undefined;

  /**
   * @param shared lends a decoder; without it, the source has its own.
   * @returns undefined where the file is anything else, or does not bear out what its header says.
   */
  static open(path: string, shared?: FlacContexts): FlacSource | undefined {
    const info = readFlacLength(path);
    if (info === undefined) return undefined;
    const file = new FileChunks(path, CHUNK_BYTES);
    const frames = FlacFrames.open(file, statSync(path).size, info.totalFrames);
    if (frames !== undefined) return new FlacSource(path, info, file, frames, shared);
    file[Symbol.dispose]();
    return undefined;
  }

  private constructor(path: string, info: FlacInfo, file: FileChunks, frames: FlacFrames, shared?: FlacContexts) {
    this.#path = path;
    this.#totalFrames = info.totalFrames;
    this.info = { sampleRate: info.sampleRate, channels: info.channels, container: 'flac', codec: 'flac' };
    this.#file = file;
    this.#frames = frames;
    this.#ownsContexts = shared === undefined;
    this.#contexts = shared ?? new FlacContexts();
  }

  frames(): number {
    return this.#totalFrames;
  }

  decode(firstFrame: number, take: TakeBlock): number | undefined {
    if (firstFrame >= this.#totalFrames) return this.#totalFrames;
    let position = firstFrame;
    const decoder = this.#contexts.take(this.#frames.streamInfo);
    if (decoder !== undefined) {
      for (let frame = this.#frames.find(firstFrame); frame !== undefined; frame = this.#frames.next(frame)) {
        if (!this.#decodeFrame(frame, decoder)) break;
        position = frame.start + frame.frames;
        if (take(this.#contexts.block, frame.start, frame.frames)) return undefined;
      }
    }
    if (position >= this.#totalFrames) return this.#totalFrames;
    this.#sequential ??= new SequentialSource(this.#path);
    // The codec library's reading may take other places of the channels from tags: whoever takes the blocks wants the same in all of them.
    const layout = decoder?.channelLayout;
    return this.#sequential.decode(position, (block, start, frames) => {
      if (layout !== undefined) block.channelLayout = layout;
      return take(block, start, frames);
    });
  }

  [Symbol.dispose](): void {
    this.#sequential?.[Symbol.dispose]();
    if (this.#ownsContexts) this.#contexts[Symbol.dispose]();
    this.#file[Symbol.dispose]();
  }

  /** Decodes a frame into the block; false where it is damaged, or of another form than the header says. */
  #decodeFrame({ offset, endOffset, frames }: PlacedFlacFrame, decoder: CodecContext): boolean {
    const { packet, block } = this.#contexts;
    packet.data = this.#file.bytes(offset, endOffset - offset);
    const sent = decoder.sendPacketSync(packet);
    packet.unref();
    if (sent < 0 || decoder.receiveFrameSync(block) < 0) return false;
    const { sampleRate, channels, nbSamples } = block;
    return nbSamples === frames && sampleRate === this.info.sampleRate && channels === this.info.channels;
  }
}
