import { formatOf } from './audio-format.js';
import type { OnPosition } from './convert-recording.js';
import { FRAMES_A_REPORT } from './cut-spans.js';
import { PlainWav } from './plain-wav.js';
import { refuseEarlyEnd, refuseFormatChange } from './recording-faults.js';
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
 * Finds the exact length of a recording: by decoding all of it, unless it is a WAV of plain samples.
 *
 * @throws AudioError where it cannot be read to its end.
 */
export async function measureRecording(path: string, onPosition: OnPosition): Promise<RecordingMeasure> {
  return measurePlainWav(path) ?? (await decodeAll(path, onPosition));
}

function measurePlainWav(path: string): RecordingMeasure | undefined {
  using wav = PlainWav.open(path);
  if (wav === undefined) return undefined;
  wav.checkEnd();
  return measure(wav.info, wav.frames);
}

async function decodeAll(path: string, onPosition: OnPosition): Promise<RecordingMeasure> {
  using reader = new RecordingReader(path);
  const { info } = reader;
  let channels: number | undefined;
  for (let reportAt = FRAMES_A_REPORT; reader.next();) {
    channels ??= reader.block.channels;
    refuseFormatChange(reader, channels);
    if (reader.position < reportAt) continue;
    await onPosition(reader.position, info.sampleRate);
    reportAt = reader.position + FRAMES_A_REPORT;
  }
  refuseEarlyEnd(reader);
  return measure(info, reader.position);
}

function measure(info: RecordingInfo, frames: number): RecordingMeasure {
  return { ...info, frames, format: formatOf(info.container, info.codec) };
}
