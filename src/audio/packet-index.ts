import type { FileChunks } from './file-chunks.js';
import { OggPackets } from './ogg-packets.js';

/** How the packets of a file lie in it: one behind the other, or in the pages of Ogg. */
export type PacketLayout = 'plain' | 'ogg';

/** Packets of a file, in order; each holds until the next one. */
export interface PacketStream {
  next(): Buffer | undefined;
}

/** Checkpoints are at least so many packets apart. */
const CHECKPOINT_PACKETS = 32;
const MAX_U16 = 0xffff;

/**
 * Where the packets of a file lie, and which audio each gives: what it takes to decode from the middle on.
 *
 * ```
 * checkpoints  ▼                       ▼                       (offset, packet, frame)
 * packets      |━━|━━━|━━|━━|━━━|━━|━━|━━|━━━|…                (sizes, frames)
 * ```
 */
export class PacketIndex {
  readonly layout: PacketLayout;
  /** Audio of packets before this one is not to be had by this index: what a decoder gives of them is cut by the container. */
  readonly firstPacket: number;
  /** Frames of the whole recording. */
  readonly totalFrames: number;
  readonly packets: number;
  readonly #checkpoints: Checkpoints;
  /** Bytes of each packet, from `firstPacket` on; empty for Ogg. */
  readonly #sizes: Uint16Array;
  /** Frames of each packet, or of all. */
  readonly #frames: Uint16Array | number;

  constructor(parts: PacketIndexParts) {
    this.layout = parts.layout;
    this.firstPacket = parts.firstPacket;
    this.totalFrames = parts.totalFrames;
    this.packets = parts.packets;
    this.#checkpoints = parts.checkpoints;
    this.#sizes = parts.sizes;
    this.#frames = parts.frames;
  }

  /** What the constructor takes. */
  get parts(): PacketIndexParts {
    const { layout, firstPacket, totalFrames, packets } = this;
    const [checkpoints, sizes, frames] = [this.#checkpoints, this.#sizes, this.#frames];
    return { layout, firstPacket, totalFrames, packets, checkpoints, sizes, frames };
  }

  /** Memory that the index takes. */
  get bytes(): number {
    const { packets, offsets, frames } = this.#checkpoints;
    const each = typeof this.#frames === 'number' ? 0 : this.#frames.byteLength;
    return packets.byteLength + offsets.byteLength + frames.byteLength + this.#sizes.byteLength + each;
  }

  /** The packet that gives a frame; -1 for one before the first packet of the index. */
  packetAt(frame: number): number {
    if (frame < (this.#checkpoints.frames[0] ?? 0)) return -1;
    const checkpoint = lastAtMost(this.#checkpoints.frames, frame);
    let packet = this.#checkpoints.packets[checkpoint] ?? 0;
    let end = this.#checkpoints.frames[checkpoint] ?? 0;
    for (; packet < this.packets; packet += 1) {
      end += this.framesOf(packet);
      if (end > frame) break;
    }
    return packet;
  }

  /** The frame that a packet begins with. */
  startOf(packet: number): number {
    const checkpoint = lastAtMost(this.#checkpoints.packets, packet);
    let start = this.#checkpoints.frames[checkpoint] ?? 0;
    for (let k = this.#checkpoints.packets[checkpoint] ?? 0; k < packet; k += 1) start += this.framesOf(k);
    return start;
  }

  /** How many frames a packet gives. */
  framesOf(packet: number): number {
    return typeof this.#frames === 'number' ? this.#frames : (this.#frames[packet - this.firstPacket] ?? 0);
  }

  /** The size of a packet in bytes; 0 in Ogg, where the pages tell it. */
  sizeOf(packet: number): number {
    return this.#sizes[packet - this.firstPacket] ?? 0;
  }

  /** The packets of the file, from `packet` on. */
  stream(file: FileChunks, packet: number): PacketStream {
    const checkpoint = lastAtMost(this.#checkpoints.packets, packet);
    const offset = this.#checkpoints.offsets[checkpoint] ?? 0;
    const at = this.#checkpoints.packets[checkpoint] ?? 0;
    const stream =
      this.layout === 'ogg'
        ? new OggPackets(file, offset)
        : new PlainPackets(file, this, this.#checkpoints, checkpoint);
    for (let k = at; k < packet; k += 1) stream.next();
    return stream;
  }
}

/** One place in the file in so many packets. */
export interface Checkpoints {
  packets: Float64Array;
  offsets: Float64Array;
  frames: Float64Array;
}

/** All that an index holds. */
export interface PacketIndexParts {
  layout: PacketLayout;
  firstPacket: number;
  totalFrames: number;
  packets: number;
  checkpoints: Checkpoints;
  sizes: Uint16Array;
  frames: Uint16Array | number;
}

/** Packets that lie one behind the other between two checkpoints. */
class PlainPackets implements PacketStream {
  readonly #file: FileChunks;
  readonly #index: PacketIndex;
  readonly #checkpoints: Checkpoints;
  #checkpoint: number;
  #packet: number;
  #offset = 0;

  constructor(file: FileChunks, index: PacketIndex, checkpoints: Checkpoints, checkpoint: number) {
    this.#file = file;
    this.#index = index;
    this.#checkpoints = checkpoints;
    this.#checkpoint = checkpoint;
    this.#packet = checkpoints.packets[checkpoint] ?? 0;
  }

  next(): Buffer | undefined {
    if (this.#packet >= this.#index.packets) return undefined;
    if (this.#packet === this.#checkpoints.packets[this.#checkpoint]) {
      this.#offset = this.#checkpoints.offsets[this.#checkpoint] ?? 0;
      this.#checkpoint += 1;
    }
    const size = this.#index.sizeOf(this.#packet);
    const bytes = this.#file.bytes(this.#offset, size);
    this.#offset += size;
    this.#packet += 1;
    return bytes.length < size ? undefined : bytes;
  }
}

/** Collects an index packet by packet. */
export class PacketIndexBuilder {
  readonly #layout: PacketLayout;
  #firstPacket: number;
  readonly #places: { packets: number[]; offsets: number[]; frames: number[] } = {
    packets: [],
    offsets: [],
    frames: [],
  };
  readonly #sizes = new GrowingU16();
  readonly #frames = new GrowingU16();
  #packets: number;
  #position: number;
  #nextOffset: number | undefined;
  #lastCheckpoint = -Infinity;

  constructor(layout: PacketLayout, firstPacket: number, position: number) {
    this.#layout = layout;
    this.#firstPacket = firstPacket;
    this.#packets = firstPacket;
    this.#position = position;
  }

  /** The packet that `add` is to be given next. */
  get packet(): number {
    return this.#packets;
  }

  /** Where the audio of the packets so far ends. */
  get position(): number {
    return this.#position;
  }

  /**
   * Takes the next packet.
   *
   * @param offset of the packet; in Ogg that of the page, for the first packet to begin there, and undefined for others.
   * @returns false where there cannot be an index; true where it went in, `checkpoint` where the file is read from here on later.
   */
  add(offset: number | undefined, size: number, frames: number): boolean | 'checkpoint' {
    if (frames > MAX_U16) return false;
    const isGap = this.#layout === 'plain' && offset !== this.#nextOffset;
    const isDue = this.#packets >= this.#lastCheckpoint + CHECKPOINT_PACKETS;
    const isCheckpoint = offset !== undefined && (isGap || isDue);
    if (!isCheckpoint && this.#places.packets.length === 0) {
      // Where reading cannot begin, in the middle of a page, there is nothing to remember.
      this.#packets += 1;
      this.#position += frames;
      this.#firstPacket = this.#packets;
      return true;
    }
    if (isCheckpoint) {
      this.#places.packets.push(this.#packets);
      this.#places.offsets.push(offset);
      this.#places.frames.push(this.#position);
      this.#lastCheckpoint = this.#packets;
    }
    if (this.#layout === 'plain') {
      if (offset === undefined || size > MAX_U16) return false;
      this.#sizes.push(size);
      this.#nextOffset = offset + size;
    }
    this.#frames.push(frames);
    this.#packets += 1;
    this.#position += frames;
    return isCheckpoint ? 'checkpoint' : true;
  }

  /** The index; undefined where no packet went in. */
  finish(totalFrames: number): PacketIndex | undefined {
    const { packets, offsets, frames } = this.#places;
    const [first] = packets;
    if (first === undefined) return undefined;
    const each = this.#frames.finish();
    const common = each[0] ?? 0;
    return new PacketIndex({
      layout: this.#layout,
      firstPacket: this.#firstPacket,
      totalFrames,
      packets: this.#packets,
      checkpoints: {
        packets: Float64Array.from(packets),
        offsets: Float64Array.from(offsets),
        frames: Float64Array.from(frames),
      },
      sizes: this.#sizes.finish(),
      // What is cut off the last packets, the length of the whole tells.
      frames: each.every((value, at) => value === common || (value < common && at === each.length - 1)) ? common : each,
    });
  }
}

class GrowingU16 {
  #values = new Uint16Array(1024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint16Array(2 * this.#length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  finish(): Uint16Array {
    return this.#values.slice(0, this.#length);
  }
}

/** The last index whose value is at most `limit`; 0 where there is none. */
function lastAtMost(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}
