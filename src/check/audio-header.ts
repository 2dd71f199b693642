import { closeSync, openSync, readSync } from 'node:fs';
import { readWavHeader } from '../audio/wav-header.js';

/** What the header of an audio file says, or why there is none. */
export interface AudioHeader {
  /** Of the audio; undefined where its kind of file does not tell in the first bytes. */
  seconds: number | undefined;
  /** What is wrong with the file. */
  fault?: string;
}

/** Enough for the marker, the block's header and STREAMINFO (RFC 9639, section 8.2). */
const FLAC_BYTES = 42;
const RATE_OFFSET_BYTES = 24;

/**
 * The length of an audio file by its first bytes, without a decoder: of WAV by its chunks, of FLAC by STREAMINFO. A header may lie; what it
 * says is what loaders go by that do not decode.
 */
export function readAudioHeader(filePath: string): AudioHeader {
  const start = Buffer.alloc(FLAC_BYTES);
  let size: number;
  let rate = 0;
  const file = openSync(filePath, 'r');
  try {
    size = readSync(file, start, 0, FLAC_BYTES, 0);
    if (start.toString('latin1', 0, 4) === 'RIFF') rate = start.readUInt32LE(RATE_OFFSET_BYTES);
  } finally {
    closeSync(file);
  }
  if (size === 0) return { seconds: undefined, fault: 'the file is empty' };
  const magic = start.toString('latin1', 0, 4);
  if (magic === 'fLaC') return readFlac(start, size);
  if (magic !== 'RIFF' || start.toString('latin1', 12, 16) !== 'fmt ' || rate === 0) return { seconds: undefined };
  const header = readWavHeader(filePath);
  if (header === undefined || header.bytesPerFrame === 0) return { seconds: undefined };
  const { declaredBytes = header.availableBytes, availableBytes, bytesPerFrame } = header;
  if (declaredBytes > availableBytes) {
    return { seconds: undefined, fault: `it ends after ${availableBytes} of ${declaredBytes} bytes of audio` };
  }
  return { seconds: Math.floor(declaredBytes / bytesPerFrame) / rate };
}

function readFlac(start: Buffer, size: number): AudioHeader {
  if (size < FLAC_BYTES) return { seconds: undefined, fault: 'it ends inside the header of FLAC' };
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of the number of samples, from byte 18 on.
  const rate = start.readUIntBE(18, 3) >>> 4;
  const samples = (start.readUInt8(21) & 0x0f) * 2 ** 32 + start.readUInt32BE(22);
  return { seconds: rate > 0 && samples > 0 ? samples / rate : undefined };
}
