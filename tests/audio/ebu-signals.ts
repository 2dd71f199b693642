import { LoudnessMeter, type LoudnessSummary } from '#cutroom/audio/loudness-meter.js';

export const RATE = 48_000;

/** A part of a test signal: a tone of 1 kHz whose peak is so far below full scale, or silence where that is not told. */
export type Part = [seconds: number, peakDb?: number];

/** Puts parts one behind the other; the tone goes on in phase. */
export function toneOf(parts: readonly Part[], frequencyHz = 1000): Float32Array {
  const lengths = parts.map(([seconds]) => Math.round(seconds * RATE));
  const samples = new Float32Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const [index, [, peakDb = -Infinity]] of parts.entries()) {
    const amplitude = 10 ** (peakDb / 20);
    const end = at + (lengths[index] ?? 0);
    for (; at < end; at += 1) samples[at] = amplitude * Math.sin((2 * Math.PI * frequencyHz * at) / RATE);
  }
  return samples;
}

/** Measures channels as wholes, in blocks as a decoder would give them. */
export function measureSignal(
  channels: readonly Float32Array[],
  weights: readonly number[] = channels.map(() => 1),
  rate = RATE,
): LoudnessSummary {
  using meter = new LoudnessMeter({ sourceRate: rate, sampleRate: rate, weights, windowSamples: undefined });
  const length = channels[0]?.length ?? 0;
  for (let at = 0; at < length; at += 4097) {
    const end = Math.min(length, at + 4097);
    meter.push(
      channels.map((samples) => samples.subarray(at, end)),
      end - at,
    );
  }
  return meter.finish().summary;
}

/** The same tone on both channels. */
export function measureStereo(parts: readonly Part[]): LoudnessSummary {
  const tone = toneOf(parts);
  return measureSignal([tone, tone]);
}
