// Encoded test recordings, made by FFmpeg's encoders through scripts/media-writer.js: the same bytes each time.
import { readFileSync, writeFileSync } from 'node:fs';
import { MediaWriter } from '../../scripts/media-writer.js';
import type { AudioTrackOptions } from '../../scripts/media-writer.js';
import { toInt16, toInt32 } from './signals.js';

/** A kind of file: what it holds and in what container. */
export type EncodedKind = keyof typeof PRESETS;

/** A signal with what is needed to read it. */
export interface Signal {
  /** Interleaved, in [-1, 1). */
  samples: Float64Array;
  /** Hz. */
  sampleRate: number;
  channels: number;
}

type Preset = Pick<AudioTrackOptions, 'codec' | 'bitRate' | 'quality' | 'options'> & {
  container: string;
  /** Usual file name ending. */
  extension: string;
  muxerOptions?: Record<string, string>;
  /** Significant bits where they are more than 16. */
  bits?: 24;
};

const PRESETS = {
  flac: { codec: 'flac', container: 'flac', extension: 'flac' },
  'flac-24': { codec: 'flac', container: 'flac', extension: 'flac', bits: 24 },
  'flac-ogg': { codec: 'flac', container: 'ogg', extension: 'oga', muxerOptions: { serial_offset: '7' } },
  /** Constant bit rate, with an Info header. */
  'mp3-cbr': { codec: 'libmp3lame', container: 'mp3', extension: 'mp3', bitRate: 128_000 },
  /** Variable bit rate, with a Xing header. */
  'mp3-vbr': { codec: 'libmp3lame', container: 'mp3', extension: 'mp3', quality: 4 },
  /** Constant bit rate as a pipe leaves it: no Info header, so no encoder delay and no padding are known. */
  'mp3-cbr-bare': {
    codec: 'libmp3lame',
    container: 'mp3',
    extension: 'mp3',
    bitRate: 128_000,
    muxerOptions: { write_xing: '0', id3v2_version: '0' },
  },
  /** Variable bit rate without a Xing header: FFmpeg takes a guess at its length from the first frames' bit rate. */
  'mp3-vbr-bare': {
    codec: 'libmp3lame',
    container: 'mp3',
    extension: 'mp3',
    quality: 4,
    muxerOptions: { write_xing: '0', id3v2_version: '0' },
  },
  opus: {
    codec: 'libopus',
    container: 'opus',
    extension: 'opus',
    bitRate: 64_000,
    muxerOptions: { serial_offset: '7' },
  },
  'opus-webm': { codec: 'libopus', container: 'webm', extension: 'webm', bitRate: 64_000 },
  vorbis: { codec: 'libvorbis', container: 'ogg', extension: 'ogg', quality: 4, muxerOptions: { serial_offset: '7' } },
  aac: { codec: 'aac', container: 'ipod', extension: 'm4a', bitRate: 96_000 },
  'aac-fdk': { codec: 'libfdk_aac', container: 'ipod', extension: 'm4a', bitRate: 96_000 },
  /** AAC without a container: no edit list, so the encoder's priming is heard. */
  'aac-adts': { codec: 'aac', container: 'adts', extension: 'aac', bitRate: 96_000 },
  /** Encrypted by Common Encryption (ISO/IEC 23001-7), with a key that no reader is given. */
  'aac-encrypted': {
    codec: 'aac',
    container: 'mp4',
    extension: 'm4a',
    bitRate: 96_000,
    muxerOptions: {
      encryption_scheme: 'cenc-aes-ctr',
      encryption_key: '00112233445566778899aabbccddeeff',
      encryption_kid: 'ffeeddccbbaa99887766554433221100',
    },
  },
  alac: { codec: 'alac', container: 'ipod', extension: 'm4a' },
} as const satisfies Record<string, Preset>;

/** Hz that an encoder of Opus takes. */
const OPUS_RATES = new Set([8_000, 12_000, 16_000, 24_000, 48_000]);

/** Every kind of file that `writeEncoded` makes. */
export const ENCODED_KINDS = Object.keys(PRESETS) as EncodedKind[];

/** The usual ending of a kind's file name, without a dot. */
export function extensionOf(kind: EncodedKind): string {
  return PRESETS[kind].extension;
}

/**
 * Encodes a signal into a file. Samples are rounded to 16 bits first (24 for `flac-24`). Opus is made at 48 kHz where it
 * knows no such rate as the signal's, and is always read back at 48 kHz.
 */
export function writeEncoded(filePath: string, signal: Signal, kind: EncodedKind): void {
  const preset: Preset = PRESETS[kind];
  const writer = new MediaWriter(filePath, {
    container: preset.container,
    tracks: [trackOf(signal, preset)],
    muxerOptions: preset.muxerOptions ?? {},
  });
  writer.write(samplesOf(signal, preset));
  writer.close();
}

/** Writes an MP4 with a small video first and the signal as AAC second. */
export function writeVideoWithAudio(filePath: string, signal: Signal, videoCodec: 'mpeg4' | 'mjpeg' = 'mpeg4'): void {
  const picturesPerSecond = 10;
  const pictures = Math.ceil((signal.samples.length / signal.channels / signal.sampleRate) * picturesPerSecond);
  const writer = new MediaWriter(filePath, {
    container: 'mp4',
    tracks: [{ codec: videoCodec, width: 64, height: 48, picturesPerSecond }, trackOf(signal, PRESETS.aac)],
  });
  for (let k = 0; k < pictures; k += 1) writer.writePicture(0);
  writer.write(toInt16(signal.samples), 1);
  writer.close();
}

/** Writes a video without any audio. */
export function writeVideoOnly(filePath: string): void {
  const writer = new MediaWriter(filePath, {
    container: 'mp4',
    tracks: [{ codec: 'mpeg4', width: 64, height: 48, picturesPerSecond: 10 }],
  });
  for (let k = 0; k < 10; k += 1) writer.writePicture(0);
  writer.close();
}

/** Writes two audio streams side by side: FLAC in Matroska, or AAC in m4a. */
export function writeTwoStreams(filePath: string, first: Signal, second: Signal, container: 'matroska' | 'm4a'): void {
  const preset: Preset = container === 'matroska' ? PRESETS.flac : PRESETS.aac;
  const writer = new MediaWriter(filePath, {
    container: container === 'matroska' ? container : 'ipod',
    tracks: [trackOf(first, preset), trackOf(second, preset)],
  });
  writer.write(toInt16(first.samples), 0);
  writer.write(toInt16(second.samples), 1);
  writer.close();
}

/** Rewrites a file in place by a function of its bytes. */
export function patchFile(filePath: string, patch: (bytes: Buffer) => Buffer): void {
  writeFileSync(filePath, patch(readFileSync(filePath)));
}

function trackOf(signal: Signal, preset: Preset): AudioTrackOptions {
  const { codec, bits, bitRate, quality, options } = preset;
  return {
    codec,
    sampleRate: signal.sampleRate,
    channels: signal.channels,
    ...(codec === 'libopus' && !OPUS_RATES.has(signal.sampleRate) ? { encodeRate: 48_000 } : {}),
    ...(bits === undefined ? {} : { input: 's32', bitsPerSample: bits }),
    ...(bitRate === undefined ? {} : { bitRate }),
    ...(quality === undefined ? {} : { quality }),
    ...(options === undefined ? {} : { options }),
  };
}

function samplesOf(signal: Signal, preset: Preset): Int16Array | Int32Array {
  return preset.bits === undefined ? toInt16(signal.samples) : toInt32(signal.samples, preset.bits);
}
