import type { FileChunks } from './file-chunks.js';
import type { PacketIndex } from './packet-index.js';

/** Where decoding begins so that a packet comes out as it does when all that stands before it is decoded. */
export type FindStart = (index: PacketIndex, packet: number, file: FileChunks) => number;

/** What a frame of MP3 may borrow from the main data of those before it (ISO/IEC 11172-3, section 2.4.2.7), and a little more. */
const RESERVOIR_BYTES = 600;
/** Header, checksum and the longest side information (section 2.4.1). */
const FRAME_OVERHEAD_BYTES = 4 + 2 + 32;
/** A frame overlaps the one before it, and the synthesis window reaches into that. */
const OVERLAPPING_FRAMES = 4;
const MAX_MP3_PREROLL = 200;

/** In MP3: as many frames earlier as hold what the packet and those that it overlaps may borrow. */
export const mp3Start: FindStart = (index, packet) => {
  const first = packet - OVERLAPPING_FRAMES;
  let start = first;
  for (let bytes = 0; bytes < RESERVOIR_BYTES && start > first - MAX_MP3_PREROLL; start -= 1) {
    if (start - 1 < index.firstPacket) return -1;
    // Where the frames are that small, the side information is the shorter one.
    bytes += Math.max(4, index.sizeOf(start - 1) - FRAME_OVERHEAD_BYTES);
  }
  return start;
};

/** A block of Vorbis overlaps the one before it, and nothing else of the past is remembered (Vorbis I, section 4.3.8). */
const VORBIS_PREROLL_PACKETS = 2;

export const vorbisStart: FindStart = (_, packet) => packet - VORBIS_PREROLL_PACKETS;

/** Where decoding of AAC begins: at anchors so many packets apart, at each of which it was tried when the index was made. */
export const ANCHOR_PACKETS = 64;
/** A block overlaps the one before it. */
export const ANCHOR_PREROLL_PACKETS = 4;

export const anchorStart: FindStart = (_, packet) => {
  const anchor = packet - (packet % ANCHOR_PACKETS);
  return anchor === 0 ? -1 : anchor - ANCHOR_PREROLL_PACKETS;
};
