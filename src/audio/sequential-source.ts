import type { BlockSource, TakeBlock } from './block-source.js';
import { measureByHeader } from './header-measure.js';
import { refuseEarlyEnd, refuseFormatChange } from './recording-faults.js';
import { RecordingReader } from './recording-reader.js';
import type { RecordingInfo } from './recording-reader.js';

/** What it takes until there is audio. */
export interface FirstBlock {
  /** How many packets were read for it. */
  packets: number;
  /** Of the block that they gave. */
  frames: number;
}

/** Any recording: sought where its container knows the place of every sample, else decoded from the start on. */
export class SequentialSource implements BlockSource {
  readonly info: RecordingInfo;
  readonly #path: string;
  #reader: RecordingReader;
  /** Set while the reader's current block can be used again. */
  #hasBlock = false;
  #channels: number | undefined;
  #frames: number | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#reader = new RecordingReader(path);
    this.info = this.#reader.info;
  }

  /** Names what its decoder is set up by. */
  get decoderKey(): string {
    return this.#reader.decoderKey;
  }

  frames(): number {
    this.#frames ??= measureByHeader(this.#path)?.frames ?? this.decode(0, () => false) ?? 0;
    return this.#frames;
  }

  /**
   * Decodes the first block, before anything else was decoded.
   *
   * @returns undefined where there is none.
   * @throws AudioError where it is not to be had.
   */
  firstBlock(): FirstBlock | undefined {
    this.#goTo(0);
    const { packetCount: packets, position: frames } = this.#reader;
    return this.#hasBlock ? { packets, frames } : undefined;
  }

  decode(firstFrame: number, take: TakeBlock): number | undefined {
    this.#goTo(firstFrame);
    for (;;) {
      const reader = this.#reader;
      if (!this.#hasBlock && !reader.next()) {
        // Nothing can be read behind the end.
        this.#hasBlock = false;
        refuseEarlyEnd(reader);
        return reader.position;
      }
      this.#hasBlock = true;
      this.#channels ??= reader.block.channels;
      refuseFormatChange(reader, this.#channels);
      if (reader.position > firstFrame && take(reader.block, reader.blockStart, reader.blockFrames)) return undefined;
      this.#hasBlock = false;
    }
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
  }

  #goTo(firstFrame: number): void {
    // The first block tells what the timestamps of the others mean.
    if (this.#reader.packetCount === 0) this.#hasBlock = this.#reader.next();
    if (this.#hasBlock && this.#reader.blockStart <= firstFrame && firstFrame < this.#reader.position) return;
    const isAhead = firstFrame >= this.#reader.position;
    this.#hasBlock = false;
    if (this.#reader.jump(firstFrame)) return;
    if (isAhead) this.#reader.skip(this.#reader.position, firstFrame);
    else this.#reopen();
  }

  #reopen(): void {
    const reader = new RecordingReader(this.#path);
    this.#reader[Symbol.dispose]();
    this.#reader = reader;
  }
}
