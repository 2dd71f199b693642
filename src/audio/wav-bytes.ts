import { MAX_CHANNELS } from './channel-weights.js';
import { hasMarksOfGuise } from './plain-wav.js';
import { MAX_WAV_RATE } from './wav-header.js';

const RIFF_HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const FORMAT_BYTES = 16;
const PCM_TAG = 1;
/** Sizes from here on are those of writers that did not know it. */
const MAX_KNOWN_BYTES = 0x7fff_ff00;

/** A WAV of 16-bit samples that lies in memory. */
export interface WavBytes {
  /** Hz. */
  sampleRate: number;
  channels: number;
  frames: number;
  /** The samples, little-endian, of all channels in turn. */
  pcm: Buffer;
}

/**
 * Finds the samples of the plainest WAV: 16-bit PCM, all of it there and nothing in its header in doubt.
 *
 * @returns undefined for any other, which is for the readers of files to judge.
 */
export function readWavBytes(bytes: Buffer): WavBytes | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  let format: { sampleRate: number; channels: number } | undefined;
  for (let at = RIFF_HEAD_BYTES; at + CHUNK_HEAD_BYTES <= bytes.length;) {
    const id = bytes.toString('latin1', at, at + 4);
    const sizeBytes = bytes.readUInt32LE(at + 4);
    const body = at + CHUNK_HEAD_BYTES;
    if (body + sizeBytes > bytes.length) return undefined;
    if (id === 'fmt ') {
      if (format !== undefined) return undefined;
      format = readFormat(bytes.subarray(body, body + sizeBytes));
      if (format === undefined) return undefined;
    }
    if (id === 'data') {
      if (format === undefined || sizeBytes === 0 || sizeBytes >= MAX_KNOWN_BYTES) return undefined;
      const frames = Math.floor(sizeBytes / (2 * format.channels));
      const pcm = bytes.subarray(body, body + frames * 2 * format.channels);
      return frames === 0 || hasMarksOfGuise(pcm) ? undefined : { ...format, frames, pcm };
    }
    at = body + sizeBytes + (sizeBytes % 2);
  }
  return undefined;
}

function readFormat(body: Buffer): { sampleRate: number; channels: number } | undefined {
  if (body.length < FORMAT_BYTES || body.readUInt16LE(0) !== PCM_TAG || body.readUInt16LE(14) !== 16) return undefined;
  const [channels, sampleRate] = [body.readUInt16LE(2), body.readUInt32LE(4)];
  const isHeld = channels > 0 && channels <= MAX_CHANNELS && sampleRate > 0 && sampleRate <= MAX_WAV_RATE;
  return isHeld && body.readUInt16LE(12) === 2 * channels ? { sampleRate, channels } : undefined;
}
