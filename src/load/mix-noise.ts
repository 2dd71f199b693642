/**
 * Adds noise to a signal, in place, so that their root mean squares are in the ratio 10^(snrDb / 20). Noise that is too short begins anew:
 *
 * ```
 * signal   ━━━━━━━━━━━━━━━━━━━━
 * noise    cdefg|abcdefg|abcdef     of abcdefg, from c on
 * ```
 *
 * @param offset where the noise begins, in its samples
 * @returns false, and nothing is changed, where the signal, or the noise under it, is silent
 */
export function mixNoise(signal: Float32Array, noise: Float32Array, offset: number, snrDb: number): boolean {
  const signalRms = rms(signal, 0, signal.length);
  const noiseRms = rms(noise, offset, signal.length);
  if (!(signalRms > 0 && noiseRms > 0)) return false;
  const factor = signalRms / (noiseRms * 10 ** (snrDb / 20));
  let at = offset % noise.length;
  for (let sample = 0; sample < signal.length; sample += 1) {
    signal[sample]! += factor * noise[at]!;
    at += 1;
    if (at === noise.length) at = 0;
  }
  return true;
}

/** Multiplies all samples, in place. */
export function amplify(signal: Float32Array, gainDb: number): void {
  const factor = 10 ** (gainDb / 20);
  for (let sample = 0; sample < signal.length; sample += 1) signal[sample]! *= factor;
}

/** Turns the signal down to a peak of 1, in place; the gain in dB, or undefined where nothing is above full scale. */
export function guardPeak(signal: Float32Array): number | undefined {
  let peak = 0;
  for (const sample of signal) peak = Math.max(peak, Math.abs(sample));
  if (!(peak > 1)) return undefined;
  for (let sample = 0; sample < signal.length; sample += 1) signal[sample]! /= peak;
  return -20 * Math.log10(peak);
}

/** Of `count` samples from `offset` on, beginning anew at the end. */
function rms(samples: Float32Array, offset: number, count: number): number {
  if (samples.length === 0 || count === 0) return 0;
  let sum = 0;
  let at = offset % samples.length;
  for (let index = 0; index < count; index += 1) {
    const sample = samples[at]!;
    sum += sample * sample;
    at += 1;
    if (at === samples.length) at = 0;
  }
  return Math.sqrt(sum / count);
}
