import { closeSync, openSync, readSync } from 'node:fs';
import { AudioError } from './audio-error.js';
import { checkFile } from './open-recording.js';
import type { RecordingInfo } from './recording-reader.js';
import { readWavHeader, wavFrames, wavShortfall } from './wav-header.js';
import type { WavHeader } from './wav-header.js';

/** How much of the audio is searched for another format in the guise of PCM: as much as the codec library looks at. */
const SNIFFED_BYTES = 1 << 16;

/**
 * The first two samples of 16 bits, read as little-endian, of what a frame of DTS (ETSI TS 102 114; in 16 and 14 bits, in
 * both byte orders) or of IEC 61937 begins with.
 */
const MARKS: ReadonlyMap<number, number> = new Map([
  [0xfe7f, 0x0180],
  [0x7ffe, 0x8001],
  [0xff1f, 0x00e8],
  [0x1fff, 0xe800],
  [0xf872, 0x4e1f],
  [0x72f8, 0x1f4e],
]);
const MARK_STARTS = Uint8Array.from({ length: 1 << 16 }, (_, first) => (MARKS.has(first) ? 1 : 0));
/** Sound meets a mark by chance now and then; the codec library too wants to see some of them. */
const MARKS_OF_A_GUISE = 3;

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
  /** Says so where the file holds less than its header promises. */
  readonly shortfall: string | undefined;
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
    this.shortfall = wavShortfall(header);
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
    if (this.shortfall !== undefined) throw new AudioError('truncated_recording', this.path, this.shortfall);
    if (this.frames === 0) throw new AudioError('empty_recording', this.path, 'it holds no audio');
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #isGuise(): boolean {
    const bytes = Math.min(SNIFFED_BYTES, this.frames * this.bytesPerFrame);
    const start = new Uint16Array(bytes >> 1);
    readSync(this.#file, start, 0, start.byteLength, this.#dataOffset);
    return countMarks(start) >= MARKS_OF_A_GUISE;
  }
}

/** Whether samples of 16 bits, as they lie in a file, are another format in the guise of PCM. */
export function hasMarksOfGuise(pcm: Uint8Array): boolean {
  const start = new Uint16Array(Math.min(SNIFFED_BYTES, pcm.length) >> 1);
  new Uint8Array(start.buffer).set(pcm.subarray(0, start.byteLength));
  return countMarks(start) >= MARKS_OF_A_GUISE;
}

function countMarks(start: Uint16Array): number {
  let marks = 0;
  for (let at = 0; at + 1 < start.length; at += 1) {
    const sample = start[at] ?? 0;
    if (MARK_STARTS[sample] === 1 && MARKS.get(sample) === start[at + 1]) marks += 1;
  }
  return marks;
}
