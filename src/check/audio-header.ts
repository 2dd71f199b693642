import { closeSync, openSync, readSync } from 'node:fs';
import { readWavHeader, wavFrames, wavShortfall } from '../audio/wav-header.js';

/** What the header of an audio file says, or why there is none. */
export interface AudioHeader {
  /** Of the audio; undefined where its first bytes do not tell. */
  seconds: number | undefined;
  /** What is wrong with the file. */
  fault?: string | undefined;
}

/** Enough for the marker, the block's header and STREAMINFO. */
const HEAD_BYTES = 42;
const WAV_MARKS = new Set(['RIFF', 'RF64', 'BW64', 'riff']);

/**
 * The length of an audio file by its first bytes, without a decoder: of WAV by its chunks, of FLAC by STREAMINFO (RFC 9639, section 8.2). The
 * lengths of other files are found by decoding alone, or by walking over them, which costs a thousand times as much.
 */
export function readAudioHeader(filePath: string): AudioHeader {
  const head = Buffer.alloc(HEAD_BYTES);
  const file = openSync(filePath, 'r');
  let size: number;
  try {
    size = readSync(file, head, 0, HEAD_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (size === 0) return { seconds: undefined, fault: 'the file is empty' };
  const mark = head.toString('latin1', 0, 4);
  if (mark === 'fLaC') return readFlac(head, size);
  return WAV_MARKS.has(mark) ? readWav(filePath) : { seconds: undefined };
}

function readWav(filePath: string): AudioHeader {
  const header = readWavHeader(filePath);
  if (header === undefined) return { seconds: undefined, fault: 'it ends before its audio begins' };
  const fault = wavShortfall(header);
  if (fault !== undefined) return { seconds: undefined, fault };
  const isPlain = header.codec !== undefined && header.sampleRate > 0 && header.bytesPerFrame > 0;
  return { seconds: isPlain ? wavFrames(header) / header.sampleRate : undefined };
}

function readFlac(head: Buffer, size: number): AudioHeader {
  if (size < HEAD_BYTES) return { seconds: undefined, fault: 'it ends inside the header of FLAC' };
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of the number of samples, from byte 18 on.
  const rate = head.readUIntBE(18, 3) >>> 4;
  const samples = (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return { seconds: rate > 0 && samples > 0 ? samples / rate : undefined };
}
