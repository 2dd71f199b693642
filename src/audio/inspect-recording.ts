import type { OnPosition } from './convert-recording.js';
import { FRAMES_A_REPORT } from './cut-spans.js';
import { LevelMeter } from './level-meter.js';
import { PlainWav } from './plain-wav.js';
import { refuseEarlyEnd, refuseFormatChange } from './recording-faults.js';
import { RecordingReader } from './recording-reader.js';
import type { RecordingInfo } from './recording-reader.js';
import { endFrame, firstFrame, toMicros } from './times.js';

/** A part of a recording; an end of undefined is that of the audio. */
export interface InspectSpan {
  startSeconds: number;
  endSeconds: number | undefined;
}

/** What was heard. */
export interface RecordingInspection {
  /** Frames decoded of the span: fewer than it asks for where the audio ends before. */
  frames: number;
  /** Hz, the recording's own. */
  sampleRate: number;
  channels: number;
  /** The largest sample of any channel; 1 is full scale, which lossy formats and floats may pass. */
  peak: number;
  /** Of all channels' samples, in dB of full scale; -Infinity where each is 0. */
  rmsDb: number;
  /** Runs of 3 and more samples in a row at full scale, of all channels. */
  clippedRuns: number;
  /** The peak is below -60 dB of full scale. */
  isSilent: boolean;
  /** Samples that are no number. */
  invalidSamples: number;
}

const SILENT_PEAK = 10 ** (-60 / 20);

/**
 * Decodes a recording or a span of it, as it is, and measures its levels.
 *
 * @throws AudioError where the audio cannot be read, or ends before its header says although the span goes on.
 */
export async function inspectRecording(
  path: string,
  span: InspectSpan | undefined,
  onPosition: OnPosition,
): Promise<RecordingInspection> {
  return (await inspectPlainWav(path, span, onPosition)) ?? (await decodeAndInspect(path, span, onPosition));
}

/** Samples that are read at once. */
const READ_SAMPLES = 1 << 17;

/** Measures the samples of a 16-bit WAV as they lie in the file; undefined for anything else. */
async function inspectPlainWav(
  path: string,
  span: InspectSpan | undefined,
  onPosition: OnPosition,
): Promise<RecordingInspection | undefined> {
  using wav = PlainWav.open(path);
  if (wav?.info.codec !== 'pcm_s16le') return undefined;
  const { sampleRate, channels } = wav.info;
  const { first, end } = frameRange(span, sampleRate);
  if (end > wav.frames) wav.checkEnd();
  const last = Math.min(end, wav.frames);
  const meter = new LevelMeter(channels);
  const samples = new Int16Array(Math.max(channels, READ_SAMPLES - (READ_SAMPLES % channels)));
  for (let at = first; at < last;) {
    const room = Math.min(samples.length, (last - at) * channels);
    const count = wav.read(new Uint8Array(samples.buffer, 0, room * 2), at);
    meter.addPcm16(samples.subarray(0, count * channels));
    at += count;
    await onPosition(at, sampleRate);
  }
  return inspection(wav.info, Math.max(0, last - first), meter);
}

async function decodeAndInspect(
  path: string,
  span: InspectSpan | undefined,
  onPosition: OnPosition,
): Promise<RecordingInspection> {
  using reader = new RecordingReader(path);
  const { sampleRate } = reader.info;
  const { first, end } = frameRange(span, sampleRate);
  let meter: LevelMeter | undefined;
  let frames = 0;
  for (let reportAt = FRAMES_A_REPORT; reader.position < end;) {
    if (reader.position < first) reader.skip(0, first);
    if (!reader.next()) {
      refuseEarlyEnd(reader);
      break;
    }
    meter ??= new LevelMeter(reader.block.channels);
    refuseFormatChange(reader, meter.channels);
    const from = Math.max(0, first - reader.blockStart);
    const to = Math.min(reader.blockFrames, end - reader.blockStart);
    if (from < to) {
      meter.add(reader.block, from, to);
      frames += to - from;
    }
    if (reader.position < reportAt) continue;
    await onPosition(reader.position, sampleRate);
    reportAt = reader.position + FRAMES_A_REPORT;
  }
  return inspection(reader.info, frames, meter ?? new LevelMeter(reader.info.channels));
}

/** The frames of a span; an end that is that of the audio is Infinity. */
function frameRange(span: InspectSpan | undefined, rate: number): { first: number; end: number } {
  if (span === undefined) return { first: 0, end: Infinity };
  const { startSeconds, endSeconds } = span;
  const end = endSeconds === undefined ? Infinity : endFrame(toMicros(endSeconds), rate);
  return { first: firstFrame(toMicros(startSeconds), rate), end };
}

function inspection({ sampleRate }: RecordingInfo, frames: number, meter: LevelMeter): RecordingInspection {
  const { channels, peak, rmsDb, clippedRuns, invalidSamples } = meter;
  return { frames, sampleRate, channels, peak, rmsDb, clippedRuns, isSilent: peak < SILENT_PEAK, invalidSamples };
}
