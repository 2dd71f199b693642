import { AudioError } from './audio-error.js';
import type { BlockReader } from './block-reader.js';
import { cutSpans } from './cut-spans.js';
import { frameSpan } from './frame-span.js';
import { PlainWav } from './plain-wav.js';
import { PlainWavReader } from './plain-wav-reader.js';
import { RecordingReader } from './recording-reader.js';
import type { RecordingInfo } from './recording-reader.js';
import { isRateHeld, nameRates } from './sample-rates.js';
import type { AudioFormat } from './sample-rates.js';
import { createEncoder, createPcm16Encoder } from './snippet-encoder.js';
import type { ByteSink, SnippetEncoder } from './snippet-encoder.js';
import type { ChannelMix } from './channel-mix.js';

/** What to make of a recording. */
export interface ConvertRequest {
  path: string;
  /** Half-open, in whole microseconds; an end of null is that of the audio. Undefined is all of it. */
  span?: { start: number; end: number | null };
  format: AudioFormat;
  /** Hz; null keeps the recording's. */
  sampleRate: number | null;
  channel: ChannelMix;
  /** Of MP3 alone, from 0, the best sound, to 1, the smallest file; null is 0.65. */
  compressionLevel: number | null;
  /** Decides the serial number of an Ogg stream. */
  name: string;
}

/** What was made. */
export interface ConvertedFacts {
  /** Samples written; 0 where the audio ends at the span's start or before it: then nothing was written. */
  samples: number;
  /** Of what was written, in Hz. */
  sampleRate: number;
  clippedSamples: number;
  invalidSamples: number;
  /** Of the recording. */
  info: RecordingInfo;
  /** Set when the mono mix is far quieter than its channels, in dB (negative). */
  cancellationDb: number | undefined;
  /** Set when the audio ended before the span did. */
  audioEndSeconds: number | undefined;
}

/** Called now and then with the position in frames of the recording; must take a turn of the event loop. */
export type OnPosition = (frames: number, sampleRate: number) => Promise<void>;

/**
 * Makes a mono file of a recording or of a span of it.
 *
 * @param sink takes the file's bytes; what was written before a failure is of no use.
 * @throws AudioError as `cutSpans` does, and where the format does not hold the rate, before anything is written.
 */
export async function convertRecording(
  request: ConvertRequest,
  sink: ByteSink,
  onPosition: OnPosition,
): Promise<ConvertedFacts> {
  return (await takeSamples(request, sink, onPosition)) ?? (await decodeAndEncode(request, sink, onPosition));
}

/** Bytes that are read at once. */
const READ_BYTES = 1 << 18;

/** Hands the samples of a plain 16-bit mono WAV to the encoder as they are; undefined where that would not do. */
async function takeSamples(
  request: ConvertRequest,
  sink: ByteSink,
  onPosition: OnPosition,
): Promise<ConvertedFacts | undefined> {
  const { path, span, format, channel } = request;
  if (format !== 'flac' && format !== 'wav') return undefined;
  using wav = PlainWav.open(path);
  if (wav?.info.codec !== 'pcm_s16le' || wav.info.channels !== 1) return undefined;
  if (channel !== 'average' && channel !== 0) return undefined;
  const { info, frames: audioFrames } = wav;
  const { sampleRate } = info;
  if ((request.sampleRate ?? sampleRate) !== sampleRate || !isRateHeld(format, sampleRate)) return undefined;
  const asked = frameSpan(span, sampleRate);
  if (asked.endFrame > audioFrames) wav.checkEnd();
  const end = Math.min(asked.endFrame, audioFrames);
  const samples = Math.max(0, end - asked.firstFrame);
  if (samples > 0) {
    using encoder = createPcm16Encoder(format, sampleRate, sink);
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, samples * wav.bytesPerFrame));
    for (let at = asked.firstFrame; at < end;) {
      const count = wav.read(buffer.subarray(0, (end - at) * wav.bytesPerFrame), at);
      encoder.writePcm16(buffer.subarray(0, count * wav.bytesPerFrame));
      at += count;
      await onPosition(at, sampleRate);
    }
    encoder.finish();
  }
  return {
    samples,
    sampleRate,
    clippedSamples: 0,
    invalidSamples: 0,
    info,
    cancellationDb: undefined,
    audioEndSeconds: earlyEnd(span, end, sampleRate),
  };
}

async function decodeAndEncode(
  request: ConvertRequest,
  sink: ByteSink,
  onPosition: OnPosition,
): Promise<ConvertedFacts> {
  const { path, span, format, name, channel, compressionLevel } = request;
  const made: { samples: number; lastFrame: number; encoder?: SnippetEncoder } = { samples: 0, lastFrame: 0 };
  let sampleRate = request.sampleRate ?? 0;
  try {
    const { cancellationDb, ...info } = await cutSpans(
      path,
      (rate) => [frameSpan(span, rate)],
      () => ({
        write: (samples, count) => {
          made.encoder ??= createEncoder(format, sampleRate, name, sink, compressionLevel);
          made.encoder.write(samples, count);
        },
        finish: (samples, lastFrame) => {
          made.encoder?.finish();
          Object.assign(made, { samples, lastFrame });
        },
        miss: (audioFrames) => {
          made.lastFrame = audioFrames;
        },
      }),
      {
        open: openReader,
        targetRate: request.sampleRate,
        mix: channel,
        onPosition,
        onInfo: (opened) => {
          sampleRate = heldRate(request, opened);
        },
      },
    );
    return {
      samples: made.samples,
      sampleRate,
      clippedSamples: made.encoder?.clippedSamples ?? 0,
      invalidSamples: made.encoder?.invalidSamples ?? 0,
      info,
      cancellationDb,
      audioEndSeconds: earlyEnd(span, made.lastFrame, info.sampleRate),
    };
  } finally {
    made.encoder?.[Symbol.dispose]();
  }
}

function openReader(path: string): BlockReader {
  const wav = PlainWav.open(path);
  if (wav?.info.codec === 'pcm_s16le') return new PlainWavReader(wav);
  wav?.[Symbol.dispose]();
  return new RecordingReader(path);
}

/** Where the audio ended, in seconds, if that was before the span's own end, or left nothing of it. */
function earlyEnd(span: ConvertRequest['span'], lastFrame: number, rate: number): number | undefined {
  const asked = frameSpan(span, rate);
  const isEarly = asked.endFrame === Infinity ? lastFrame <= asked.firstFrame : lastFrame < asked.endFrame;
  return isEarly ? lastFrame / rate : undefined;
}

/** The rate of the file to be made. */
function heldRate({ path, format, sampleRate }: ConvertRequest, info: RecordingInfo): number {
  const rate = sampleRate ?? info.sampleRate;
  if (isRateHeld(format, rate)) return rate;
  const rates = nameRates(format);
  const state = `${FORMAT_TITLES[format]} cannot hold ${rate} Hz`;
  throw new AudioError('unsupported_rate', path, state, { hint: `Ask for a sample rate of ${rates} Hz.` });
}

const FORMAT_TITLES: Readonly<Record<AudioFormat, string>> = {
  flac: 'FLAC',
  wav: 'WAV',
  mp3: 'MP3',
  ogg: 'Ogg Vorbis',
  opus: 'Opus',
};
