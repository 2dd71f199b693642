import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 27;
const FLAGS_AT = 5;
const GRANULE_AT = 6;
const SERIAL_AT = 14;
const SEGMENTS_AT = 26;
const MAX_PAGE_HEADER_BYTES = HEADER_BYTES + 255;
const IS_CONTINUED = 1;
const IS_FIRST = 2;
const IS_LAST = 4;
/** A segment of this size is followed by more of its packet. */
const FULL_SEGMENT = 255;
/** Identification, comment and setup (Vorbis I specification, section 4.2). */
const HEADER_PACKETS = 3;

/**
 * The length of an Ogg Vorbis file whose audio lies in a single page, which says where the audio ends (Vorbis I specification, section A.2).
 *
 * ```
 * page    |identification|comment, setup|packet packet packet|
 *          first                         last, ends at frame 160
 * ```
 *
 * The demuxer of the codec library has no page before it to count from, and tells the decoder to take off too much or nothing.
 *
 * @returns undefined for anything else, several streams in one file among it.
 */
export function readOnePageFrames(path: string): number | undefined {
  const file = openSync(path, 'r');
  try {
    return findOnlyPage(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function findOnlyPage(file: number, fileBytes: number): number | undefined {
  let packets = 0;
  let serial: number | undefined;
  for (let at = 0; ;) {
    const page = readPage(file, at);
    if (page === undefined) return undefined;
    serial ??= page.serial;
    if (page.serial !== serial || ((page.flags & IS_FIRST) !== 0) !== (at === 0)) return undefined;
    at += page.sizeBytes;
    if (packets < HEADER_PACKETS) {
      // The audio begins on a page of its own.
      packets += page.packetEnds;
      if (packets > HEADER_PACKETS) return undefined;
      continue;
    }
    const isWhole = page.endsPacket && (page.flags & IS_CONTINUED) === 0 && (page.flags & IS_LAST) !== 0;
    return isWhole && at === fileBytes && page.granule > 0n ? Number(page.granule) : undefined;
  }
}

interface Page {
  flags: number;
  serial: number;
  granule: bigint;
  /** How many packets end in it, and whether the last one does. */
  packetEnds: number;
  endsPacket: boolean;
  sizeBytes: number;
}

function readPage(file: number, at: number): Page | undefined {
  const buffer = Buffer.allocUnsafe(MAX_PAGE_HEADER_BYTES);
  const held = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, at));
  if (held.length < HEADER_BYTES || held.toString('latin1', 0, 4) !== 'OggS') return undefined;
  const segments = held.readUInt8(SEGMENTS_AT);
  const lacing = held.subarray(HEADER_BYTES, HEADER_BYTES + segments);
  if (lacing.length < segments) return undefined;
  return {
    flags: held.readUInt8(FLAGS_AT),
    serial: held.readUInt32LE(SERIAL_AT),
    granule: held.readBigInt64LE(GRANULE_AT),
    packetEnds: lacing.filter((bytes) => bytes < FULL_SEGMENT).length,
    endsPacket: (lacing.at(-1) ?? FULL_SEGMENT) < FULL_SEGMENT,
    sizeBytes: HEADER_BYTES + segments + lacing.reduce((sum, bytes) => sum + bytes, 0),
  };
}
