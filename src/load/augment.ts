import type { AugmentOptions } from './augment-options.js';
import type { AppliedAugmentation } from './batch.js';
import { amplify, guardPeak, mixNoise } from './mix-noise.js';
import { passRandom } from './speed-of.js';

/** What is to be done to one copy of an item: a pure function of seed, pass, item and copy. */
export interface DrawnAugmentation {
  gainDb: number | undefined;
  noise: DrawnNoise | undefined;
}

/** Which noise, and where in it: shares of all noises and places are drawn, for how many there are is known to the source alone. */
export interface DrawnNoise {
  snrDb: number;
  /** In [0, 1): which noise. The first one that can be read is taken. */
  picks: readonly number[];
  /** In [0, 1): where in it. */
  phase: number;
}

/** Noise as it was decoded. */
export interface DecodedNoise {
  path: string;
  id: string;
  samples: Float32Array;
  /** Where `samples` begins in the noise, in samples of the loader's rate. */
  startSamples: number;
  /** Where it is begun, in `samples`. */
  offset: number;
}

const WORD = 2 ** 32;
/** Noises that are tried for a copy before it goes without. */
const NOISE_TRIES = 4;

// Lanes of one (item, copy). A number that is added later takes one of its own, so that the others stay.
const VOLUME_CHANCE = 0;
const VOLUME_GAIN = 1;
const NOISE_CHANCE = 2;
const NOISE_SNR = 3;
const NOISE_PHASE = 4;
const NOISE_PICK = 5;
const LANES = 16;
/** Lanes for all copies of items whose numbers are below 2^32; then for those of the next 2^32 … */
const COPY_LANES = 2 ** 16;

/** Copies of an item that there may be. */
export const MAX_COPIES = COPY_LANES / LANES;

/** Draws and applies what is done to items. */
export class Augmenter {
  readonly #options: AugmentOptions;
  readonly #randomOf: ReturnType<typeof passRandom>;

  constructor(seed: number, options: AugmentOptions) {
    this.#options = options;
    this.#randomOf = passRandom(seed, 'load/augment');
  }

  draw(item: number, pass: number, copy: number): DrawnAugmentation {
    const { volume, noise } = this.#options;
    const random = this.#randomOf(pass);
    const firstLane = Math.floor(item / WORD) * COPY_LANES + copy * LANES;
    const uniform = (lane: number): number => random(item % WORD, firstLane + lane) / WORD;
    const isAmplified = volume !== undefined && uniform(VOLUME_CHANCE) < (volume.probability ?? 1);
    const isNoisy = noise !== undefined && uniform(NOISE_CHANCE) < (noise.probability ?? 1);
    return {
      gainDb: isAmplified ? between(volume.gainDb, uniform(VOLUME_GAIN)) : undefined,
      noise: isNoisy
        ? {
            snrDb: noise.snrsDb[Math.floor(uniform(NOISE_SNR) * noise.snrsDb.length)]!,
            picks: Array.from({ length: NOISE_TRIES }, (_, attempt) => uniform(NOISE_PICK + attempt)),
            phase: uniform(NOISE_PHASE),
          }
        : undefined,
    };
  }

  /**
   * Changes one copy in place, whose speed has been changed by its decoder.
   *
   * @param noise undefined where none is wanted, or none could be read
   */
  apply(
    signal: Float32Array,
    speed: number,
    drawn: DrawnAugmentation,
    noise: DecodedNoise | undefined,
  ): AppliedAugmentation {
    const snrDb = drawn.noise?.snrDb;
    const isMixed = noise !== undefined && snrDb !== undefined && mixNoise(signal, noise.samples, noise.offset, snrDb);
    if (drawn.gainDb !== undefined) amplify(signal, drawn.gainDb);
    const isGuarded = this.#options.clipGuard === true && (isMixed || drawn.gainDb !== undefined);
    return {
      speed,
      gainDb: drawn.gainDb,
      noise: isMixed ? { path: noise.path, offsetSamples: noise.startSamples + noise.offset, snrDb } : undefined,
      guardDb: isGuarded ? guardPeak(signal) : undefined,
    };
  }
}

function between([lowest, highest]: readonly [number, number], share: number): number {
  return lowest + (highest - lowest) * share;
}
