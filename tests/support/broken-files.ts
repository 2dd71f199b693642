// Patches that turn the bytes of a good file into those of a faulty one, and bytes that are no audio at all.
import { hashUniform } from './signals.js';
import { buildWav } from './wav-files.js';

/** Sets the total of samples in FLAC's STREAMINFO to 0, "not known", as an encoder that writes to a pipe leaves it (RFC 9639, section 8.2). */
export function withZeroTotalSamples(flac: Buffer): Buffer {
  const bytes = Buffer.from(flac);
  // "fLaC", a block header of 4 bytes, and 13 bytes in: 4 bits of the sample size, then the 36 bits of the total.
  const at = 4 + 4 + 13;
  bytes[at] = (bytes[at] ?? 0) & 0xf0;
  bytes.fill(0, at + 1, at + 5);
  return bytes;
}

/** The first part of a file, as a broken transfer leaves it. */
export function truncated(bytes: Buffer, fraction: number): Buffer {
  return Buffer.from(bytes.subarray(0, Math.floor(bytes.length * fraction)));
}

/** Sets the count of frames in an MP3's Xing or Info header to 0. */
export function withZeroXingFrames(mp3: Buffer): Buffer {
  const bytes = Buffer.from(mp3);
  const found = [bytes.indexOf('Xing', 0, 'latin1'), bytes.indexOf('Info', 0, 'latin1')].filter((at) => at >= 0);
  if (found.length === 0) throw new RangeError('MP3 without a Xing or Info header');
  // The tag, 4 bytes of flags, then the count.
  bytes.writeUInt32BE(0, Math.min(...found) + 8);
  return bytes;
}

/**
 * Makes an m4a claim that its audio is encrypted: the sample entry `mp4a` becomes `enca`, with no key to be had
 * (ISO/IEC 14496-12, section 8.12).
 */
export function withEncryptedEntry(m4a: Buffer): Buffer {
  const bytes = Buffer.from(m4a);
  const description = bytes.indexOf('stsd', 0, 'latin1');
  const at = bytes.indexOf('mp4a', description, 'latin1');
  if (description < 0 || at < 0) throw new RangeError('m4a without an mp4a sample entry');
  bytes.write('enca', at, 'latin1');
  return bytes;
}

/** A WAV whose header names 0 channels. */
export function zeroChannelWav(samples: Float64Array): Buffer {
  return buildWav(samples, { headerChannels: 0 });
}

/** Text, for a file whose name says it is audio. */
export function textBytes(): Buffer {
  return Buffer.from('This recording was not found. Please log in and try again.\n'.repeat(40), 'latin1');
}

/** A picture of one pixel (PNG). */
export function pngBytes(): Buffer {
  return Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
}

/** Bytes without meaning. */
export function randomBytes(length = 8192, seed = 1): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, k) => Math.floor(hashUniform(k, seed) * 256)));
}
