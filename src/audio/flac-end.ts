import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readFlacFrameHeader } from './flac-frame-header.js';

/** What the STREAMINFO block of a FLAC file says (RFC 9639, section 8.2). */
export interface FlacInfo {
  /** Hz. */
  sampleRate: number;
  channels: number;
  /** 0 where it is not known. */
  totalFrames: number;
}

const STREAMINFO_END = 42;
/** How much of the end of the file is searched beside a frame: first as much as few tags take, then what programs write behind the audio. */
const TAILS_BYTES = [1 << 10, 1 << 16];
/** Larger frames than the tail are searched for where the header says that there are any. */
const MAX_TAIL_BYTES = 1 << 22;

/**
 * Reads the length of a FLAC file from its header, if the last frame of the file bears it out: that one must end where the header says
 * that the audio ends. A file that was cut off, or joined to another, does not pass.
 *
 * @returns undefined where the file is no FLAC, does not know its length, or does not bear it out.
 */
export function readFlacLength(path: string): FlacInfo | undefined {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(STREAMINFO_END);
    if (readSync(file, head, 0, head.length, 0) < head.length) return undefined;
    if (head.toString('latin1', 0, 4) !== 'fLaC' || (head.readUInt8(4) & 0x7f) !== 0) return undefined;
    const packed = head.readBigUInt64BE(18);
    const sampleRate = Number(packed >> 44n);
    const totalFrames = Number(packed & 0xf_ffff_ffffn);
    if (sampleRate === 0 || totalFrames === 0) return undefined;
    const [minBlock, maxBlock] = [head.readUInt16BE(8), head.readUInt16BE(10)];
    const fixedBlock = minBlock === maxBlock ? maxBlock : undefined;
    for (const tailBytes of TAILS_BYTES) {
      const end = findLastEnd(readTail(file, tailBytes + head.readUIntBE(15, 3)), fixedBlock);
      if (end === undefined) continue;
      return end === totalFrames ? { sampleRate, channels: Number((packed >> 41n) & 7n) + 1, totalFrames } : undefined;
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

function readTail(file: number, tailBytes: number): Buffer {
  const fileBytes = fstatSync(file).size;
  const wanted = Math.min(fileBytes - STREAMINFO_END, Math.min(MAX_TAIL_BYTES, tailBytes));
  const tail = Buffer.allocUnsafe(Math.max(0, wanted));
  return tail.subarray(0, readSync(file, tail, 0, tail.length, fileBytes - tail.length));
}

/**
 * Where the last frame ends whose header stands in the tail, which is looked for from the end of the file on. Its checksum and its number make a
 * chance hit all but impossible.
 */
function findLastEnd(tail: Buffer, fixedBlock: number | undefined): number | undefined {
  for (let at = tail.length - 2; at >= 0; at -= 1) {
    at = tail.lastIndexOf(0xff, at);
    if (at < 0) return undefined;
    const frame = readFlacFrameHeader(tail, at, tail.length, fixedBlock);
    if (frame !== undefined) return frame.start + frame.frames;
  }
  return undefined;
}
