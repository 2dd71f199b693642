const MAGIC = 'fLaC';
const LAST_BLOCK = 0x80;
const STREAMINFO_BYTES = 34;
const ID3_HEAD_BYTES = 10;

/** What stands before the audio of a FLAC file (RFC 9639, section 8). */
export interface FlacHead {
  /** The STREAMINFO block, as decoders want it. */
  streamInfo: Buffer;
  /** Hz. */
  sampleRate: number;
  channels: number;
  bitsPerSample: number;
  /** 0 where it is not known. */
  totalFrames: number;
  /** Where the first frame begins. */
  audioOffset: number;
}

/**
 * Reads what stands before the audio, tags and pictures of any size passed over, and an ID3 tag before it all.
 *
 * @returns undefined where the bytes are no FLAC, or end before the audio.
 */
export function readFlacHead(bytes: Buffer): FlacHead | undefined {
  const start = bytes.toString('latin1', 0, 3) === 'ID3' ? id3Bytes(bytes) : 0;
  const infoAt = start + MAGIC.length + 4;
  if (bytes.length < infoAt + STREAMINFO_BYTES || bytes.toString('latin1', start, start + 4) !== MAGIC)
    return undefined;
  if ((bytes.readUInt8(start + 4) & 0x7f) !== 0) return undefined;
  let audioOffset = start + MAGIC.length;
  for (let isLast = false; !isLast;) {
    if (audioOffset + 4 > bytes.length) return undefined;
    isLast = (bytes.readUInt8(audioOffset) & LAST_BLOCK) !== 0;
    audioOffset += 4 + bytes.readUIntBE(audioOffset + 1, 3);
  }
  if (audioOffset >= bytes.length) return undefined;
  const streamInfo = bytes.subarray(infoAt, infoAt + STREAMINFO_BYTES);
  const packed = streamInfo.readUIntBE(10, 4);
  const sampleRate = packed >>> 12;
  if (sampleRate === 0) return undefined;
  return {
    streamInfo,
    sampleRate,
    channels: ((packed >>> 9) & 7) + 1,
    bitsPerSample: ((packed >>> 4) & 31) + 1,
    totalFrames: (packed & 15) * 2 ** 32 + streamInfo.readUInt32BE(14),
    audioOffset,
  };
}

/** A tag's size is four times seven bits. */
function id3Bytes(bytes: Buffer): number {
  const sizeBytes = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((bytes[at] ?? 0) & 0x7f), 0);
  return ID3_HEAD_BYTES + sizeBytes;
}
