import { Pcm16Blocks } from './pcm16.js';
import type { ByteSink, Pcm16Encoder } from './snippet-encoder.js';

const HEADER_BYTES = 44;
/** Above it the 32-bit sizes of RIFF do not hold the file. */
const MAX_DATA_BYTES = 0xffff_ffff - HEADER_BYTES;

/** Writes 16-bit mono WAV. Source: Multimedia Programming Interface 1.0, "Waveform Audio File Format". */
export class WavEncoder implements Pcm16Encoder {
  readonly #sink: ByteSink;
  readonly #blocks: Pcm16Blocks;
  readonly #sampleRate: number;
  #dataBytes = 0;

  constructor(sampleRate: number, sink: ByteSink) {
    this.#sink = sink;
    this.#sampleRate = sampleRate;
    this.#blocks = new Pcm16Blocks(sampleRate, (count) => this.#take(count));
    sink.write(wavHeader(sampleRate, 0));
  }

  get clippedSamples(): number {
    return this.#blocks.clippedSamples;
  }

  get invalidSamples(): number {
    return this.#blocks.invalidSamples;
  }

  write(samples: Float32Array, count: number): void {
    this.#blocks.write(samples, count);
  }

  writePcm16(samples: Uint8Array): void {
    this.#blocks.writePcm16(samples);
  }

  finish(): void {
    this.#blocks.finish();
    this.#sink.patch(0, wavHeader(this.#sampleRate, this.#dataBytes));
  }

  [Symbol.dispose](): void {
    this.#blocks[Symbol.dispose]();
  }

  #take(count: number): void {
    this.#dataBytes += count * 2;
    if (this.#dataBytes > MAX_DATA_BYTES)
      throw new RangeError('A WAV file cannot hold more than 4 GiB of audio; use flac');
    this.#sink.write(this.#blocks.bytes.subarray(0, count * 2));
  }
}

function wavHeader(sampleRate: number, dataBytes: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
