import { statSync } from 'node:fs';
import { AudioError } from '../audio/audio-error.js';
import { channelWeights } from '../audio/channel-weights.js';
import type { BetweenSteps } from '../audio/packet-indexes.js';
import { measuredRateOf } from '../audio/loudness.js';
import { LoudnessMeter } from '../audio/loudness-meter.js';
import type { WindowReader, WindowSamples } from '../audio/window-reader.js';
import { errorMessage } from '../errors.js';
import { framesOf } from '../random/decimal.js';
import { padWaveform } from './excerpt.js';
import type { PadMode } from './excerpt.js';
import { mtimeMicrosOf } from './scan-job.js';
import { placeInPart } from './window-offsets.js';

/** All it takes to decode an excerpt; plain data. */
export interface ExcerptJob {
  path: string;
  place: WindowPlace;
  durationSeconds: number | string;
  padMode: PadMode;
  /** Measures how loud it is. */
  lufs: boolean;
  /** What the file was when it was measured; NaN where that is not known. */
  known: FileState;
}

/** Where a window begins: at a frame, or at a share of all its possible starts, from 0 to 1, in a file whose length is not known yet. */
export type WindowPlace =
  | {
      startFrame: number;
      /** Frames of the recording from there that belong to the window. */
      frames: number;
      /** What those frames count, in Hz: the recording's rate, or another where that is not known. */
      frameRate: number;
    }
  | { phase: number };

export interface FileState {
  sizeBytes: number;
  mtimeMicros: number;
}

/** What decoding gives. */
export interface DecodedExcerpt extends WindowSamples {
  offsetSeconds: number;
  lufs?: number;
}

/** What became of a job; an error as plain data. */
export type ExcerptOutcome =
  | { kind: 'decoded'; excerpt: DecodedExcerpt }
  | { kind: 'failed'; reason: AudioError['reason']; state: string; hint: string | undefined };

/**
 * Decodes an excerpt.
 *
 * @param between is called while a first pass over a long file is under way.
 * @throws AudioError where the file changed, or its audio is not to be had.
 */
export async function decodeExcerpt(
  reader: WindowReader,
  job: ExcerptJob,
  between: BetweenSteps,
): Promise<DecodedExcerpt> {
  const { path, durationSeconds, padMode } = job;
  refuseChange(job);
  await reader.prepare(path, between);
  const { sampleRate: fileRate } = reader.info(path);
  const { firstFrame, frames } = placeOf(reader, job, fileRate);
  const read = reader.read(path, firstFrame, (rate) => framesOf(durationSeconds, rate));
  const { waveform, channels, samples, audioSamples, sampleRate } = read;
  // Where lengths are told in seconds or at another rate, they may be off by a frame.
  const expected = Math.min(samples, Math.floor(((frames - 1) / fileRate) * sampleRate));
  if (audioSamples < expected) refuseShort(path, firstFrame + frames, reader.frames(path), fileRate);
  if (audioSamples < samples) padWaveform(waveform, channels, samples, audioSamples, padMode);
  const offsetSeconds = firstFrame / fileRate;
  const excerpt = { sampleRate, channels, waveform, samples, audioSamples, offsetSeconds };
  return job.lufs ? { ...excerpt, lufs: loudnessOf(read) } : excerpt;
}

/** `decodeExcerpt`, with a failure of the file as a value. */
export async function tryExcerpt(
  reader: WindowReader,
  job: ExcerptJob,
  between: BetweenSteps,
): Promise<ExcerptOutcome> {
  try {
    return { kind: 'decoded', excerpt: await decodeExcerpt(reader, job, between) };
  } catch (error) {
    if (error instanceof AudioError) {
      return { kind: 'failed', reason: error.reason, state: error.state, hint: error.hint };
    }
    return { kind: 'failed', reason: 'corrupt_recording', state: errorMessage(error), hint: undefined };
  }
}

function placeOf(
  reader: WindowReader,
  { path, place, durationSeconds }: ExcerptJob,
  fileRate: number,
): { firstFrame: number; frames: number } {
  if ('phase' in place) {
    const total = reader.frames(path);
    const window = framesOf(durationSeconds, fileRate);
    const usable = Math.max(0, total - window);
    return { firstFrame: placeInPart(0, 1, usable + 1, place.phase), frames: Math.min(window, total) };
  }
  if (place.frameRate === fileRate) return { firstFrame: place.startFrame, frames: place.frames };
  const toFile = (frames: number): number => Math.floor((frames / place.frameRate) * fileRate);
  return { firstFrame: toFile(place.startFrame), frames: toFile(place.frames) };
}

function refuseChange({ path, known }: ExcerptJob): void {
  if (Number.isNaN(known.sizeBytes) && Number.isNaN(known.mtimeMicros)) return;
  const change = findFileChange(path, known);
  if (change === undefined) return;
  throw new AudioError('unreadable_recording', path, `it changed since it was measured: ${change}`, {
    hint: 'Scan it again.',
  });
}

/** How a file differs from what is known of it; undefined where it does not. */
export function findFileChange(path: string, known: FileState): string | undefined {
  const now = statSync(path, { throwIfNoEntry: false });
  if (now === undefined) return 'it is gone';
  if (!Number.isNaN(known.sizeBytes) && now.size !== known.sizeBytes) {
    return `its size was ${known.sizeBytes} bytes, and is ${now.size} now`;
  }
  if (Number.isNaN(known.mtimeMicros) || mtimeMicrosOf(now) === known.mtimeMicros) return undefined;
  return `it was written at ${timeText(known.mtimeMicros)}, and at ${timeText(mtimeMicrosOf(now))} again`;
}

function timeText(micros: number): string {
  return new Date(micros / 1000).toISOString();
}

function refuseShort(path: string, saidFrames: number, frames: number, fileRate: number): never {
  const end = (frames / fileRate).toFixed(3);
  const said = (saidFrames / fileRate).toFixed(3);
  throw new AudioError('truncated_recording', path, `its audio ends at ${end} s, and should go on to ${said} s`, {
    hint: 'The length that is known of it is wrong: scan it again.',
  });
}

function loudnessOf({ waveform, channels, samples, sampleRate }: WindowSamples): number {
  const weights = channelWeights(channels, undefined);
  const rates = { sourceRate: sampleRate, sampleRate: measuredRateOf(null, sampleRate) };
  using meter = new LoudnessMeter({ ...rates, weights, windowSamples: undefined });
  const planes = Array.from({ length: channels }, (_, at) => waveform.subarray(at * samples, (at + 1) * samples));
  meter.push(planes, samples);
  return meter.finish().summary.integratedLufs;
}
