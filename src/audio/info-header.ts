/** Offsets in the tag that the codec library writes, with all its fields, from its four characters on. */
const FRAMES_AT = 8;
const DELAYS_AT = 141;
const CRC_AT = 154;
/** The version bits of an MPEG audio header: set for MPEG-1, whose frames are twice as long. */
const MPEG_1 = 0x18;

/**
 * Sets the padding in an MP3's Info header so that it tells of exactly so many samples. The codec library counts only what
 * the last frame pads, though LAME may pad more than that.
 *
 * ```
 * frames of 576 or 1152   |━━━━━━━━|━━━━━━━━|━━━━━━━━|━━━━━━━━|
 *                         | delay | samples      |  padding   |
 * ```
 *
 * Source of the layout: LAME's "Mp3 Info Tag revision 1".
 *
 * @param header the file's first frame; changed in place.
 */
export function setInfoSamples(header: Buffer, samples: number): void {
  const tag = header.indexOf('Info', 0, 'latin1');
  if (tag < 0) throw new Error('The codec library wrote no Info header');
  const frameSamples = (header.readUInt8(1) & MPEG_1) === MPEG_1 ? 1152 : 576;
  const delays = header.readUIntBE(tag + DELAYS_AT, 3);
  const delay = delays >> 12;
  const padding = header.readUInt32BE(tag + FRAMES_AT) * frameSamples - delay - samples;
  if (padding < 0 || padding > 0xfff) throw new Error(`An Info header cannot tell of ${padding} samples of padding`);
  header.writeUIntBE((delay << 12) | padding, tag + DELAYS_AT, 3);
  header.writeUInt16BE(checksumOf(header.subarray(0, tag + CRC_AT)), tag + CRC_AT);
}

/** CRC-16 of polynomial 0x8005, reflected, from 0. */
function checksumOf(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 1) === 0 ? sum >> 1 : (sum >> 1) ^ 0xa001;
  }
  return sum;
}
