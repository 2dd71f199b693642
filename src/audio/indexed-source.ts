import { Frame, Packet } from 'node-av/lib';
import type { CodecContext } from 'node-av/lib';
import { AudioError, codecMessage } from './audio-error.js';
import type { BlockSource, TakeBlock } from './block-source.js';
import { FileChunks } from './file-chunks.js';
import { OwnDecoder } from './packet-decoders.js';
import type { DecoderSupply, SharedDecoders } from './packet-decoders.js';
import type { PacketIndex } from './packet-index.js';
import type { FindStart } from './packet-start.js';
import type { RecordingInfo } from './recording-reader.js';
import { SequentialSource } from './sequential-source.js';

/** How audio in the middle is come by. */
export interface ReadingMethod {
  findStart: FindStart;
  /** The decoder keeps something of what it decoded even when it is emptied. */
  needsNewDecoder: boolean;
}

/** What is known of a recording beside its index: enough to decode it without its container. */
export interface KnownRecording {
  info: RecordingInfo;
  /** As `decoderKey` names it. */
  decoderKey: string;
}

/** A recording with an index of its packets: decoding begins shortly before the audio that is needed, wherever that is. */
export class IndexedSource implements BlockSource {
  readonly info: RecordingInfo;
  readonly #path: string;
  readonly #index: PacketIndex;
  readonly #method: ReadingMethod;
  readonly #file: FileChunks;
  readonly #decoders: DecoderSupply;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  /** For audio near the start, some of which the container has cut off; opened when it is needed. */
  #fromStart: SequentialSource | undefined;

  /**
   * @param fromStart the same recording, where it is open; it is disposed of with this.
   * @param shared lends the decoder, unless one of its own is needed.
   */
  constructor(
    path: string,
    { info, decoderKey }: KnownRecording,
    fromStart: SequentialSource | undefined,
    index: PacketIndex,
    method: ReadingMethod,
    shared: SharedDecoders | undefined,
  ) {
    this.#path = path;
    this.info = info;
    this.#fromStart = fromStart;
    this.#index = index;
    this.#method = method;
    this.#decoders =
      shared === undefined || method.needsNewDecoder
        ? new OwnDecoder(path, method.needsNewDecoder)
        : { take: () => shared.take(path, decoderKey), [Symbol.dispose]: () => undefined };
    this.#file = new FileChunks(path);
    this.#packet.alloc();
    this.#frame.alloc();
  }

  frames(): number {
    return this.#index.totalFrames;
  }

  decode(firstFrame: number, take: TakeBlock): number | undefined {
    const index = this.#index;
    if (firstFrame >= index.totalFrames) return index.totalFrames;
    const needed = index.packetAt(firstFrame);
    const start = needed < 0 ? -1 : this.#method.findStart(index, needed, this.#file);
    if (start < index.firstPacket) {
      this.#fromStart ??= new SequentialSource(this.#path);
      return this.#fromStart.decode(firstFrame, take);
    }
    const decoder = this.#decoders.take();
    const packets = index.stream(this.#file, start);
    let position = index.startOf(needed);
    for (let packet = start; packet < index.packets && position < index.totalFrames; packet += 1) {
      const result = this.#send(decoder, packets.next());
      // For want of what stands before it the decoder may refuse what is there to prepare it.
      if (packet < needed) continue;
      const frames = Math.min(index.framesOf(packet), index.totalFrames - position);
      if (result < 0 || this.#frame.nbSamples < frames) this.#refuse(position, result);
      this.#refuseFormatChange(position);
      this.#frame.nbSamples = frames;
      if (take(this.#frame, position, frames)) return undefined;
      position += frames;
    }
    return position;
  }

  [Symbol.dispose](): void {
    this.#fromStart?.[Symbol.dispose]();
    this.#frame.free();
    this.#packet.free();
    this.#decoders[Symbol.dispose]();
    this.#file[Symbol.dispose]();
  }

  /** Decodes one packet into the frame. */
  #send(decoder: CodecContext, data: Buffer | undefined): number {
    if (data === undefined)
      throw new AudioError('truncated_recording', this.#path, 'it became shorter while it was read');
    this.#packet.data = data;
    const sent = decoder.sendPacketSync(this.#packet);
    this.#packet.unref();
    return sent < 0 ? sent : decoder.receiveFrameSync(this.#frame);
  }

  #refuseFormatChange(position: number): void {
    const { channels, sampleRate } = this.#frame;
    if (channels === this.info.channels && sampleRate === this.info.sampleRate) return;
    const at = (position / this.info.sampleRate).toFixed(3);
    const state = `at ${at} s it changes to ${sampleRate} Hz with ${channels} channels`;
    throw new AudioError('format_changes', this.#path, state, {
      hint: 'Split it where it changes, or convert it to one rate and number of channels.',
    });
  }

  #refuse(position: number, result: number): never {
    const at = (position / this.info.sampleRate).toFixed(3);
    const why = result < 0 ? codecMessage(result) : 'its packets give less audio than they say';
    throw new AudioError('corrupt_recording', this.#path, `damaged at ${at} s of audio (${why})`);
  }
}
