import { readFlacLength } from './flac-end.js';
import type { RecordingMeasure } from './measure-recording.js';
import { checkFile } from './open-recording.js';
import { PlainWav } from './plain-wav.js';

/**
 * Tells the exact length of a recording from its header, where the file itself bears the header out: a WAV of plain samples that are all
 * there, and a FLAC whose last frame ends where its header says.
 *
 * @returns undefined where only decoding tells.
 * @throws AudioError where there is no such file, or it is cut off or empty by its own header.
 */
export function measureByHeader(path: string): RecordingMeasure | undefined {
  checkFile(path);
  const flac = readFlacLength(path);
  if (flac !== undefined) {
    const { sampleRate, channels, totalFrames } = flac;
    return { sampleRate, channels, container: 'flac', codec: 'flac', frames: totalFrames, format: 'flac' };
  }
  using wav = PlainWav.open(path);
  if (wav === undefined) return undefined;
  wav.checkEnd();
  return { ...wav.info, frames: wav.frames, format: wav.info.codec === 'pcm_s16le' ? 'wav' : undefined };
}
