import { AVERROR_EAGAIN, AVERROR_EOF, AV_PKT_DATA_SKIP_SAMPLES } from 'node-av/constants';
import { Frame, Packet } from 'node-av/lib';
import type { CodecContext, FormatContext, Stream } from 'node-av/lib';
import type { FileChunks } from './file-chunks.js';
import { OggPackets } from './ogg-packets.js';
import { onlyAudioStream, openContainer, openDecoder } from './open-recording.js';
import { PacketIndexBuilder } from './packet-index.js';
import type { IndexSteps } from './packet-indexes.js';
import { ANCHOR_PACKETS, ANCHOR_PREROLL_PACKETS } from './packet-start.js';
import type { RecordingInfo } from './recording-info.js';

/** Decoded twice in some milliseconds. */
const PACKETS_A_STEP = 256;

/** Header packets of Vorbis in Ogg (Vorbis I, section 4.2.1). */
const VORBIS_HEADERS = 3;

/**
 * What a Vorbis decoder remembers is one half of the block before (Vorbis I, section 4.3.8): two decoders that agree for some packets after an
 * anchor agree from there on, and need not be compared.
 */
const VORBIS_COMPARED_PACKETS = 4;

/**
 * Makes the index of a recording whose timestamps do not tell exactly how many frames a packet gives: all of it is decoded, and counted.
 *
 * A second decoder, a new one at each anchor as a reader will make it, must give the same to the last bit:
 *
 * ```
 * first    |━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
 * second             ··|━━━━━━━━━━━━━━━━━··|━━━━━━━━━━━━━   ·· packets decoded for the decoder's memory alone
 * anchors              ▲                   ▲
 * ```
 *
 * @returns undefined where it does not, as that of AAC does not which draws noise from numbers that go on through the file.
 */
export function* indexByDecoding(path: string, file: FileChunks, info: RecordingInfo): IndexSteps {
  const container = openContainer(path, false, false);
  try {
    const stream = onlyAudioStream(path, container);
    using indexer = new DecodingIndexer(path, container, stream, file, info);
    return yield* indexer.run();
  } finally {
    container.closeInputSync();
  }
}

class DecodingIndexer implements Disposable {
  readonly #container: FormatContext;
  readonly #stream: Stream;
  readonly #file: FileChunks;
  readonly #info: RecordingInfo;
  readonly #pages: OggPackets | undefined;
  readonly #builder: PacketIndexBuilder;
  readonly #first: DecodedPacket;
  #second: DecodedPacket;
  readonly #path: string;
  readonly #isVorbis: boolean;
  readonly #packet = new Packet();
  /** The packets before the next anchor. */
  readonly #last: Buffer[] = [];
  /** Samples were cut off: nothing may follow. */
  #isEnded = false;

  constructor(path: string, container: FormatContext, stream: Stream, file: FileChunks, info: RecordingInfo) {
    this.#container = container;
    this.#stream = stream;
    this.#file = file;
    this.#info = info;
    this.#first = new DecodedPacket(openDecoder(path, stream));
    this.#second = new DecodedPacket(openDecoder(path, stream));
    this.#path = path;
    this.#isVorbis = info.codec === 'vorbis';
    this.#packet.alloc();
    const isOgg = info.container === 'ogg';
    this.#builder = new PacketIndexBuilder(isOgg ? 'ogg' : 'plain', 0, 0);
    if (!isOgg) return;
    this.#pages = new OggPackets(file, 0);
    for (let k = 0; k < VORBIS_HEADERS; k += 1) this.#pages.next();
  }

  *run(): IndexSteps {
    for (let packets = 1; ; packets += 1) {
      // What the codec library lent comes back when the event loop turns.
      if (packets % PACKETS_A_STEP === 0) yield;
      const result = this.#container.readFrameSync(this.#packet);
      if (result === AVERROR_EOF) break;
      if (result < 0) return undefined;
      const isOk = this.#packet.streamIndex !== this.#stream.index || this.#take(this.#packet);
      this.#packet.unref();
      if (!isOk) return undefined;
    }
    return this.#first.decode(null) && this.#first.frames === 0
      ? this.#builder.finish(this.#builder.position)
      : undefined;
  }

  [Symbol.dispose](): void {
    this.#packet.free();
    this.#first[Symbol.dispose]();
    this.#second[Symbol.dispose]();
  }

  #take(packet: Packet): boolean {
    const { data } = packet;
    if (data === null || !this.#first.decode(packet)) return false;
    const { frames } = this.#first;
    if (frames > 0 && !this.#first.isOf(this.#info)) return false;
    const sinceAnchor = this.#builder.packet % ANCHOR_PACKETS;
    if (sinceAnchor === 0) this.#beginAnew();
    const isCompared = !this.#isVorbis || sinceAnchor < VORBIS_COMPARED_PACKETS;
    if (isCompared && !this.#second.decodeBytes(data)) return false;
    // Before the first anchor nothing is read by the index, so what the container cuts off there does no harm.
    if (this.#builder.packet >= ANCHOR_PACKETS) {
      if (this.#isEnded && frames > 0) return false;
      this.#isEnded ||= this.#isVorbis
        ? packet.getSideData(AV_PKT_DATA_SKIP_SAMPLES) !== null
        : frames < this.#second.frames;
      if (isCompared && !this.#first.startsAs(this.#second)) return false;
    }
    const isNearAnchor = sinceAnchor >= ANCHOR_PACKETS - ANCHOR_PREROLL_PACKETS;
    if (isNearAnchor) this.#last.push(Buffer.from(data));
    return this.#add(data, Number(packet.pos));
  }

  /** A decoder of AAC that is emptied keeps the state of its noise: only a new one begins as a reader does. */
  #beginAnew(): void {
    if (this.#isVorbis) this.#second.empty();
    else {
      this.#second[Symbol.dispose]();
      this.#second = new DecodedPacket(openDecoder(this.#path, this.#stream));
    }
    for (const earlier of this.#last) this.#second.decodeBytes(earlier);
    this.#last.length = 0;
  }

  #add(data: Buffer, offset: number): boolean {
    const { frames } = this.#first;
    if (this.#pages !== undefined) {
      return (
        this.#pages.next()?.equals(data) === true && this.#builder.add(this.#pages.pageOffset, 0, frames) !== false
      );
    }
    const added = this.#builder.add(offset, data.length, frames);
    return added === 'checkpoint' ? this.#file.bytes(offset, data.length).equals(data) : added;
  }
}

/** A decoder, and what it gave of the last packet. */
class DecodedPacket implements Disposable {
  frames = 0;
  readonly #decoder: CodecContext;
  readonly #block = new Frame();
  readonly #rest = new Frame();
  readonly #packet = new Packet();

  constructor(decoder: CodecContext) {
    this.#decoder = decoder;
    this.#block.alloc();
    this.#rest.alloc();
    this.#packet.alloc();
  }

  /** False where the packet is refused, or gives more than one block. */
  decode(packet: Packet | null): boolean {
    this.frames = 0;
    if (this.#decoder.sendPacketSync(packet) < 0) return false;
    const result = this.#decoder.receiveFrameSync(this.#block);
    if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return true;
    if (result < 0) return false;
    this.frames = this.#block.nbSamples;
    const more = this.#decoder.receiveFrameSync(this.#rest);
    return more === AVERROR_EAGAIN || more === AVERROR_EOF;
  }

  /** Decodes the bytes of a packet, without what the container says of it. */
  decodeBytes(data: Buffer): boolean {
    this.#packet.data = data;
    const isDecoded = this.decode(this.#packet);
    this.#packet.unref();
    return isDecoded;
  }

  empty(): void {
    this.#decoder.flushBuffers();
  }

  isOf({ sampleRate, channels }: RecordingInfo): boolean {
    return this.#block.sampleRate === sampleRate && this.#block.channels === channels;
  }

  /** Whether another decoder gave the same, and maybe more. */
  startsAs(other: DecodedPacket): boolean {
    if (this.frames > other.frames) return false;
    if (this.frames === 0) return true;
    const bytes = this.frames * BYTES_OF_FLOAT;
    const [own, others] = [this.#block.extendedData ?? [], other.#block.extendedData ?? []];
    if (own.length === 0 || own.length !== others.length) return false;
    return own.every((plane, at) => others[at]?.subarray(0, bytes).equals(plane.subarray(0, bytes)) === true);
  }

  [Symbol.dispose](): void {
    this.#packet.free();
    this.#block.free();
    this.#rest.free();
    this.#decoder.freeContext();
  }
}

/** The decoders of Vorbis and AAC give floats, a plane for each channel. */
const BYTES_OF_FLOAT = 4;
