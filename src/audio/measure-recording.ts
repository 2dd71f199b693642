import { AudioError } from './audio-error.js';
import { formatOf } from './audio-format.js';
import type { OnPosition } from './convert-recording.js';
import { FRAMES_A_REPORT } from './cut-spans.js';
import { RecordingReader } from './recording-reader.js';
import type { RecordingInfo } from './recording-reader.js';
import type { AudioFormat } from './sample-rates.js';

/** What a recording is, and how long. */
export interface RecordingMeasure extends RecordingInfo {
  /** Its exact length: what decoding all of it gives. */
  frames: number;
  /** What it is encoded as, where that is something an encoder here makes. */
  format: AudioFormat | undefined;
}

/**
 * Finds the exact length of a recording, by decoding all of it.
 *
 * @throws AudioError where it cannot be read to its end.
 */
export async function measureRecording(path: string, onPosition: OnPosition): Promise<RecordingMeasure> {
  using reader = new RecordingReader(path);
  const { info } = reader;
  for (let reportAt = FRAMES_A_REPORT; reader.next();) {
    if (reader.position < reportAt) continue;
    await onPosition(reader.position, info.sampleRate);
    reportAt = reader.position + FRAMES_A_REPORT;
  }
  const shortfall = reader.shortfall();
  if (shortfall !== undefined) throw new AudioError('truncated_recording', path, shortfall);
  if (reader.position === 0) throw new AudioError('empty_recording', path, 'it holds no audio');
  return { ...info, frames: reader.position, format: formatOf(info.container, info.codec) };
}
