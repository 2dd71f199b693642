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

/** A recording that cannot be read as it should; `reason` is what it is counted under. */
export class AudioError extends InputError {
  readonly reason: AudioFailure;

  constructor(reason: AudioFailure, path: string, state: string, options: { hint?: string; cause?: unknown } = {}) {
    super(`Cannot read "${path}": ${state}`, { ...options, path });
    this.reason = reason;
  }
}

/** The codec library's words for a negative result. */
export function codecMessage(result: number): string {
  return FFmpegError.strerror(result).toLowerCase();
}
