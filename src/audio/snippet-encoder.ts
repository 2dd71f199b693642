import { FlacEncoder } from './flac-encoder.js';
import { mp3Format, opusFormat, vorbisFormat } from './lossy-formats.js';
import { MuxedEncoder } from './muxed-encoder.js';
import type { AudioFormat } from './sample-rates.js';
import { WavEncoder } from './wav-encoder.js';

/** Where the bytes of an encoded file go. */
export interface ByteSink {
  /** Takes the bytes; the caller may change them afterwards. */
  write(bytes: Uint8Array): void;
  /** Replaces bytes that were written before, such as a length in a header. */
  patch(offsetBytes: number, bytes: Uint8Array): void;
}

/** Encodes mono samples as one file. */
export interface SnippetEncoder extends Disposable {
  /** Takes the first `count` samples, nominally within ±1. */
  write(samples: Float32Array, count: number): void;
  /** Completes the file. */
  finish(): void;
  /** Samples beyond full scale that were set to it. */
  readonly clippedSamples: number;
  /** Samples that were not a number, written as silence. */
  readonly invalidSamples: number;
}

/** An encoder whose format holds 16-bit samples as they are. */
export interface Pcm16Encoder extends SnippetEncoder {
  /** Takes little-endian 16-bit samples, in place of `write`. */
  writePcm16(samples: Uint8Array): void;
}

/** Begins a file of 16-bit samples. */
export function createPcm16Encoder(format: 'flac' | 'wav', sampleRate: number, sink: ByteSink): Pcm16Encoder {
  return format === 'flac' ? new FlacEncoder(sampleRate, sink) : new WavEncoder(sampleRate, sink);
}

/**
 * Begins a file.
 *
 * @param name decides the serial number of an Ogg stream, which is part of its bytes.
 * @param compressionLevel of MP3, from 0, the best sound, to 1, the smallest file; null is 0.65. Other formats have none.
 */
export function createEncoder(
  format: AudioFormat,
  sampleRate: number,
  name: string,
  sink: ByteSink,
  compressionLevel: number | null = null,
): SnippetEncoder {
  if (format === 'flac' || format === 'wav') return createPcm16Encoder(format, sampleRate, sink);
  if (format === 'mp3') return new MuxedEncoder(mp3Format(sampleRate, compressionLevel), sampleRate, sink);
  const ogg = format === 'opus' ? opusFormat(sampleRate, name) : vorbisFormat(name);
  return new MuxedEncoder(ogg, sampleRate, sink);
}
