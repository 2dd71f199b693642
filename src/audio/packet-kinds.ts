const XING = Buffer.from('Xing');
const INFO = Buffer.from('Info');

/** Tells whether a packet is the frame with the tag of an MP3's length; it stands behind the header and up to 32 bytes of side information. */
export function isXingFrame(data: Buffer | null): boolean {
  const end = Math.min(44, (data?.length ?? 0) - 4);
  for (let at = 0; at <= end; at += 1) {
    const letter = data?.[at];
    if (letter !== XING[0] && letter !== INFO[0]) continue;
    const word = data?.subarray(at, at + 4);
    if (word?.equals(XING) === true || word?.equals(INFO) === true) return true;
  }
  return false;
}

/** Tells whether a packet of Opus has a part in SILK (RFC 6716, section 3.1). */
export function isSpeechOpus(data: Buffer | null): boolean {
  return (data?.[0] ?? 0) >> 3 < 16;
}
