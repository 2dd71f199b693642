import { hash } from 'node:crypto';

/**
 * A uniform number of 32 bits for an index; `lane` tells apart several numbers for one index. Both are whole numbers below 2^32.
 */
export type KeyedRandom = (index: number, lane?: number) => number;

const WORD = 2 ** 32;
const PARITY = 0x1bd11bda;

/**
 * Numbers that depend on seed, role and index alone: Threefry-2x32 of 20 rounds over (index, lane), with a key that is hashed from seed and role.
 *
 * @param role what the numbers are for: streams of different roles have nothing to do with each other
 * @throws {RangeError} when the seed is no safe integer.
 */
export function keyedRandom(seed: number, role: string): KeyedRandom {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`The seed must be a whole number, not ${seed}`);
  const digest = hash('sha256', JSON.stringify([seed, role]), 'buffer');
  const key0 = digest.readUInt32LE(0);
  const key1 = digest.readUInt32LE(4);
  return (index, lane = 0) => threefry2x32(index, lane, key0, key1)[0];
}

/**
 * The numbers 0 to `count` - 1 in an order that seed and role decide, each order as likely as any other: Fisher and Yates's shuffle, with
 * numbers of `keyedRandom` that are drawn again where a remainder would favour some.
 *
 * @throws {RangeError} when the count is no whole number below 2^32.
 */
export function shuffledIndices(count: number, seed: number, role: string): Uint32Array {
  if (!(Number.isSafeInteger(count) && count >= 0 && count < WORD)) {
    throw new RangeError(`Cannot shuffle ${count} items: it must be a whole number below 2^32`);
  }
  const random = keyedRandom(seed, role);
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last -= 1) {
    const other = below(last + 1, last, random);
    const kept = order[last] ?? 0;
    order[last] = order[other] ?? 0;
    order[other] = kept;
  }
  return order;
}

/** A uniform number below `bound`. */
function below(bound: number, index: number, random: KeyedRandom): number {
  const limit = WORD - (WORD % bound);
  for (let lane = 0; ; lane += 1) {
    const drawn = random(index, lane);
    if (drawn < limit) return drawn % bound;
  }
}

/**
 * Threefry-2x32 of 20 rounds.
 *
 * Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 4.2, and its known-answer vectors.
 */
export function threefry2x32(counter0: number, counter1: number, key0: number, key1: number): [number, number] {
  const keys = [key0 | 0, key1 | 0, PARITY ^ key0 ^ key1] as const;
  let x0 = (counter0 + key0) | 0;
  let x1 = (counter1 + key1) | 0;
  for (let group = 0; group < 5; group += 1) {
    const isEven = group % 2 === 0;
    x0 = (x0 + x1) | 0;
    x1 = rotate(x1, isEven ? 13 : 17) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = rotate(x1, isEven ? 15 : 29) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = rotate(x1, isEven ? 26 : 16) ^ x0;
    x0 = (x0 + x1) | 0;
    x1 = rotate(x1, isEven ? 6 : 24) ^ x0;
    x0 = (x0 + (keys[(group + 1) % 3] ?? 0)) | 0;
    x1 = (x1 + (keys[(group + 2) % 3] ?? 0) + group + 1) | 0;
  }
  return [x0 >>> 0, x1 >>> 0];
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
