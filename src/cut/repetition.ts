/** An n-gram that occurs too often. */
export interface RepeatedNgram {
  /** Where it stands first, in tokens. */
  position: number;
  count: number;
}

/**
 * The n-grams that occur more than `maxCount` times, overlapping occurrences counted, in order of their first occurrence.
 *
 * Grows prefixes: an n-gram can only be that frequent if its first k tokens are, so positions whose k-gram is not are dropped before
 * k + 1 is looked at. In ordinary text few are left after two or three steps.
 */
export function findRepeatedNgrams(tokens: ArrayLike<number>, n: number, maxCount: number): RepeatedNgram[] {
  const windows = n < 1 ? 0 : tokens.length - n + 1;
  if (windows <= maxCount) return [];
  let positions = Uint32Array.from({ length: windows }, (_, position) => position);
  /** Which k-gram stands at each of `positions`: the number of its group. */
  let groups = new Uint32Array(windows);
  let counts: number[] = [];
  for (let k = 0; k < n && positions.length > maxCount; k += 1) {
    counts = [];
    const groupsByKey = new Map<number, number>();
    for (let at = 0; at < positions.length; at += 1) {
      // Groups are fewer than 2^21 and ids below 2^32 in any text that fits memory.
      const key = groups[at]! * 2 ** 32 + tokens[positions[at]! + k]!;
      let group = groupsByKey.get(key);
      if (group === undefined) {
        group = groupsByKey.size;
        groupsByKey.set(key, group);
        counts.push(0);
      }
      groups[at] = group;
      counts[group]! += 1;
    }
    const isFrequent = (_: number, at: number): boolean => counts[groups[at]!]! > maxCount;
    const keptPositions = positions.filter(isFrequent);
    groups = groups.filter(isFrequent);
    positions = keptPositions;
  }
  const first = new Map<number, RepeatedNgram>();
  for (const [at, position] of positions.entries()) {
    const group = groups[at]!;
    if (!first.has(group)) first.set(group, { position, count: counts[group]! });
  }
  return [...first.values()];
}
