import { open, type FileHandle } from 'node:fs/promises';
import { errorMessage, InputError } from '../errors.js';

/** What the headers of an audio file say. */
export interface MemberAudio {
  /** Hz. */
  sampleRate: number;
  channels: number;
  /** Undefined where the headers do not tell. */
  frames: number | undefined;
}

/** Enough for the headers of all formats here, unless pictures or long tags stand before the audio. */
const HEAD_BYTES = 4096;

/** Pages of Ogg have at most 65,307 bytes: the last one begins in so many. */
const TAIL_BYTES = 65_536;

/** Reads the headers of audio files inside a tar. */
export class MemberAudioReader {
  readonly #path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /** @throws InputError */
  static async open(tarPath: string): Promise<MemberAudioReader> {
    try {
      return new MemberAudioReader(tarPath, await open(tarPath, 'r'));
    } catch (error) {
      throw new InputError(`Cannot read "${tarPath}": ${errorMessage(error)}`, { path: tarPath, cause: error });
    }
  }

  /**
   * What the file at a place says of its audio; undefined for formats that are not known here, and for damaged headers.
   *
   * Known are FLAC (RFC 9639), RIFF WAVE, Ogg Vorbis and Opus (RFC 7845) and MPEG audio, layer III.
   */
  async read(offsetBytes: number, sizeBytes: number): Promise<MemberAudio | undefined> {
    const head = await this.#bytesAt(offsetBytes, Math.min(HEAD_BYTES, sizeBytes));
    switch (head.toString('latin1', 0, 4)) {
      case 'fLaC':
        return readStreamInfo(head);
      case 'RIFF':
        return await this.#readWav(offsetBytes, sizeBytes);
      case 'OggS': {
        const tailBytes = Math.min(TAIL_BYTES, sizeBytes);
        return readOgg(head, await this.#bytesAt(offsetBytes + sizeBytes - tailBytes, tailBytes));
      }
      default:
        return await this.#readMp3(head, offsetBytes, sizeBytes);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #readWav(offsetBytes: number, sizeBytes: number): Promise<MemberAudio | undefined> {
    let format: { sampleRate: number; channels: number; frameBytes: number } | undefined;
    for (let at = 12; at + 8 <= sizeBytes;) {
      const chunk = await this.#bytesAt(offsetBytes + at, Math.min(24, sizeBytes - at));
      const id = chunk.toString('latin1', 0, 4);
      const chunkBytes = chunk.readUInt32LE(4);
      if (id === 'fmt ' && chunk.length === 24) {
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

  async #readMp3(head: Buffer, offsetBytes: number, sizeBytes: number): Promise<MemberAudio | undefined> {
    if (head.toString('latin1', 0, 3) !== 'ID3' || head.length < 10) return readMpegHeader(head);
    // A tag's size is four times seven bits.
    const tagBytes = 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((head[at] ?? 0) & 0x7f), 0);
    if (tagBytes + 4 > sizeBytes) return undefined;
    return readMpegHeader(await this.#bytesAt(offsetBytes + tagBytes, 4));
  }

  async #bytesAt(offsetBytes: number, sizeBytes: number): Promise<Buffer> {
    const bytes = Buffer.alloc(sizeBytes);
    try {
      const { bytesRead } = await this.#handle.read(bytes, 0, sizeBytes, offsetBytes);
      return bytes.subarray(0, bytesRead);
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
