import { closeSync, openSync, readSync } from 'node:fs';
import { errorMessage, InputError } from '../errors.js';

/** What the headers of an audio file say. */
export interface MemberAudio {
  /** Hz. */
  sampleRate: number;
  channels: number;
  /** Undefined where the headers do not tell. */
  frames: number | undefined;
}

/** Holds the headers of all formats here, but for what stands behind tags. */
const HEAD_BYTES = 512;

/** How much of a chunk of a WAV is looked at: its head, and what a format says. */
const CHUNK_START_BYTES = 24;

/** Pages of Ogg have at most 65,307 bytes: the last one begins in so many. */
const TAIL_BYTES = 65_536;

/** Reads the headers of audio files inside a tar. The process waits for each read: they are small, and many. */
export class MemberAudioReader {
  readonly #path: string;
  readonly #file: number;

  /** @throws InputError where the tar cannot be opened */
  constructor(tarPath: string) {
    this.#path = tarPath;
    try {
      this.#file = openSync(tarPath, 'r');
    } catch (error) {
      throw new InputError(`Cannot read "${tarPath}": ${errorMessage(error)}`, { path: tarPath, cause: error });
    }
  }

  /**
   * What the file at a place says of its audio; undefined for formats that are not known here, and for damaged headers.
   *
   * Known are FLAC (RFC 9639), RIFF WAVE, Ogg Vorbis and Opus (RFC 7845) and MPEG audio, layer III.
   *
   * @throws InputError where the tar cannot be read
   */
  read(offsetBytes: number, sizeBytes: number): MemberAudio | undefined {
    const head = this.#bytesAt(offsetBytes, Math.min(HEAD_BYTES, sizeBytes));
    switch (head.toString('latin1', 0, 4)) {
      case 'fLaC':
        return readStreamInfo(head);
      case 'RIFF':
        return this.#readWav(head, offsetBytes, sizeBytes);
      case 'OggS': {
        const tailBytes = Math.min(TAIL_BYTES, sizeBytes);
        return readOgg(head, this.#bytesAt(offsetBytes + sizeBytes - tailBytes, tailBytes));
      }
      default:
        return this.#readMp3(head, offsetBytes, sizeBytes);
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #readWav(head: Buffer, offsetBytes: number, sizeBytes: number): MemberAudio | undefined {
    let format: { sampleRate: number; channels: number; frameBytes: number } | undefined;
    for (let at = 12; at + 8 <= sizeBytes;) {
      const size = Math.min(CHUNK_START_BYTES, sizeBytes - at);
      const chunk = at + size <= head.length ? head.subarray(at, at + size) : this.#bytesAt(offsetBytes + at, size);
      if (chunk.length < 8) return undefined;
      const id = chunk.toString('latin1', 0, 4);
      const chunkBytes = chunk.readUInt32LE(4);
      if (id === 'fmt ' && chunk.length === CHUNK_START_BYTES) {
        const sampleRate = chunk.readUInt32LE(12);
        format = { sampleRate, channels: chunk.readUInt16LE(10), frameBytes: chunk.readUInt16LE(20) };
      }
      if (id === 'data') {
        if (format === undefined || format.sampleRate === 0 || format.frameBytes === 0) return undefined;
        // Writers that cannot seek back leave a size that is too large.
        const dataBytes = Math.min(chunkBytes, sizeBytes - at - 8);
        const { sampleRate, channels, frameBytes } = format;
        return { sampleRate, channels, frames: Math.floor(dataBytes / frameBytes) };
      }
      at += 8 + chunkBytes + (chunkBytes % 2);
    }
    return undefined;
  }

  #readMp3(head: Buffer, offsetBytes: number, sizeBytes: number): MemberAudio | undefined {
    if (head.toString('latin1', 0, 3) !== 'ID3' || head.length < 10) return readMpegHeader(head);
    // A tag's size is four times seven bits.
    const tagBytes = 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((head[at] ?? 0) & 0x7f), 0);
    if (tagBytes + 4 > sizeBytes) return undefined;
    return readMpegHeader(this.#bytesAt(offsetBytes + tagBytes, 4));
  }

  #bytesAt(offsetBytes: number, sizeBytes: number): Buffer {
    const bytes = Buffer.allocUnsafe(sizeBytes);
    try {
      return bytes.subarray(0, readSync(this.#file, bytes, 0, sizeBytes, offsetBytes));
    } catch (error) {
      throw new InputError(`Cannot read "${this.#path}" at byte ${offsetBytes}: ${errorMessage(error)}`, {
        ...{ path: this.#path, offsetBytes, cause: error },
      });
    }
  }
}

function readStreamInfo(head: Buffer): MemberAudio | undefined {
  if (head.length < 26) return undefined;
  const sampleRate = head.readUIntBE(18, 3) >> 4;
  if (sampleRate === 0) return undefined;
  const frames = (head[21]! & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return { sampleRate, channels: ((head[20]! >> 1) & 0x07) + 1, frames: frames === 0 ? undefined : frames };
}

/** The first page holds one packet that says what the stream is; the last page, where it ends. */
function readOgg(head: Buffer, tail: Buffer): MemberAudio | undefined {
  const packet = 27 + (head[26] ?? 0);
  if (head.length < packet + 19) return undefined;
  const channels = head[packet + 9] ?? 0;
  const last = tail.lastIndexOf('OggS');
  const end = last < 0 || last + 14 > tail.length ? -1 : Number(tail.readBigInt64LE(last + 6));
  if (head.toString('latin1', packet, packet + 8) === 'OpusHead') {
    // Positions count at 48 kHz. libsndfile decodes at the rate that the encoder was given where Opus knows it.
    const inputRate = head.readUInt32LE(packet + 12);
    const sampleRate = OPUS_RATES.has(inputRate) ? inputRate : 48_000;
    const length = end - head.readUInt16LE(packet + 10);
    return { sampleRate, channels, frames: length > 0 ? Math.floor((length * sampleRate) / 48_000) : undefined };
  }
  if (head.toString('latin1', packet, packet + 7) !== '\u0001vorbis') return undefined;
  const vorbisChannels = head[packet + 11] ?? 0;
  return { sampleRate: head.readUInt32LE(packet + 12), channels: vorbisChannels, frames: end > 0 ? end : undefined };
}

const OPUS_RATES: ReadonlySet<number> = new Set([8000, 12_000, 16_000, 24_000, 48_000]);

/** Sampling rates by the version bits of a frame's header: MPEG 2.5, none, 2, 1. */
const MPEG_RATES: readonly (readonly number[])[] = [
  [11_025, 12_000, 8000],
  [],
  [22_050, 24_000, 16_000],
  [44_100, 48_000, 32_000],
];

function readMpegHeader(head: Buffer): MemberAudio | undefined {
  if (head.length < 4 || head[0] !== 0xff || (head[1]! & 0xe6) !== 0xe2) return undefined;
  const sampleRate = MPEG_RATES[(head[1]! >> 3) & 3]?.[(head[2]! >> 2) & 3];
  if (sampleRate === undefined) return undefined;
  // How long it is stands nowhere for sure: encoders add silence, and only some say how much.
  return { sampleRate, channels: head[3]! >> 6 === 3 ? 1 : 2, frames: undefined };
}
