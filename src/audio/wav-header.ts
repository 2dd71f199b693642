import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { MAX_CHANNELS } from './channel-weights.js';

/** What the header of a RIFF/WAVE or Wave64 file says of its audio, next to what the file really holds. */
export interface WavHeader extends WavFormat {
  container: 'wav' | 'w64';
  /** Byte offset of the first sample. */
  dataOffsetBytes: number;
  /** Bytes of audio that the header declares, or undefined where it says "unknown". */
  declaredBytes: number | undefined;
  /** Bytes of audio in the file: up to its end, or to the chunks that follow audio of unknown size. */
  availableBytes: number;
}

/** What the `fmt ` chunk says. */
interface WavFormat {
  /** -1 where there is no such chunk. */
  channels: number;
  /** Bytes of one sample of all channels. */
  bytesPerFrame: number;
  /** Hz. */
  sampleRate: number;
  /** The codec library's name of plain samples, as `pcm_s16le`; undefined for anything else, and for what contradicts itself. */
  codec: string | undefined;
}

const NO_FORMAT: WavFormat = { channels: -1, bytesPerFrame: 0, sampleRate: 0, codec: undefined };

/** Writers that cannot seek back leave one of these: 0, a signed or unsigned maximum, or that minus the header. */
function isUnknownSize(sizeBytes: number): boolean {
  return sizeBytes === 0 || sizeBytes >= 0xffff_ff00 || (sizeBytes >= 0x7fff_ff00 && sizeBytes <= 0x8000_0000);
}

const FOUR_GIB = 2 ** 32;
/** How far before the end of the file chunks behind audio of unknown size are looked for. */
const TAIL_BYTES = 1 << 16;
/** Chunks that programs write behind the audio. */
const TRAILING_CHUNKS = new Set([
  'LIST',
  'id3 ',
  'ID3 ',
  'bext',
  'iXML',
  'cue ',
  'smpl',
  'fact',
  'JUNK',
  'PAD ',
  'axml',
  '_PMX',
]);

/**
 * Reads the header of a RIFF, RF64, BW64 or Wave64 file.
 *
 * Chunks are walked with their padding, so LIST, JUNK or fact chunks may stand before the data. A plain RIFF file
 * of 4 GiB and more keeps only the low 32 bits of its size, so its size counts as unknown.
 * Source: Multimedia Programming Interface 1.0 (RIFF), EBU Tech 3306 (RF64), ITU-R BS.2088 (BW64), Sony's Wave64.
 *
 * @returns undefined when the file is of another kind or has no data chunk.
 */
export function readWavHeader(path: string): WavHeader | undefined {
  const file = openSync(path, 'r');
  try {
    const fileBytes = fstatSync(file).size;
    return walkChunks(file, fileBytes) ?? walkWave64Chunks(file, fileBytes);
  } finally {
    closeSync(file);
  }
}

/** Says so when a file holds less audio than its header promises. */
export function wavShortfall({ declaredBytes, availableBytes }: WavHeader): string | undefined {
  if (declaredBytes === undefined || declaredBytes <= availableBytes) return undefined;
  return `its header says ${declaredBytes} bytes of audio, the file holds ${availableBytes}`;
}

/** Whole frames of audio in a file of plain samples. */
export function wavFrames({ declaredBytes = Infinity, availableBytes, bytesPerFrame }: WavHeader): number {
  return Math.floor(Math.min(declaredBytes, availableBytes) / bytesPerFrame);
}

function walkChunks(file: number, fileBytes: number): WavHeader | undefined {
  const chunk = Buffer.alloc(40);
  const read = (offset: number, length: number): boolean => readSync(file, chunk, 0, length, offset) === length;
  if (!read(0, 12) || chunk.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  const kind = chunk.toString('latin1', 0, 4);
  if (kind !== 'RIFF' && kind !== 'RF64' && kind !== 'BW64') return undefined;
  let largeDataBytes = 0;
  let format = NO_FORMAT;
  for (let offset = 12; read(offset, 8);) {
    const id = chunk.toString('latin1', 0, 4);
    const sizeBytes = chunk.readUInt32LE(4);
    const bodyOffset = offset + 8;
    if (id === 'data') {
      const large = kind !== 'RIFF' && sizeBytes === 0xffff_ffff ? largeDataBytes : 0;
      const isKnown = large > 0 || (!isUnknownSize(sizeBytes) && fileBytes < FOUR_GIB);
      const endBytes = isKnown ? fileBytes : findTrailingChunks(file, bodyOffset, fileBytes);
      const declaredBytes = isKnown ? large || sizeBytes : undefined;
      return {
        ...format,
        container: 'wav',
        dataOffsetBytes: bodyOffset,
        declaredBytes,
        availableBytes: endBytes - bodyOffset,
      };
    }
    if (id === 'ds64' && read(bodyOffset, 16)) largeDataBytes = Number(chunk.readBigUInt64LE(8));
    if (id === 'fmt ' && read(bodyOffset, 14)) format = readFormat(file, bodyOffset, sizeBytes, format);
    offset = bodyOffset + sizeBytes + (sizeBytes % 2);
  }
  return undefined;
}

/** A chunk of Wave64 begins with its GUID of 16 bytes, and its size counts that and itself. */
const WAVE64_HEAD_BYTES = 24;
const WAVE64_RIFF = '726966662e91cf11a5d628db04c10000';
const WAVE64_GUID_TAIL = 'f3acd3118cd100c04f8edb8a';

function walkWave64Chunks(file: number, fileBytes: number): WavHeader | undefined {
  const chunk = Buffer.alloc(40);
  const read = (offset: number, length: number): boolean => readSync(file, chunk, 0, length, offset) === length;
  if (!read(0, 40) || chunk.toString('hex', 0, 16) !== WAVE64_RIFF) return undefined;
  let format = NO_FORMAT;
  // A damaged size may lead beyond all numbers of bytes.
  for (let offset = 40; offset < fileBytes && read(offset, WAVE64_HEAD_BYTES);) {
    const id = chunk.toString('hex', 4, 16) === WAVE64_GUID_TAIL ? chunk.toString('latin1', 0, 4) : '';
    const sizeBytes = Number(chunk.readBigUInt64LE(16)) - WAVE64_HEAD_BYTES;
    const bodyOffset = offset + WAVE64_HEAD_BYTES;
    if (id === 'data') {
      const isKnown = sizeBytes > 0 && sizeBytes < 2 ** 62;
      return {
        ...format,
        container: 'w64',
        dataOffsetBytes: bodyOffset,
        declaredBytes: isKnown ? sizeBytes : undefined,
        availableBytes: fileBytes - bodyOffset,
      };
    }
    if (sizeBytes < 0) return undefined;
    if (id === 'fmt ' && read(bodyOffset, 14)) format = readFormat(file, bodyOffset, sizeBytes, format);
    offset = bodyOffset + sizeBytes + ((8 - (sizeBytes % 8)) % 8);
  }
  return undefined;
}

const EXTENSIBLE_TAG = 0xfffe;
/** Follows the format tag in the GUID of WAVE_FORMAT_EXTENSIBLE. */
const SUBFORMAT_TAIL = '000000001000800000aa00389b71';

/** Format tag and bits of a sample. */
const PCM_CODECS: ReadonlyMap<string, string> = new Map([
  ['1 8', 'pcm_u8'],
  ['1 16', 'pcm_s16le'],
  ['1 24', 'pcm_s24le'],
  ['1 32', 'pcm_s32le'],
  ['3 32', 'pcm_f32le'],
  ['3 64', 'pcm_f64le'],
  ['6 8', 'pcm_alaw'],
  ['7 8', 'pcm_mulaw'],
]);

/** Hz: the codec library takes none above. */
export const MAX_WAV_RATE = 0x7fff_ffff;

/** Reads a `fmt ` chunk; a second one makes the format doubtful. */
function readFormat(file: number, bodyOffset: number, sizeBytes: number, earlier: WavFormat): WavFormat {
  const body = Buffer.alloc(40);
  readSync(file, body, 0, Math.min(40, sizeBytes), bodyOffset);
  const channels = body.readUInt16LE(2);
  const bytesPerFrame = body.readUInt16LE(12);
  const bits = body.readUInt16LE(14);
  let tag = body.readUInt16LE(0);
  if (tag === EXTENSIBLE_TAG) {
    const isPlain = body.readUInt16LE(18) === bits && body.toString('hex', 26, 40) === SUBFORMAT_TAIL;
    tag = isPlain ? body.readUInt16LE(24) : 0;
  }
  const isWhole = bytesPerFrame * 8 === channels * bits && channels <= MAX_CHANNELS;
  const sampleRate = body.readUInt32LE(4);
  const isSound = sizeBytes >= 16 && isWhole && sampleRate <= MAX_WAV_RATE && earlier === NO_FORMAT;
  const codec = isSound ? PCM_CODECS.get(`${tag} ${bits}`) : undefined;
  return { channels, bytesPerFrame, sampleRate, codec };
}

/** Where the chunks that fill the rest of the file begin; the end of the file where there are none. */
function findTrailingChunks(file: number, dataOffset: number, fileBytes: number): number {
  const from = Math.max(dataOffset, fileBytes - TAIL_BYTES);
  const tail = Buffer.alloc(fileBytes - from);
  readSync(file, tail, 0, tail.length, from);
  const reachesEnd = (start: number): boolean => {
    let at = start;
    while (at + 8 <= tail.length && TRAILING_CHUNKS.has(tail.toString('latin1', at, at + 4))) {
      const sizeBytes = tail.readUInt32LE(at + 4);
      at += 8 + sizeBytes + (sizeBytes % 2);
    }
    return at > start && at === tail.length;
  };
  for (let at = (from - dataOffset) % 2; at + 8 <= tail.length; at += 2) {
    if (reachesEnd(at)) return from + at;
  }
  return fileBytes;
}
