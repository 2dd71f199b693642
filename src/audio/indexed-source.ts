import { Frame, Packet } from 'node-av/lib';
import type { CodecContext, FormatContext, Stream } from 'node-av/lib';
import { AudioError, codecMessage } from './audio-error.js';
import type { BlockSource, TakeBlock } from './block-source.js';
import { FileChunks } from './file-chunks.js';
import { onlyAudioStream, openContainer, openDecoder } from './open-recording.js';
import type { PacketIndex } from './packet-index.js';
import type { FindStart } from './packet-start.js';
import type { RecordingInfo } from './recording-reader.js';
import type { SequentialSource } from './sequential-source.js';

/** How audio in the middle is come by. */
export interface ReadingMethod {
  findStart: FindStart;
  /** The decoder keeps something of what it decoded even when it is emptied. */
  needsNewDecoder: boolean;
}

/** A recording with an index of its packets: decoding begins shortly before the audio that is needed, wherever that is. */
export class IndexedSource implements BlockSource {
  readonly info: RecordingInfo;
  readonly #path: string;
  readonly #index: PacketIndex;
  readonly #method: ReadingMethod;
  readonly #file: FileChunks;
  readonly #container: FormatContext;
  readonly #stream: Stream;
  #decoder: CodecContext;
  /** Whether the decoder was used, so that it is not as it was at first. */
  #isUsed = false;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  /** For audio near the start, some of which the container has cut off. */
  readonly #fromStart: SequentialSource;

  /** @param fromStart the same recording; it is disposed of with this. */
  constructor(path: string, fromStart: SequentialSource, index: PacketIndex, method: ReadingMethod) {
    this.#path = path;
    this.info = fromStart.info;
    this.#fromStart = fromStart;
    this.#index = index;
    this.#method = method;
    this.#container = openContainer(path, false, false);
    this.#stream = onlyAudioStream(path, this.#container);
    this.#decoder = openDecoder(path, this.#stream);
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
    if (start < index.firstPacket) return this.#fromStart.decode(firstFrame, take);
    this.#resetDecoder();
    const packets = index.stream(this.#file, start);
    let position = index.startOf(needed);
    for (let packet = start; packet < index.packets && position < index.totalFrames; packet += 1) {
      const result = this.#send(packets.next());
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
    this.#fromStart[Symbol.dispose]();
    this.#frame.free();
    this.#packet.free();
    this.#decoder.freeContext();
    this.#container.closeInputSync();
    this.#file[Symbol.dispose]();
  }

  #resetDecoder(): void {
    if (this.#isUsed && this.#method.needsNewDecoder) {
      this.#decoder.freeContext();
      this.#decoder = openDecoder(this.#path, this.#stream);
    } else this.#decoder.flushBuffers();
    this.#isUsed = true;
  }

  /** Decodes one packet into the frame. */
  #send(data: Buffer | undefined): number {
    if (data === undefined)
      throw new AudioError('truncated_recording', this.#path, 'it became shorter while it was read');
    this.#packet.data = data;
    const sent = this.#decoder.sendPacketSync(this.#packet);
    this.#packet.unref();
    return sent < 0 ? sent : this.#decoder.receiveFrameSync(this.#frame);
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
