import { UsageError } from '../errors.js';
import type { GivenSource } from './source-spec.js';

/** Makes items louder and softer. */
export interface VolumeOptions {
  /** Share of the copies that are changed. Default 1. */
  probability?: number | undefined;
  /** Bounds of the gain in dB, of which each is as likely as any between. */
  gainDb: readonly [lowest: number, highest: number];
}

/** Mixes noise in. */
export interface NoiseOptions {
  /** Share of the copies that are changed. Default 1. */
  probability?: number | undefined;
  /** Ratios of signal to noise in dB, each as likely as any other: those of the root mean squares of the whole item and of the noise under it. */
  snrsDb: readonly number[];
  /** Noises, as any source of a loader. One of `source` and `files` is needed. */
  source?: GivenSource | undefined;
  /** Paths of audio files. */
  files?: readonly string[] | undefined;
}

/** What is done to each copy of each item: speed first (`speeds`), then noise, volume and the guard. */
export interface AugmentOptions {
  volume?: VolumeOptions | undefined;
  noise?: NoiseOptions | undefined;
  /** Turns down what noise or volume drove above full scale, so that its peak is 1. Default false. */
  clipGuard?: boolean | undefined;
}

/** @throws UsageError or RangeError when an option is wrong. */
export function checkAugment(augment: AugmentOptions): void {
  const { volume, noise } = augment;
  if (volume !== undefined) {
    checkProbability('augment.volume.probability', volume.probability);
    const [lowest, highest] = listOf(volume.gainDb);
    if (!(isFiniteNumber(lowest) && isFiniteNumber(highest) && lowest <= highest)) {
      throw new RangeError(
        `augment.volume.gainDb must be two numbers of dB, the lower one first, not ${String(lowest)}, ${String(highest)}`,
      );
    }
  }
  if (noise !== undefined) {
    checkProbability('augment.noise.probability', noise.probability);
    const snrsDb = listOf(noise.snrsDb);
    if (snrsDb.length === 0 || !snrsDb.every(isFiniteNumber)) {
      throw new RangeError('augment.noise.snrsDb must be a list of numbers of dB');
    }
    if ((noise.source === undefined) === (noise.files === undefined)) {
      throw new UsageError('The noise needs either a source or files', { hint: 'Set augment.noise.source or .files.' });
    }
    if (noise.files !== undefined && listOf(noise.files).length === 0) {
      throw new RangeError('augment.noise.files is empty, or no list of paths');
    }
  }
}

function checkProbability(name: string, probability = 1): void {
  if (!(probability >= 0 && probability <= 1)) throw new RangeError(`${name} must be from 0 to 1, not ${probability}`);
}

/** Programs without types give anything. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}
