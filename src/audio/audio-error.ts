import { FFmpegError } from 'node-av/lib';
import { InputError } from '../errors.js';

/** Why a recording could not be read; the reasons that failures files and metrics count by. */
export type AudioFailure =
  | 'missing_recording'
  | 'unreadable_recording'
  | 'empty_recording'
  | 'not_audio'
  | 'ambiguous_streams'
  | 'encrypted'
  | 'truncated_recording'
  | 'corrupt_recording'
  | 'bad_channel'
  | 'format_changes';

/** Why a recording that can be read could not be encoded: where it keeps its own rate, the format may not hold that. */
export type EncodeFailure = 'unsupported_rate';

/** A recording that cannot be read as it should, or not be encoded; `reason` is what it is counted under. */
export class AudioError extends InputError {
  readonly reason: AudioFailure | EncodeFailure;
  /** What was met, without the action and the path. */
  readonly state: string;

  constructor(
    reason: AudioFailure | EncodeFailure,
    path: string,
    state: string,
    options: { hint?: string; cause?: unknown } = {},
  ) {
    super(`Cannot ${reason === 'unsupported_rate' ? 'encode' : 'read'} "${path}": ${state}`, { ...options, path });
    this.reason = reason;
    this.state = state;
  }
}

/** @throws Error for a negative result of the codec library, of what only a fault of our own makes it refuse. */
export function checkResult(result: number): void {
  if (result < 0) throw new Error(`The codec library refused: ${codecMessage(result)}`);
}

/** The codec library's words for a negative result. */
export function codecMessage(result: number): string {
  return FFmpegError.strerror(result).toLowerCase();
}
