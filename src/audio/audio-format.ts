import type { AudioFormat } from './sample-rates.js';

/** Which format a file is in already, by its container and codec; undefined for what no encoder here makes. */
export function formatOf(container: string, codec: string): AudioFormat | undefined {
  return FORMATS.get(`${container} ${codec}`);
}

/** The codec library has two decoders of MP3 and of Opus. */
const FORMATS: ReadonlyMap<string, AudioFormat> = new Map([
  ['flac flac', 'flac'],
  ['wav pcm_s16le', 'wav'],
  ['mp3 mp3', 'mp3'],
  ['mp3 mp3float', 'mp3'],
  ['ogg vorbis', 'ogg'],
  ['ogg opus', 'opus'],
  ['ogg libopus', 'opus'],
]);
