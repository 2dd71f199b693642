/** x^32 + x^26 + x^23 + x^22 + x^16 + x^12 + x^11 + x^10 + x^8 + x^7 + x^5 + x^4 + x^2 + x + 1, the highest bit first (RFC 3533, section 6). */
const POLYNOMIAL = 0x04c11db7;
const CHECKSUM_AT = 22;
const CHECKSUM_BYTES = 4;
/** Four bytes at once: a table for each place. */
const TABLES = makeTables(4);

/** Whether a page of Ogg is what its checksum says. */
export function isWholePage(page: Buffer): boolean {
  const behind = CHECKSUM_AT + CHECKSUM_BYTES;
  const head = add(0, page, 0, CHECKSUM_AT);
  const zeros = add(head, NO_CHECKSUM, 0, CHECKSUM_BYTES);
  return add(zeros, page, behind, page.length) >>> 0 === page.readUInt32LE(CHECKSUM_AT);
}

/** The checksum counts as zero itself. */
const NO_CHECKSUM = Buffer.alloc(CHECKSUM_BYTES);

function add(sum: number, bytes: Buffer, start: number, end: number): number {
  const [t0, t1, t2, t3] = TABLES as [Int32Array, Int32Array, Int32Array, Int32Array];
  let crc = sum;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    crc ^= (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    crc = t3[crc >>> 24]! ^ t2[(crc >>> 16) & 255]! ^ t1[(crc >>> 8) & 255]! ^ t0[crc & 255]!;
  }
  for (; at < end; at += 1) crc = (crc << 8) ^ t0[(crc >>> 24) ^ bytes[at]!]!;
  return crc;
}

/** What a byte does to the checksum, with so many bytes behind it. */
function makeTables(count: number): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? POLYNOMIAL : 0);
    return crc;
  });
  const tables = [first];
  while (tables.length < count) {
    const last = tables.at(-1) ?? first;
    tables.push(last.map((crc) => (crc << 8) ^ (first[crc >>> 24] ?? 0)));
  }
  return tables;
}
