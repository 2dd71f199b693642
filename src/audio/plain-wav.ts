import { closeSync, openSync, readSync } from 'node:fs';
import { AudioError } from './audio-error.js';
import { checkFile } from './open-recording.js';
import type { RecordingInfo } from './recording-reader.js';
import { readWavHeader, wavFrames, wavShortfall } from './wav-header.js';
import type { WavHeader } from './wav-header.js';

/** How much of the audio is searched for another format in the guise of PCM: as much as the codec library looks at. */
const SNIFFED_BYTES = 1 << 16;

/** What DTS (ETSI TS 102 114, 16 and 14 bits, both byte orders) and IEC 61937 begin with. */
const GUISES = ['7ffe8001', 'fe7f0180', '1fffe800', 'ff1f00e8', '72f81f4e', 'f8724e1f'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

/**
 * A WAV file of plain samples, read as bytes: what `RecordingReader` decodes of it, its length and its faults are the
 * same, without a demuxer and a decoder.
 */
export class PlainWav implements Disposable {
  readonly path: string;
  readonly info: RecordingInfo;
  readonly bytesPerFrame: number;
  /** Frames that the file holds. */
  readonly frames: number;
  readonly #shortfall: string | undefined;
  readonly #dataOffset: number;
  readonly #file: number;

  /**
   * @returns undefined where the file is anything else, or its header leaves doubts: then the codec library is to judge.
   * @throws AudioError where there is no file to be read.
   */
  static open(path: string): PlainWav | undefined {
    checkFile(path);
    const header = readWavHeader(path);
    if (header?.container !== 'wav' || header.codec === undefined || header.sampleRate === 0) return undefined;
    const wav = new PlainWav(path, header, header.codec);
    if (!wav.#isGuise()) return wav;
    wav[Symbol.dispose]();
    return undefined;
  }

  private constructor(path: string, header: WavHeader, codec: string) {
    const { container, sampleRate, channels, bytesPerFrame, dataOffsetBytes } = header;
    this.path = path;
    this.info = { sampleRate, channels, container, codec };
    this.bytesPerFrame = bytesPerFrame;
    this.frames = wavFrames(header);
    this.#shortfall = wavShortfall(header);
    this.#dataOffset = dataOffsetBytes;
    this.#file = openSync(path, 'r');
  }

  /**
   * Reads frames from `firstFrame` on, as many as there are and as `into` holds.
   *
   * @returns how many.
   * @throws AudioError where the file became shorter.
   */
  read(into: Uint8Array, firstFrame: number): number {
    const room = Math.floor(into.length / this.bytesPerFrame);
    const frames = Math.max(0, Math.min(room, this.frames - firstFrame));
    const wanted = frames * this.bytesPerFrame;
    for (let got = 0; got < wanted;) {
      const at = this.#dataOffset + firstFrame * this.bytesPerFrame + got;
      const size = readSync(this.#file, into, got, wanted - got, at);
      if (size === 0) throw new AudioError('truncated_recording', this.path, 'it became shorter while it was read');
      got += size;
    }
    return frames;
  }

  /** To be asked where the audio's end is met: it must be its true end. */
  checkEnd(): void {
    if (this.#shortfall !== undefined) throw new AudioError('truncated_recording', this.path, this.#shortfall);
    if (this.frames === 0) throw new AudioError('empty_recording', this.path, 'it holds no audio');
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #isGuise(): boolean {
    const start = Buffer.allocUnsafe(Math.min(SNIFFED_BYTES, this.frames * this.bytesPerFrame));
    const read = readSync(this.#file, start, 0, start.length, this.#dataOffset);
    return GUISES.some((mark) => start.subarray(0, read).includes(mark));
  }
}
