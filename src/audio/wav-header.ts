import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What a RIFF/WAVE header says of its audio, next to what the file really holds. */
export interface WavHeader {
  /** Byte offset of the first sample. */
  dataOffsetBytes: number;
  /** Bytes of audio that the header declares, or undefined where it says "unknown". */
  declaredBytes: number | undefined;
  /** Bytes between the start of the data and the end of the file. */
  availableBytes: number;
  channels: number;
}

/** Writers that cannot seek back leave one of these: 0, a signed or unsigned maximum, or that minus the header. */
function isUnknownSize(sizeBytes: number): boolean {
  return sizeBytes === 0 || sizeBytes >= 0xffff_ff00 || (sizeBytes >= 0x7fff_ff00 && sizeBytes <= 0x8000_0000);
}

const FOUR_GIB = 2 ** 32;

/**
 * Reads the header of a RIFF, RF64 or BW64 file.
 *
 * Chunks are walked with their padding, so LIST, JUNK or fact chunks may stand before the data. A plain RIFF file
 * of 4 GiB and more keeps only the low 32 bits of its size, so its size counts as unknown.
 * Source: Multimedia Programming Interface 1.0 (RIFF), EBU Tech 3306 (RF64), ITU-R BS.2088 (BW64).
 *
 * @returns undefined when the file is of another kind or has no data chunk.
 */
export function readWavHeader(path: string): WavHeader | undefined {
  const file = openSync(path, 'r');
  try {
    const fileBytes = fstatSync(file).size;
    const chunk = Buffer.alloc(40);
    const read = (offset: number, length: number): boolean => readSync(file, chunk, 0, length, offset) === length;
    if (!read(0, 12) || chunk.toString('latin1', 8, 12) !== 'WAVE') return undefined;
    const kind = chunk.toString('latin1', 0, 4);
    if (kind !== 'RIFF' && kind !== 'RF64' && kind !== 'BW64') return undefined;
    let largeDataBytes: number | undefined;
    let channels = -1;
    for (let offset = 12; read(offset, 8);) {
      const id = chunk.toString('latin1', 0, 4);
      const sizeBytes = chunk.readUInt32LE(4);
      const bodyOffset = offset + 8;
      if (id === 'data') {
        const large = kind !== 'RIFF' && sizeBytes === 0xffff_ffff ? largeDataBytes : undefined;
        const isKnown = large !== undefined || (!isUnknownSize(sizeBytes) && fileBytes < FOUR_GIB);
        return {
          dataOffsetBytes: bodyOffset,
          declaredBytes: isKnown ? (large ?? sizeBytes) : undefined,
          availableBytes: fileBytes - bodyOffset,
          channels,
        };
      }
      if (id === 'ds64' && read(bodyOffset, 16)) largeDataBytes = Number(chunk.readBigUInt64LE(8));
      if (id === 'fmt ' && read(bodyOffset, 4)) channels = chunk.readUInt16LE(2);
      offset = bodyOffset + sizeBytes + (sizeBytes % 2);
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}
