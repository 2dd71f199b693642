import type { Frame } from 'node-av/lib';
import type { RecordingInfo } from './recording-info.js';

/** A recording, block by block in the order of time, in frames from its first one on. */
export interface BlockReader extends Disposable {
  readonly path: string;
  readonly info: RecordingInfo;
  /** The current block; valid until the next call of `next`. */
  readonly block: Frame;
  /** Position of its first frame, and how many it holds. */
  readonly blockStart: number;
  readonly blockFrames: number;
  /** Position after the last frame that was read; the length of the recording once `next` has answered false. */
  readonly position: number;
  /** Goes on to the next block; false at the end of the audio. */
  next(): boolean;
  /** Passes over audio that is not needed, where that is exact and worth it: `from` is where the need ended, `to` where it begins again. */
  skip(from: number, to: number): void;
  /** Says so when the audio ended before what the header promises; to be asked once `next` has answered false. */
  shortfall(): string | undefined;
}
