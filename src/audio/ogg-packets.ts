import type { FileChunks } from './file-chunks.js';
import { isWholePage } from './ogg-checksum.js';
import type { PacketStream } from './packet-index.js';

const HEADER_BYTES = 27;
const GRANULE_AT = 6;
const SERIAL_AT = 14;
const SEGMENTS_AT = 26;
const IS_CONTINUED = 1;
const IS_LAST = 4;
/** A segment of this size is followed by more of its packet. */
const FULL_SEGMENT = 255;

/**
 * The packets of an Ogg file, from the first one on that begins in a given page (RFC 3533, section 6).
 *
 * ```
 * page    |header|255|255|90|40|   |header, continued|…
 *                |packet    |packet|packet, ends in a later page
 * ```
 */
export class OggPackets implements PacketStream {
  /** Offset of the page in which the last packet began, where it was the first to begin there. */
  pageOffset: number | undefined;
  /** Whether no packet after the last one ends in the same page. */
  isPageEnd = false;
  readonly #file: FileChunks;
  readonly #isChecked: boolean;
  #serial: number | undefined;
  #nextPage: number;
  /** Offset of the next packet's bytes in the current page, and what is left of its segment table. */
  #at = 0;
  #lacing: Uint8Array = new Uint8Array(0);
  #lace = 0;
  /** Behind the last segment of the page that ends a packet. */
  #lastEnd = 0;
  #granule = 0n;
  #isLastPage = false;
  #isFirstInPage = true;
  #page = 0;

  /** @param isChecked ends at a page that is damaged, as the codec library does; it takes reading all of each page. */
  constructor(file: FileChunks, pageOffset: number, isChecked = false) {
    this.#file = file;
    this.#isChecked = isChecked;
    this.#nextPage = pageOffset;
    if (this.#openPage() && this.#isContinued) this.#passOverTail();
  }

  #isContinued = false;

  /** What the current page says of the position at its end. */
  get granule(): number {
    return Number(this.#granule);
  }

  /** Whether the current page says that it is the last one. */
  get isLastPage(): boolean {
    return this.#isLastPage;
  }

  /** Offset of the byte behind the current page. */
  get pageEndOffset(): number {
    return this.#nextPage;
  }

  next(): Buffer | undefined {
    if (this.#lace >= this.#lacing.length && !this.#openPage()) return undefined;
    this.pageOffset = this.#isFirstInPage ? this.#page : undefined;
    this.#isFirstInPage = false;
    const pieces: Buffer[] = [];
    for (;;) {
      const { size, isWhole } = this.#takeSegments();
      this.isPageEnd = this.#lace === this.#lastEnd;
      const piece = this.#file.bytes(this.#at, size);
      if (piece.length < size) return undefined;
      this.#at += size;
      if (isWhole && pieces.length === 0) return piece;
      pieces.push(Buffer.from(piece));
      if (isWhole) return Buffer.concat(pieces);
      if (!this.#openPage() || !this.#isContinued) return undefined;
    }
  }

  /** Opens the next page that holds anything; false at the end, and where the pages are not those of one stream in a row. */
  #openPage(): boolean {
    for (;;) {
      const offset = this.#nextPage;
      const header = this.#file.bytes(offset, HEADER_BYTES);
      if (header.length < HEADER_BYTES || header.toString('latin1', 0, 4) !== 'OggS') return false;
      const serial = header.readUInt32LE(SERIAL_AT);
      this.#serial ??= serial;
      if (serial !== this.#serial) return false;
      this.#isContinued = (header.readUInt8(5) & IS_CONTINUED) !== 0;
      this.#isLastPage = (header.readUInt8(5) & IS_LAST) !== 0;
      this.#granule = header.readBigInt64LE(GRANULE_AT);
      const segments = header.readUInt8(SEGMENTS_AT);
      const lacing = this.#file.bytes(offset + HEADER_BYTES, segments);
      if (lacing.length < segments) return false;
      this.#lacing = Uint8Array.from(lacing);
      this.#lace = 0;
      this.#at = offset + HEADER_BYTES + segments;
      this.#nextPage = this.#lacing.reduce((end, bytes) => end + bytes, this.#at);
      if (this.#isChecked && !this.#isWhole(offset)) return false;
      this.#lastEnd = this.#lacing.findLastIndex((bytes) => bytes < FULL_SEGMENT) + 1;
      this.#page = offset;
      this.#isFirstInPage = true;
      if (segments > 0) return true;
    }
  }

  #isWhole(offset: number): boolean {
    const size = this.#nextPage - offset;
    const page = this.#file.bytes(offset, size);
    return page.length === size && isWholePage(page);
  }

  /** The size of the next packet as far as it lies in this page. */
  #takeSegments(): { size: number; isWhole: boolean } {
    let size = 0;
    while (this.#lace < this.#lacing.length) {
      const bytes = this.#lacing[this.#lace] ?? 0;
      this.#lace += 1;
      size += bytes;
      if (bytes < FULL_SEGMENT) return { size, isWhole: true };
    }
    return { size, isWhole: false };
  }

  /** Passes over what belongs to a packet that began in an earlier page. */
  #passOverTail(): void {
    for (;;) {
      const { size, isWhole } = this.#takeSegments();
      this.#at += size;
      if (isWhole || !this.#openPage()) return;
    }
  }
}
