import { keyedRandom, threefry2x32, type KeyedRandom } from '../random/keyed.js';

const WORD = 2 ** 32;

/**
 * Where part `part` of `parts` begins when `total` places are shared out: floor(part · total / parts). The end of a
 * part is where the next begins, so the parts tile [0, total) without gap or overlap.
 *
 * With total = q · parts + r it is part · q + floor(part · r / parts), which is exact while parts · r < 2^53. Beyond,
 * the product is rounded: still never falling as `part` grows, so the parts still tile, and each has q places or more;
 * only their sizes may differ by one from the formula.
 *
 * @param part 0 to `parts`
 * @param parts at most `total`
 */
export function partStart(part: number, parts: number, total: number): number {
  if (part === parts) return total;
  const least = Math.floor(total / parts);
  return part * least + Math.floor((part * (total - least * parts)) / parts);
}

/** The place in part `part` that a phase from 0 to 1 points at; 1 is its last. See `partStart`. */
export function placeInPart(part: number, parts: number, total: number, phase: number): number {
  const start = partStart(part, parts, total);
  const count = partStart(part + 1, parts, total) - start;
  return start + Math.min(count - 1, Math.floor(phase * count));
}

/**
 * Without jitter, where in its part each window starts, epoch by epoch, from 0 (the first place) to 1 (the last):
 *
 * ```
 * epoch  0  1   2    3    4    5    6 …
 * phase  0  1  1/2  1/4  3/4  1/8  5/8 …
 * ```
 *
 * After the two ends it is van der Corput's sequence: the bits of the epoch (less one) mirrored at the point. Epochs 0
 * to 2^k have been at 1 and at every multiple of 1/2^k below it, which gives two bounds for a part of L places:
 *
 * - once 2^k ≥ L every place was taken, for each holds a stretch of 1/L of the phases and with it one of the multiples;
 * - before, two neighbours among the places taken are at most ceil(L / 2^k) apart, and both ends are among them:
 *   windows of that length or longer leave no frame out. At alpha 1 and a hop no longer than the window, L is at most
 *   the hop, so epochs 0 and 1 cover each frame.
 *
 * Source: van der Corput, "Verteilungsfunktionen" (1935); its discrepancy over E epochs is O(log E / E), against 1/√E
 * for chance.
 */
export function phaseOf(epoch: number): number {
  if (epoch < 2) return epoch;
  const count = epoch - 1;
  return mirrored(count % WORD) / WORD + mirrored(Math.floor(count / WORD)) / WORD / WORD;
}

/** The 32 bits of a word in reverse. */
function mirrored(word: number): number {
  let bits = word | 0;
  bits = ((bits >>> 1) & 0x5555_5555) | ((bits & 0x5555_5555) << 1);
  bits = ((bits >>> 2) & 0x3333_3333) | ((bits & 0x3333_3333) << 2);
  bits = ((bits >>> 4) & 0x0f0f_0f0f) | ((bits & 0x0f0f_0f0f) << 4);
  bits = ((bits >>> 8) & 0x00ff_00ff) | ((bits & 0x00ff_00ff) << 8);
  return ((bits >>> 16) | (bits << 16)) >>> 0;
}

/**
 * Uniform phases in [0, 1) of 53 bits, each a pure function of (seed, role, epoch, recording, slot of the recording):
 * Threefry-2x32 over (recording, slot) under a key that is drawn for the epoch. Nothing but the key of the epoch asked
 * for last is kept.
 */
export class JitterPhases {
  readonly #random: KeyedRandom;
  #epoch = Number.NaN;
  #key0 = 0;
  #key1 = 0;

  /** @throws {RangeError} when the seed is no safe integer. */
  constructor(seed: number, role: string) {
    this.#random = keyedRandom(seed, `${role}/jitter`);
  }

  /** @param slot of the recording, below 2^32, as the recording is */
  at(epoch: number, recording: number, slot: number): number {
    if (epoch !== this.#epoch) {
      const lane = Math.floor(epoch / WORD) * 2;
      this.#key0 = this.#random(epoch % WORD, lane);
      this.#key1 = this.#random(epoch % WORD, lane + 1);
      this.#epoch = epoch;
    }
    const [high, low] = threefry2x32(recording, slot, this.#key0, this.#key1);
    return (high * 2 ** 21 + (low >>> 11)) / 2 ** 53;
  }
}
