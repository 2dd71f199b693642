import type { AudioFormat } from '../audio/sample-rates.js';

const FORMATS: readonly AudioFormat[] = ['flac', 'mp3', 'wav', 'ogg', 'opus'];

/** A format in upper or lower case. */
export function audioFormat(text: string): AudioFormat {
  const format = FORMATS.find((known) => known === text.toLowerCase());
  if (format !== undefined) return format;
  throw new SyntaxError('must be FLAC, MP3, WAV, OGG or OPUS');
}

/** `yes` or `no` as the original spells them; nothing is yes. */
export function yesOrNo(text: string): boolean {
  const word = text.toLowerCase();
  if (['', 'yes', 'true', 't', 'y', '1'].includes(word)) return true;
  if (['no', 'false', 'f', 'n', '0'].includes(word)) return false;
  throw new SyntaxError('must be yes or no');
}
