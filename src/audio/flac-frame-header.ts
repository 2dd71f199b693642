/** The longest header of a frame. */
export const MAX_FLAC_HEADER_BYTES = 16;

/** The audio of a frame of FLAC. */
export interface FlacFrame {
  /** Its first frame of audio in the recording. */
  start: number;
  /** How many there are. */
  frames: number;
}

/**
 * Reads the header of a frame (RFC 9639, section 9.1).
 *
 * @param header the first bytes of the frame, 16 or what there is.
 * @param fixedBlock length of all frames but the last one, where it is the same.
 * @returns undefined where these bytes are no header, which its checksum tells from most others.
 */
export function readFlacFrameHeader(header: Buffer, fixedBlock: number | undefined): FlacFrame | undefined {
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
  if (isVariable) return { start: number.value, frames: block };
  return fixedBlock === undefined ? undefined : { start: number.value * fixedBlock, frames: block };
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
