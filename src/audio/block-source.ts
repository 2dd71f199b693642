import type { Frame } from 'node-av/lib';
import type { RecordingInfo } from './recording-reader.js';

/**
 * Takes a block of audio, which holds until the call returns.
 *
 * @param start frame of the recording that the block begins with.
 * @param frames how many it holds.
 * @returns true once no more audio is needed.
 */
export type TakeBlock = (block: Frame, start: number, frames: number) => boolean;

/** A recording whose audio is decoded from any place on. All calls block. */
export interface BlockSource extends Disposable {
  readonly info: RecordingInfo;

  /**
   * The recording's length, which may take decoding all of it.
   *
   * @throws AudioError where it cannot be read to its end.
   */
  frames(): number;

  /**
   * Decodes from `firstFrame` on, or from a little before it, until no more is needed.
   *
   * @returns the recording's length where its end was met before, or undefined.
   * @throws AudioError where the audio is not to be had.
   */
  decode(firstFrame: number, take: TakeBlock): number | undefined;
}
