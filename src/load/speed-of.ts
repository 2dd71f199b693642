import { keyedRandom } from '../random/keyed.js';
import type { KeyedRandom } from '../random/keyed.js';

/** The speed of an item in one of its leaf's passes: faster is shorter. */
export type SpeedOf = (item: number, pass: number) => number;

const WORD = 2 ** 32;
/** Passes whose keys are remembered: an epoch of many leaves takes few at a time. */
const KEPT_PASSES = 64;

/**
 * Draws the speed of each item from a list, each as likely as any other: a pure function of seed, pass and item. All copies of an item have the
 * same speed, so that they are equally long. The plan and the loader draw the same.
 *
 * @param speeds factors above 0; an empty list, or none, gives 1 for every item
 * @throws {RangeError} when a factor is not above 0, or the seed is no safe integer.
 */
export function createSpeedOf(seed: number, speeds: readonly number[] | undefined): SpeedOf {
  if (speeds === undefined || speeds.length === 0) return () => 1;
  for (const speed of speeds) {
    if (!(Number.isFinite(speed) && speed > 0)) throw new RangeError(`A speed must be a number above 0, not ${speed}`);
  }
  const randomOf = passRandom(seed, 'load/speed');
  const [first = 1] = speeds;
  if (speeds.length === 1) return () => first;
  // 2^32 / n numbers fall to each: what a remainder favours is below n / 2^32.
  return (item, pass) => speeds[Math.floor((randomOf(pass)(item % WORD, high(item)) / WORD) * speeds.length)] ?? first;
}

/** Whole microseconds, rounded up, of audio that is played so much faster. */
export function atSpeed(durationMicros: number, speed: number): number {
  return speed === 1 ? durationMicros : Math.ceil(durationMicros / speed);
}

/** The numbers of each pass, for one role; the lane is free where items are below 2^32. */
export function passRandom(seed: number, role: string): (pass: number) => KeyedRandom {
  const known = new Map<number, KeyedRandom>();
  let lastPass: number | undefined;
  let last: KeyedRandom | undefined;
  return (pass) => {
    if (pass === lastPass && last !== undefined) return last;
    let random = known.get(pass);
    if (random === undefined) {
      if (known.size >= KEPT_PASSES) known.clear();
      random = keyedRandom(seed, `${role}/${pass}`);
      known.set(pass, random);
    }
    lastPass = pass;
    last = random;
    return random;
  };
}

/** The word of an item's number above the lowest. */
function high(item: number): number {
  return Math.floor(item / WORD);
}
