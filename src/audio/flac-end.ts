import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What the STREAMINFO block of a FLAC file says (RFC 9639, section 8.2). */
export interface FlacInfo {
  /** Hz. */
  sampleRate: number;
  channels: number;
  /** 0 where it is not known. */
  totalFrames: number;
}

const STREAMINFO_END = 42;
/** How much of the end of the file is searched: more than a frame and the tags that programs write behind the audio. */
const TAIL_BYTES = 1 << 16;
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
    const tail = readTail(file, head.readUIntBE(15, 3));
    if (!hasFrameEndingAt(tail, totalFrames, fixedBlock)) return undefined;
    return { sampleRate, channels: Number((packed >> 41n) & 7n) + 1, totalFrames };
  } finally {
    closeSync(file);
  }
}

function readTail(file: number, maxFrameBytes: number): Buffer {
  const fileBytes = fstatSync(file).size;
  const wanted = Math.min(fileBytes - STREAMINFO_END, Math.min(MAX_TAIL_BYTES, TAIL_BYTES + maxFrameBytes));
  const tail = Buffer.allocUnsafe(Math.max(0, wanted));
  return tail.subarray(0, readSync(file, tail, 0, tail.length, fileBytes - tail.length));
}

/** Looks for the header of a frame from the end of the file on. Its checksum and its number make a chance hit all but impossible. */
function hasFrameEndingAt(tail: Buffer, totalFrames: number, fixedBlock: number | undefined): boolean {
  for (let at = tail.length - 2; at >= 0; at -= 1) {
    at = tail.lastIndexOf(0xff, at);
    if (at < 0) return false;
    const end = frameEnd(tail.subarray(at, at + MAX_FRAME_HEADER_BYTES), fixedBlock);
    if (end !== undefined) return end === totalFrames;
  }
  return false;
}

const MAX_FRAME_HEADER_BYTES = 16;

/** Where the frame ends that begins with these bytes, in frames of audio; undefined where they are no header (RFC 9639, section 9.1). */
function frameEnd(header: Buffer, fixedBlock: number | undefined): number | undefined {
  const isVariable = header[1] === 0xf9;
  if (header.length < 6 || (header[1] !== 0xf8 && !isVariable)) return undefined;
  const [blockBits, rateBits] = [header.readUInt8(2) >> 4, header.readUInt8(2) & 15];
  const [channelBits, sizeBits] = [header.readUInt8(3) >> 4, (header.readUInt8(3) >> 1) & 7];
  if (blockBits === 0 || rateBits === 15 || channelBits > 10 || sizeBits === 3 || (header.readUInt8(3) & 1) === 1)
    return undefined;
  const number = readCodedNumber(header, 4);
  if (number === undefined) return undefined;
  let at = 4 + number.bytes;
  const blockBytes = blockBits === 6 ? 1 : blockBits === 7 ? 2 : 0;
  const rateBytes = rateBits === 12 ? 1 : rateBits === 13 || rateBits === 14 ? 2 : 0;
  if (at + blockBytes + rateBytes + 1 > header.length) return undefined;
  const block = blockBytes === 0 ? (BLOCK_SIZES[blockBits] ?? 0) : header.readUIntBE(at, blockBytes) + 1;
  at += blockBytes + rateBytes;
  if (checksumOf(header.subarray(0, at)) !== header[at]) return undefined;
  if (isVariable) return number.value + block;
  return fixedBlock === undefined ? undefined : number.value * fixedBlock + block;
}

/** RFC 9639, table 14. */
const BLOCK_SIZES: readonly number[] = [
  0, 192, 576, 1152, 2304, 4608, 0, 0, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768,
];

/** A number coded as UTF-8 codes characters, extended to 36 bits. */
function readCodedNumber(bytes: Buffer, at: number): { value: number; bytes: number } | undefined {
  const first = bytes[at] ?? 0xff;
  if (first < 0x80) return { value: first, bytes: 1 };
  const count = Math.clz32(~(first << 24));
  if (count < 2 || count > 7 || at + count > bytes.length) return undefined;
  let value = first & (0x7f >> count);
  for (const byte of bytes.subarray(at + 1, at + count)) {
    if ((byte & 0xc0) !== 0x80) return undefined;
    value = value * 64 + (byte & 0x3f);
  }
  return { value, bytes: count };
}

/** CRC-8 of polynomial 0x07. */
function checksumOf(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum >= 0x80 ? 0x07 : 0)) & 0xff;
  }
  return sum;
}
