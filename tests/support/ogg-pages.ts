// Changes to the pages of an Ogg file, with their checksums made anew (RFC 3533, section 6).

const HEADER_BYTES = 27;
const GRANULE_AT = 6;
const SERIAL_AT = 14;
const CHECKSUM_AT = 22;
/** The granule position of a page on which no packet ends. */
const NO_GRANULE = 0xffffffffffffffffn;

/** Adds a number of samples to the granule position of every page but the header ones: a stream cut out of a longer one. */
export function withShiftedGranules(ogg: Buffer, samples: number): Buffer {
  return mapPages(ogg, (page) => {
    const granule = page.readBigUInt64LE(GRANULE_AT);
    if (granule !== 0n && granule !== NO_GRANULE) page.writeBigUInt64LE(granule + BigInt(samples), GRANULE_AT);
  });
}

/** Adds a number of samples to the granule positions of the second half alone: a broadcast that was interrupted. */
export function withJump(ogg: Buffer, samples: number): Buffer {
  const before = splitPages(ogg);
  const half = Math.floor(before.length / 2);
  return Buffer.concat([...before.slice(0, half), ...splitPages(withShiftedGranules(ogg, samples)).slice(half)]);
}

/** Sets the samples (of 48 kHz) that a decoder of Opus drops at the start (RFC 7845, section 5.1). */
export function withOpusPreSkip(ogg: Buffer, preSkip: number): Buffer {
  return mapPages(ogg, (page) => {
    const at = page.indexOf('OpusHead', 0, 'latin1');
    if (at >= 0) page.writeUInt16LE(preSkip, at + 10);
  });
}

/** Gives the stream another serial number. */
export function withSerial(ogg: Buffer, serial: number): Buffer {
  return mapPages(ogg, (page) => page.writeUInt32LE(serial, SERIAL_AT));
}

/** One stream after another in one file (RFC 3533, section 4); serial numbers are made distinct. */
export function chained(...files: Buffer[]): Buffer {
  return Buffer.concat(files.map((file, k) => withSerial(file, 1000 + k)));
}

/** The same file without its last pages. */
export function withoutLastPages(ogg: Buffer, count: number): Buffer {
  const pages = splitPages(ogg);
  return Buffer.concat(pages.slice(0, pages.length - count));
}

function mapPages(ogg: Buffer, change: (page: Buffer) => void): Buffer {
  return Buffer.concat(
    splitPages(ogg).map((original) => {
      const page = Buffer.from(original);
      change(page);
      page.writeUInt32LE(0, CHECKSUM_AT);
      page.writeUInt32LE(checksumOf(page), CHECKSUM_AT);
      return page;
    }),
  );
}

function splitPages(ogg: Buffer): Buffer[] {
  const pages: Buffer[] = [];
  for (let at = 0; at < ogg.length;) {
    if (ogg.toString('latin1', at, at + 4) !== 'OggS') throw new RangeError(`No Ogg page at byte ${at}`);
    const segments = ogg.readUInt8(at + 26);
    const table = ogg.subarray(at + HEADER_BYTES, at + HEADER_BYTES + segments);
    const end = at + HEADER_BYTES + segments + table.reduce((sum, bytes) => sum + bytes, 0);
    pages.push(ogg.subarray(at, end));
    at = end;
  }
  return pages;
}

const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) sum = sum < 0 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  return sum >>> 0;
});

/** CRC-32 of polynomial 0x04c11db7, not reflected, from 0. */
function checksumOf(page: Buffer): number {
  let sum = 0;
  for (const byte of page) sum = (sum << 8) ^ (CHECKSUMS[((sum >>> 24) ^ byte) & 0xff] ?? 0);
  return sum >>> 0;
}
