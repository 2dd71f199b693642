import type { FileChunks } from './file-chunks.js';
import { MAX_FLAC_HEADER_BYTES, readFlacFrameHeader } from './flac-frame-header.js';
import type { FlacFrame } from './flac-frame-header.js';

const STREAMINFO_AT = 8;
const STREAMINFO_BYTES = 34;
const LAST_BLOCK = 0x80;
/** Frames larger than this are not looked for where the header does not say how large they are. */
const MAX_FRAME_BYTES = 1 << 20;
const MIN_FRAME_BYTES = 9;
const SEARCHED_BYTES = 1 << 13;
/** What lies closer is reached frame by frame. */
const NEAR_BYTES = 1 << 15;
const MAX_GUESSES = 8;
/** Frames that were found are remembered, one of each such part of the recording. */
const REMEMBERED_PARTS = 64;

/** A frame and the bytes that it takes. */
export interface PlacedFlacFrame extends FlacFrame {
  offset: number;
  endOffset: number;
}

/**
 * Finds the frames of a FLAC file: the one that holds a given frame of audio by guessing where it lies from where others lie, in a few
 * steps however long the file is, and those that follow it one by one.
 *
 * ```
 * known   |frame 0                                    end|
 * guess   |                    ▼ the header behind it tells how far that was
 * next    |                    |      ▼                  |
 * ```
 *
 * The end of a frame is where the header with the next number stands. A header is believed where the next one follows: the checksum of one
 * alone would meet by chance now and then.
 */
export class FlacFrames {
  /** STREAMINFO, as decoders want it. */
  readonly streamInfo: Buffer;
  readonly #file: FileChunks;
  readonly #fileBytes: number;
  readonly #totalFrames: number;
  /** What each frame begins with. */
  readonly #sync: Buffer;
  readonly #found: (PlacedFlacFrame | undefined)[] = [];
  readonly #maxFrameBytes: number;
  readonly #fixedBlock: number | undefined;

  /** @returns undefined where the frames cannot be told by their numbers. */
  static open(file: FileChunks, fileBytes: number, totalFrames: number): FlacFrames | undefined {
    let offset = 4;
    for (let isLast = false; !isLast;) {
      const block = file.bytes(offset, 4);
      if (block.length < 4) return undefined;
      isLast = (block.readUInt8(0) & LAST_BLOCK) !== 0;
      offset += 4 + block.readUIntBE(1, 3);
    }
    const frames = new FlacFrames(file, fileBytes, totalFrames, offset);
    const first = frames.#frameAt(offset);
    const placed = first?.start === 0 ? frames.#place(offset, first) : undefined;
    if (placed === undefined) return undefined;
    frames.#found.push(placed);
    return frames;
  }

  private constructor(file: FileChunks, fileBytes: number, totalFrames: number, audioOffset: number) {
    this.#file = file;
    this.#fileBytes = fileBytes;
    this.#totalFrames = totalFrames;
    this.streamInfo = Buffer.from(file.bytes(STREAMINFO_AT, STREAMINFO_BYTES));
    const [minBlock, maxBlock] = [this.streamInfo.readUInt16BE(0), this.streamInfo.readUInt16BE(2)];
    this.#fixedBlock = minBlock === maxBlock ? maxBlock : undefined;
    this.#maxFrameBytes = this.streamInfo.readUIntBE(7, 3) || MAX_FRAME_BYTES;
    this.#sync = Buffer.from(file.bytes(audioOffset, 2));
  }

  /** The frame that holds a frame of audio; undefined where the numbers do not lead to it. */
  find(position: number): PlacedFlacFrame | undefined {
    let { low, high } = this.#around(position);
    for (let step = 0; low !== undefined; step += 1) {
      const bytes = high.offset - low.offset;
      const wanted = ((position - low.start) / (high.start - low.start)) * bytes;
      if (wanted < NEAR_BYTES || bytes < NEAR_BYTES) break;
      // Where guessing does not close in, halving does.
      const guess = low.offset + Math.floor(step < MAX_GUESSES ? wanted - NEAR_BYTES / 4 : bytes / 2);
      const found = this.#search(guess, high.offset);
      if (found !== undefined && found.start <= position) low = found;
      else high = { offset: guess, start: found?.start ?? high.start };
    }
    while (low !== undefined && low.start + low.frames <= position) low = this.next(low);
    if (low !== undefined && low.start > 0) {
      this.#found[1 + Math.floor((low.start / this.#totalFrames) * REMEMBERED_PARTS)] = low;
    }
    return low;
  }

  /** The frames known that stand closest before and behind a position. */
  #around(position: number): { low: PlacedFlacFrame | undefined; high: { offset: number; start: number } } {
    let low = this.#found[0];
    let high = { offset: this.#fileBytes, start: this.#totalFrames };
    for (let part = 1; part < this.#found.length; part += 1) {
      const frame = this.#found[part];
      if (frame === undefined) continue;
      if (frame.start > position) {
        high = frame;
        break;
      }
      low = frame;
    }
    return { low, high };
  }

  /** The frame that follows; undefined behind the last one, and where it does not stand there. */
  next({ endOffset, start, frames }: PlacedFlacFrame): PlacedFlacFrame | undefined {
    const frame = this.#frameAt(endOffset);
    return frame?.start === start + frames ? this.#place(endOffset, frame) : undefined;
  }

  /** The first frame that begins between two offsets. */
  #search(from: number, limit: number): PlacedFlacFrame | undefined {
    for (let header = this.#header(from, limit, from); header !== undefined;) {
      const placed = this.#place(header.offset, header);
      if (placed !== undefined) return placed;
      header = this.#header(header.offset + 1, limit, header.offset + 1);
    }
    return undefined;
  }

  /** Finds where a frame ends; undefined where no frame follows it. */
  #place(offset: number, frame: FlacFrame | undefined): PlacedFlacFrame | undefined {
    if (frame === undefined) return undefined;
    const end = frame.start + frame.frames;
    if (end > this.#totalFrames) return undefined;
    const limit = Math.min(this.#fileBytes, offset + this.#maxFrameBytes + 1);
    if (end === this.#totalFrames) return placedFrame(frame, offset, limit);
    for (let next = this.#header(offset + MIN_FRAME_BYTES, limit, offset); next !== undefined;) {
      if (next.start === end) return placedFrame(frame, offset, next.offset);
      next = this.#header(next.offset + 1, limit, offset);
    }
    return undefined;
  }

  /** The first bytes between two offsets that look like the header of a frame; what stands from `keepFrom` on is not to be read again. */
  #header(from: number, limit: number, keepFrom: number): (FlacFrame & { offset: number }) | undefined {
    const file = this.#file;
    for (let at = from; at < limit;) {
      const count = file.reach(at, SEARCHED_BYTES, keepFrom);
      const begin = file.placeOf(at);
      const end = begin + count;
      const last = Math.min(end, begin + limit - at);
      for (
        let hit = file.room.indexOf(this.#sync, begin);
        hit >= 0 && hit < last;
        hit = file.room.indexOf(this.#sync, hit + 1)
      ) {
        const frame = readFlacFrameHeader(file.room, hit, Math.min(end, hit + MAX_FLAC_HEADER_BYTES), this.#fixedBlock);
        if (frame !== undefined) return { start: frame.start, frames: frame.frames, offset: at + hit - begin };
      }
      if (count < SEARCHED_BYTES) return undefined;
      at += SEARCHED_BYTES - MAX_FLAC_HEADER_BYTES;
    }
    return undefined;
  }

  #frameAt(offset: number): FlacFrame | undefined {
    const count = this.#file.reach(offset, MAX_FLAC_HEADER_BYTES);
    const at = this.#file.placeOf(offset);
    return readFlacFrameHeader(this.#file.room, at, at + count, this.#fixedBlock);
  }
}

/** Field by field: to spread one object into another costs as much as finding a frame. */
function placedFrame({ start, frames }: FlacFrame, offset: number, endOffset: number): PlacedFlacFrame {
  return { start, frames, offset, endOffset };
}
