import { AV_CHANNEL_ORDER_NATIVE } from 'node-av/constants';
import type { ChannelLayout } from 'node-av/lib';
import { formatOf } from './audio-format.js';
import { channelWeights, positionedLayout } from './channel-weights.js';
import type { OnPosition } from './convert-recording.js';
import { FRAMES_A_REPORT } from './cut-spans.js';
import { FlacSource } from './flac-source.js';
import { LOWEST_WEIGHTED_RATE } from './k-weighting.js';
import { LoudnessMeter } from './loudness-meter.js';
import type { LoudnessSummary } from './loudness-meter.js';
import type { RecordingMeasure } from './measure-recording.js';
import { refuseEarlyEnd, refuseFormatChange } from './recording-faults.js';
import type { RecordingInfo } from './recording-info.js';
import { RecordingReader } from './recording-reader.js';
import { SignalConverter } from './signal-converter.js';

/** Which signal is measured, and in which windows. */
export interface LoudnessOptions {
  /** Length of the windows in seconds, 0.4 at least; undefined for none. */
  windowSeconds: number | undefined;
  /** Hz that the recording is brought to; null keeps its own, if that is not too low for the weighting. */
  sampleRate: number | null;
  /** Mixes all channels to one; else each counts as its place in the layout says. */
  mono: boolean;
}

/** A recording and how loud it is. */
export interface RecordingLoudness extends LoudnessSummary {
  measure: RecordingMeasure;
  /** Gated loudness of each whole window in LUFS, -Infinity where nothing in it passes the gates. What is left at the end has none. */
  windows: Float32Array;
}

/** How many samples a window holds. */
export function windowSamplesOf(windowSeconds: number, sampleRate: number): number {
  return Math.round(windowSeconds * sampleRate);
}

/** Hz that a recording is measured at: what is asked for, or its own, which is raised where it is too low for the weighting. */
export function measuredRateOf(sampleRate: number | null, recordingRate: number): number {
  return sampleRate ?? Math.max(recordingRate, LOWEST_WEIGHTED_RATE);
}

/**
 * Decodes a recording once and measures its loudness by ITU-R BS.1770-4, as a whole and window by window.
 *
 * The codec library's own meter gives blocks on a ruler from the start of the file alone, one figure for the file and no peaks
 * without resampling all of it to 192 kHz; windows need blocks from the start of each. So the meter is our own.
 *
 * @throws AudioError where the recording cannot be read to its end.
 */
export async function measureLoudness(
  path: string,
  options: LoudnessOptions,
  onPosition: OnPosition,
): Promise<RecordingLoudness> {
  // Positions of channels may stand in tags of the file, which this source does not read; mixed to one they do not count.
  using flac = options.mono ? FlacSource.open(path) : undefined;
  return flac === undefined
    ? await measureInOrder(path, options, onPosition)
    : await measureFlac(path, flac, options, onPosition);
}

/** A FLAC file by its own frames: the codec library's reading of them takes a tenth of all the time. */
async function measureFlac(
  path: string,
  source: FlacSource,
  options: LoudnessOptions,
  onPosition: OnPosition,
): Promise<RecordingLoudness> {
  const { info } = source;
  let signal: MeasuredSignal | undefined;
  let position = 0;
  let hasGap = false;
  try {
    for (;;) {
      const reportAt = position + FRAMES_A_REPORT;
      const end = source.decode(position, (block, start, blockFrames) => {
        hasGap = start !== position;
        if (hasGap) return true;
        signal ??= new MeasuredSignal({ block, info }, options);
        signal.push({ block, blockFrames });
        position += blockFrames;
        return position >= reportAt;
      });
      if (hasGap) return await measureInOrder(path, options, onPosition);
      if (end !== undefined) break;
      await onPosition(position, info.sampleRate);
    }
    return measured(path, info, signal, position);
  } finally {
    signal?.[Symbol.dispose]();
  }
}

async function measureInOrder(
  path: string,
  options: LoudnessOptions,
  onPosition: OnPosition,
): Promise<RecordingLoudness> {
  using reader = new RecordingReader(path);
  const { info } = reader;
  let signal: MeasuredSignal | undefined;
  try {
    for (let reportAt = FRAMES_A_REPORT; reader.next();) {
      signal ??= new MeasuredSignal(reader, options);
      refuseFormatChange(reader, signal.recordedChannels);
      signal.push(reader);
      if (reader.position < reportAt) continue;
      await onPosition(reader.position, info.sampleRate);
      reportAt = reader.position + FRAMES_A_REPORT;
    }
    refuseEarlyEnd(reader);
    return measured(path, info, signal, reader.position);
  } finally {
    signal?.[Symbol.dispose]();
  }
}

function measured(
  path: string,
  info: RecordingInfo,
  signal: MeasuredSignal | undefined,
  frames: number,
): RecordingLoudness {
  if (signal === undefined) throw new Error(`"${path}" has ${frames} frames, of which none was measured`);
  const { summary, windows } = signal.finish();
  return { ...summary, windows, measure: { ...info, frames, format: formatOf(info.container, info.codec) } };
}

/** Brings the blocks of a recording to the signal that is measured, and measures it. */
class MeasuredSignal implements Disposable {
  readonly recordedChannels: number;
  /** Set where the blocks come without channel positions. */
  readonly #layout: ChannelLayout | undefined;
  readonly #converter: SignalConverter;
  readonly #meter: LoudnessMeter;

  constructor(
    { block, info }: Pick<RecordingReader, 'block' | 'info'>,
    { windowSeconds, sampleRate, mono }: LoudnessOptions,
  ) {
    const { channels, channelLayout } = block;
    this.recordedChannels = channels;
    const isPlaced = channelLayout.order === AV_CHANNEL_ORDER_NATIVE;
    this.#layout = isPlaced ? undefined : positionedLayout(channels);
    const layout = this.#layout ?? channelLayout;
    const rate = measuredRateOf(sampleRate, info.sampleRate);
    const weights = mono ? [1] : channelWeights(channels, isPlaced ? channelLayout.mask : undefined);
    const input = { layout, format: block.format, sampleRate: info.sampleRate };
    this.#converter = new SignalConverter(input, mono ? 'average' : undefined);
    const windowSamples = windowSeconds === undefined ? undefined : windowSamplesOf(windowSeconds, rate);
    this.#meter = new LoudnessMeter({ sourceRate: info.sampleRate, sampleRate: rate, weights, windowSamples });
  }

  push({ block, blockFrames }: Pick<RecordingReader, 'block' | 'blockFrames'>): void {
    if (this.#layout !== undefined) block.channelLayout = this.#layout;
    this.#converter.push(block, blockFrames);
    this.#meter.push(this.#converter.channels, blockFrames);
  }

  finish(): ReturnType<LoudnessMeter['finish']> {
    return this.#meter.finish();
  }

  [Symbol.dispose](): void {
    this.#meter[Symbol.dispose]();
    this.#converter[Symbol.dispose]();
  }
}
