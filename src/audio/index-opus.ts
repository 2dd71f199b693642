import { statSync } from 'node:fs';
import type { FileChunks } from './file-chunks.js';
import { OggPackets } from './ogg-packets.js';
import { PacketIndexBuilder } from './packet-index.js';
import type { PacketIndex } from './packet-index.js';
import type { IndexSteps } from './packet-indexes.js';
import { isSpeechOpus } from './packet-kinds.js';
import type { FirstBlock } from './sequential-source.js';

/** RFC 7845, section 5.1. */
const PRE_SKIP_AT = 10;
const MAPPING_FAMILY_AT = 18;
const STREAMS_AT = 19;
const MIN_HEAD_BYTES = 19;
/** Read in some milliseconds. */
const PACKETS_A_STEP = 4096;
/** A packet lasts for 120 ms at most (RFC 6716, section 3.2.5). */
const MAX_PACKET_FRAMES = 5760;
const SHORTEST_FRAMES = 120;
/** Six bits of the second byte tell how many frames there are (section 3.2.5). */
const MAX_COUNT = 63;

/**
 * Makes the index of Opus in Ogg from its pages alone: packets tell how long they last, and each page where its audio ends, which must be
 * the same.
 *
 * ```
 * packets   |━━|━━|━━|━━|━━|━━|━━|…
 * pages     |  ▲        ▲        ▲       positions that they tell
 * ```
 *
 * @param first what it takes until there is audio, which is what is left of these packets once the encoder's delay is taken off.
 * @returns undefined where they do not agree, as in streams that were joined or interrupted, and where there is speech.
 */
export function* indexOpus(path: string, file: FileChunks, first: FirstBlock): IndexSteps {
  const pages = new OggPackets(file, 0, true);
  const preSkip = passHeaders(pages);
  if (preSkip === undefined) return undefined;
  for (let k = 0; k < first.packets; k += 1) if (pages.next() === undefined) return undefined;
  const track = new Track(pages, preSkip, first, statSync(path).size);
  for (let packet = pages.next(); packet !== undefined; packet = pages.next()) {
    if (!track.add(packet)) return undefined;
    if (track.packets % PACKETS_A_STEP === 0) yield;
  }
  return track.finish();
}

/** Whether a packet holds several streams, in Opus of more than two channels: a file whose head is no such packet is none of that kind. */
export function isMultiStreamOpus(file: FileChunks): boolean {
  const head = new OggPackets(file, 0).next();
  return (
    isHead(head, 'OpusHead') && head.length > STREAMS_AT && head[MAPPING_FAMILY_AT] !== 0 && head[STREAMS_AT] !== 1
  );
}

/** @returns how many frames the encoder's delay has; undefined where the headers are not what they should be. */
function passHeaders(pages: OggPackets): number | undefined {
  const head = pages.next();
  if (!isHead(head, 'OpusHead') || head.length < MIN_HEAD_BYTES) return undefined;
  const preSkip = head.readUInt16LE(PRE_SKIP_AT);
  // Audio begins on a page of its own.
  return isHead(pages.next(), 'OpusTags') && pages.isPageEnd ? preSkip : undefined;
}

function isHead(packet: Buffer | undefined, name: string): packet is Buffer {
  return packet !== undefined && packet.toString('latin1', 0, name.length) === name;
}

/** Compares the lengths of packets with the positions that pages tell, and collects both. */
class Track {
  readonly #pages: OggPackets;
  readonly #preSkip: number;
  readonly #fileBytes: number;
  readonly #builder: PacketIndexBuilder;
  /** By how much the positions of pages run ahead: the delay, and what was cut off a longer stream. */
  #aheadFrames: number | undefined;
  /** Where the audio ends, once the last page is met. */
  #end: number | undefined;

  constructor(pages: OggPackets, preSkip: number, first: FirstBlock, fileBytes: number) {
    this.#pages = pages;
    this.#preSkip = preSkip;
    this.#fileBytes = fileBytes;
    this.#builder = new PacketIndexBuilder('ogg', first.packets, first.frames);
    this.#isInStep = !pages.isPageEnd || this.#meetPage(first.frames, 0);
  }

  /** False once something does not agree. */
  #isInStep: boolean;

  get packets(): number {
    return this.#builder.packet;
  }

  add(packet: Buffer): boolean {
    const frames = celtFrames(packet);
    if (!this.#isInStep || this.#end !== undefined || frames === undefined) return false;
    if (this.#builder.add(this.#pages.pageOffset, 0, frames) === false) return false;
    return !this.#pages.isPageEnd || this.#meetPage(this.#builder.position, frames);
  }

  finish(): PacketIndex | undefined {
    return this.#end !== undefined && this.#pages.pageEndOffset === this.#fileBytes
      ? this.#builder.finish(this.#end)
      : undefined;
  }

  /** Takes the position at the end of a page; the last page alone tells of less than its packets hold. */
  #meetPage(position: number, lastFrames: number): boolean {
    const { granule, isLastPage } = this.#pages;
    if (this.#aheadFrames === undefined) {
      this.#aheadFrames = granule - position;
      return !isLastPage && this.#aheadFrames >= this.#preSkip;
    }
    const told = granule - this.#aheadFrames;
    if (!isLastPage) return told === position;
    this.#end = told;
    return told <= position && told > position - lastFrames;
  }
}

/** How long a packet of CELT alone lasts, by its first bytes (RFC 6716, section 3.1), in frames of 48 kHz; undefined for any other. */
function celtFrames(packet: Buffer): number | undefined {
  const [toc, second] = packet;
  if (toc === undefined || isSpeechOpus(packet)) return undefined;
  const code = toc & 3;
  const count = code === 3 ? (second ?? 0) & MAX_COUNT : Math.min(2, code + 1);
  const frames = count * (SHORTEST_FRAMES << ((toc >> 3) & 3));
  return frames > 0 && frames <= MAX_PACKET_FRAMES ? frames : undefined;
}
