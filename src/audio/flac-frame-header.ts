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
 * @param bytes where the frame begins at `at`; what stands from `end` on does not count.
 * @param fixedBlock length of all frames but the last one, where it is the same.
 * @returns undefined where these bytes are no header, which its checksum tells from most others.
 */
export function readFlacFrameHeader(
  bytes: Buffer,
  at: number,
  end: number,
  fixedBlock: number | undefined,
): FlacFrame | undefined {
  const kind = bytes[at + 1];
  if (end - at < 6 || (kind !== FIXED_KIND && kind !== VARIABLE_KIND)) return undefined;
  const sizes = bytes[at + 2] ?? 0;
  const form = bytes[at + 3] ?? 0;
  const blockBits = sizes >> 4;
  const rateBits = sizes & 15;
  if (blockBits === 0 || rateBits === 15 || form >> 4 > 10 || ((form >> 1) & 7) === 3 || (form & 1) === 1)
    return undefined;
  const numberBytes = codedBytes(bytes[at + 4] ?? 0xff);
  const blockAt = at + 4 + numberBytes;
  const blockBytes = blockBits === 6 ? 1 : blockBits === 7 ? 2 : 0;
  const checksumAt = blockAt + blockBytes + (rateBits === 12 ? 1 : rateBits === 13 || rateBits === 14 ? 2 : 0);
  if (numberBytes === 0 || checksumAt >= end) return undefined;
  if (checksumOf(bytes, at, checksumAt) !== bytes[checksumAt]) return undefined;
  const number = readCodedNumber(bytes, at + 4, numberBytes);
  if (number === undefined) return undefined;
  const frames = blockBytes === 0 ? (BLOCK_SIZES[blockBits] ?? 0) : bytes.readUIntBE(blockAt, blockBytes) + 1;
  if (kind === VARIABLE_KIND) return { start: number, frames };
  return fixedBlock === undefined ? undefined : { start: number * fixedBlock, frames };
}

/** Second byte of a frame: whether it is numbered by its place among frames, or by that of its first sample. */
const FIXED_KIND = 0xf8;
const VARIABLE_KIND = 0xf9;

/** RFC 9639, table 14. */
const BLOCK_SIZES: readonly number[] = [
  0, 192, 576, 1152, 2304, 4608, 0, 0, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768,
];

/** How many bytes a number takes that is coded as UTF-8 codes characters; 0 where this is not its first byte. */
function codedBytes(first: number): number {
  if (first < 0x80) return 1;
  const count = Math.clz32(~(first << 24));
  return count < 2 || count > 7 ? 0 : count;
}

/** A number coded as UTF-8 codes characters, extended to 36 bits. */
function readCodedNumber(bytes: Buffer, at: number, count: number): number | undefined {
  const first = bytes[at] ?? 0;
  if (count === 1) return first;
  let value = first & (0x7f >> count);
  for (let k = at + 1; k < at + count; k += 1) {
    const byte = bytes[k] ?? 0;
    if ((byte & 0xc0) !== 0x80) return undefined;
    value = value * 64 + (byte & 0x3f);
  }
  return value;
}

/** CRC-8 of polynomial 0x07. */
function checksumOf(bytes: Buffer, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum = CHECKSUMS[sum ^ (bytes[at] ?? 0)] ?? 0;
  return sum;
}

const CHECKSUMS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum >= 0x80 ? 0x07 : 0)) & 0xff;
  return sum;
});
