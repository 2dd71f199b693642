/** How an excerpt is filled up where its recording is shorter: as NumPy's `pad` names it. */
export type PadMode = 'constant' | 'edge' | 'reflect' | 'symmetric' | 'wrap';

export const PAD_MODES: readonly PadMode[] = ['constant', 'edge', 'reflect', 'symmetric', 'wrap'];

/** A window of a recording, as a trainer takes it. */
export interface Excerpt {
  /** Of shape [channels, samples]: one channel behind the other. */
  waveform: Float32Array<ArrayBuffer>;
  channels: number;
  /** Of each channel: round(duration · rate). */
  samples: number;
  /** How many of them are of the recording; what follows fills up. */
  audioSamples: number;
  /** Hz. */
  sampleRate: number;
  /** As it was given or found. */
  filepath: string;
  /** The source that the file was found under; the name of the group in a balanced dataset; empty for files that were named. */
  source: string;
  /** Where it begins in the recording. */
  offsetSeconds: number;
  /** Gated loudness in LUFS (ITU-R BS.1770-4), -Infinity where nothing passes the gates; where it was asked for. */
  lufs?: number;
  /** Its place in the dataset. */
  index: number;
}

/**
 * Fills up the samples of each channel from those before, in place.
 *
 * ```
 * audio       a b c d
 * constant    a b c d 0 0 0      edge       a b c d d d d      wrap  a b c d a b c
 * reflect     a b c d c b a      symmetric  a b c d d c b
 * ```
 *
 * @param audioSamples how many of each channel are there.
 */
export function padWaveform(
  waveform: Float32Array,
  channels: number,
  samples: number,
  audioSamples: number,
  mode: PadMode,
): void {
  if (audioSamples === 0 || mode === 'constant') return;
  const sourceOf = SOURCES[mode];
  for (let channel = 0; channel < channels; channel += 1) {
    const at = channel * samples;
    for (let sample = audioSamples; sample < samples; sample += 1) {
      waveform[at + sample] = waveform[at + sourceOf(sample, audioSamples)] ?? 0;
    }
  }
}

/** Which of `count` samples stands at a place behind them. */
const SOURCES: Readonly<Record<Exclude<PadMode, 'constant'>, (at: number, count: number) => number>> = {
  edge: (_, count) => count - 1,
  wrap: (at, count) => at % count,
  symmetric: (at, count) => mirrored(at % (2 * count), 2 * count - 1, count),
  reflect: (at, count) => (count === 1 ? 0 : mirrored(at % (2 * count - 2), 2 * count - 2, count)),
};

function mirrored(at: number, turn: number, count: number): number {
  return at < count ? at : turn - at;
}
