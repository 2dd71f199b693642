import { AV_CODEC_ID_OPUS } from 'node-av/constants';
import { Codec } from 'node-av/lib';
import type { Stream } from 'node-av/lib';
import { readBytes } from './file-bytes.js';
import { checkFile, onlyAudioStream, openContainer } from './open-recording.js';
import type { RecordingInfo } from './recording-reader.js';
import { readWavHeader, wavFrames, wavShortfall } from './wav-header.js';
import { hasFrameCount } from './xing-header.js';

/** What the headers of a recording say. */
export interface RecordingProbe extends RecordingInfo {
  /** Undefined where only decoding tells. */
  seconds: number | undefined;
}

/**
 * Reads what a recording is from its headers, without decoding any of it.
 *
 * @throws AudioError where it cannot be opened or holds no audio.
 */
export function probeRecording(path: string): RecordingProbe {
  checkFile(path);
  return probeWav(path) ?? probeFlac(path) ?? probeContainer(path);
}

function probeWav(path: string): RecordingProbe | undefined {
  const header = readWavHeader(path);
  if (header?.codec === undefined || header.sampleRate === 0) return undefined;
  const { container, sampleRate, channels, codec } = header;
  const seconds = wavShortfall(header) === undefined ? wavFrames(header) / sampleRate : undefined;
  return { seconds, sampleRate, channels, container, codec };
}

/** STREAMINFO is the first block (RFC 9639, section 8.2); a total of 0 samples is "unknown". */
function probeFlac(path: string): RecordingProbe | undefined {
  const head = readBytes(path, 42);
  if (head.length < 42 || head.toString('latin1', 0, 4) !== 'fLaC' || (head.readUInt8(4) & 0x7f) !== 0)
    return undefined;
  const packed = head.readBigUInt64BE(18);
  const sampleRate = Number(packed >> 44n);
  if (sampleRate === 0) return undefined;
  const total = Number(packed & 0xf_ffff_ffffn);
  return {
    seconds: total === 0 ? undefined : total / sampleRate,
    sampleRate,
    channels: Number((packed >> 41n) & 7n) + 1,
    container: 'flac',
    codec: 'flac',
  };
}

/** Containers whose length is written down, or where their last packet says when it ends; others have the codec library guess. */
const RELIABLE = new Set(['flac', 'mov', 'ogg', 'matroska', 'aiff', 'caf', 'wv', 'ape', 'tta', 'dsf']);

function probeContainer(path: string): RecordingProbe {
  const wav = readWavHeader(path);
  const opened = openContainer(path, wav !== undefined, wav !== undefined && wav.declaredBytes === undefined);
  try {
    const stream = onlyAudioStream(path, opened);
    const { sampleRate, channels, codecId } = stream.codecpar;
    const container = opened.iformat?.name?.split(',')[0] ?? '';
    const codec = Codec.findDecoder(codecId)?.name ?? '';
    const isReliable = RELIABLE.has(container) || (container === 'mp3' && hasFrameCount(path));
    const seconds = isReliable ? streamSeconds(stream) : undefined;
    return { seconds, sampleRate, channels, container, codec };
  } finally {
    opened.closeInputSync();
  }
}

function streamSeconds({ duration, timeBase, codecpar }: Stream): number | undefined {
  if (duration <= 0n) return undefined;
  // The duration of Opus in Ogg counts what a decoder drops at the start, in samples of 48 kHz (RFC 7845, section 4.2).
  const preSkip = codecpar.codecId === AV_CODEC_ID_OPUS ? codecpar.initialPadding / 48_000 : 0;
  return (Number(duration) * timeBase.num) / timeBase.den - preSkip;
}
