import type { FlagParametersForType } from '@stricli/core';
import { UsageError } from '../errors.js';
import type { AugmentOptions, NoiseOptions } from '../load/augment-options.js';
import type { CliContext } from './context.js';
import { decibelList, decibelRange } from './load-values.js';
import { nonEmpty, numberWhere } from './values.js';

/** Flags that say how items are changed, parsed. */
export interface AugmentFlags {
  noise?: readonly string[];
  noiseSource?: readonly string[];
  snrs?: readonly number[];
  noiseProbability?: number;
  gain?: readonly [number, number];
  gainProbability?: number;
  clipGuard: boolean;
}

const path = 'path';
const number = 'number';
const probability = numberWhere('a number from 0 to 1', (value) => value >= 0 && value <= 1);

/** Of `AugmentFlags`. */
export const AUGMENT_FLAGS: FlagParametersForType<AugmentFlags, CliContext> = {
  noise: {
    kind: 'parsed',
    parse: nonEmpty,
    variadic: true,
    optional: true,
    placeholder: path,
    brief: 'Mix in noise of these audio files, folders and patterns, at one of --snrs',
  },
  noiseSource: {
    kind: 'parsed',
    parse: nonEmpty,
    variadic: true,
    optional: true,
    placeholder: path,
    brief: 'In place of --noise: a .lst, a NeMo manifest, a dataset of cut, build or tar',
  },
  snrs: {
    kind: 'parsed',
    parse: decibelList,
    optional: true,
    placeholder: 'dB,dB',
    brief: 'How far items are above the noise, of which each is as likely',
  },
  noiseProbability: {
    kind: 'parsed',
    parse: probability,
    optional: true,
    placeholder: number,
    brief: 'Share of the copies that get noise [1]',
  },
  gain: {
    kind: 'parsed',
    parse: decibelRange,
    optional: true,
    placeholder: 'dB,dB',
    brief: 'Turn items up or down, by anything between these two',
  },
  gainProbability: {
    kind: 'parsed',
    parse: probability,
    optional: true,
    placeholder: number,
    brief: 'Share of the copies that are turned up or down [1]',
  },
  clipGuard: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Turn down what noise or gain drove above full scale',
  },
};

/**
 * What flags ask to be done to items; undefined where they ask for nothing.
 *
 * @throws UsageError when flags do not go together.
 * @throws InputError when there is no noise.
 */
export async function readAugment(flags: AugmentFlags, signal: AbortSignal): Promise<AugmentOptions | undefined> {
  const { gain, gainProbability, clipGuard } = flags;
  refuseLone(flags);
  const noise = await readNoise(flags, signal);
  if (noise === undefined && gain === undefined) return undefined;
  const volume = gain === undefined ? undefined : { gainDb: gain, probability: gainProbability };
  return { noise, volume, clipGuard };
}

/** Whether flags ask for noise or gain. */
export function hasAugment({ noise, noiseSource, gain }: AugmentFlags): boolean {
  return noise !== undefined || noiseSource !== undefined || gain !== undefined;
}

async function readNoise(flags: AugmentFlags, signal: AbortSignal): Promise<NoiseOptions | undefined> {
  const { noise, noiseSource, snrs, noiseProbability } = flags;
  if (noise === undefined && noiseSource === undefined) return undefined;
  if (snrs === undefined) {
    throw new UsageError('Noise is given, and not how loud it is to be', { hint: 'Give --snrs, such as 5,10,15.' });
  }
  const common = { snrsDb: snrs, probability: noiseProbability };
  if (noise === undefined) return { ...common, source: noiseSource };
  const { findNoise } = await import('./find-noise.js');
  return { ...common, files: await findNoise(noise, signal) };
}

/** @throws UsageError for flags that belong to others, which are not there. */
function refuseLone(flags: AugmentFlags): void {
  const { noise, noiseSource, snrs, noiseProbability, gain, gainProbability, clipGuard } = flags;
  if (noise !== undefined && noiseSource !== undefined) {
    throw new UsageError('--noise and --noise-source exclude each other');
  }
  const hasNoise = noise !== undefined || noiseSource !== undefined;
  const lone = {
    '--snrs': [snrs, hasNoise, '--noise'],
    '--noise-probability': [noiseProbability, hasNoise, '--noise'],
    '--gain-probability': [gainProbability, gain !== undefined, '--gain'],
    '--clip-guard': [clipGuard || undefined, hasAugment(flags), '--noise or --gain'],
  } as const;
  for (const [flag, [value, hasOther, other]] of Object.entries(lone)) {
    if (value !== undefined && !hasOther) throw new UsageError(`${flag} is given without ${other}`);
  }
}
