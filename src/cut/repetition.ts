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
  /** Where a frequent k-gram starts, and the number of its group: all positions of one k-gram are a group. */
  const positions = new Uint32Array(windows);
  const groups = new Uint32Array(windows);
  for (let at = 0; at < windows; at += 1) positions[at] = at;
  let length = windows;
  let counts: number[] = [];
  for (let k = 0; k < n && length > 0; k += 1) {
    counts = [];
    const groupsByKey = new Map<number, number>();
    for (let at = 0; at < length; at += 1) {
      // Exact: there are fewer than 2^21 groups in any text that fits memory, and ids are below 2^32.
      const key = groups[at]! * 2 ** 32 + tokens[positions[at]! + k]!;
      let group = groupsByKey.get(key);
      if (group === undefined) {
        group = counts.length;
        groupsByKey.set(key, group);
        counts.push(0);
      }
      groups[at] = group;
      counts[group]! += 1;
    }
    let kept = 0;
    for (let at = 0; at < length; at += 1) {
      const group = groups[at]!;
      if (counts[group]! <= maxCount) continue;
      positions[kept] = positions[at]!;
      groups[kept] = group;
      kept += 1;
    }
    length = kept;
  }
  const found = new Map<number, RepeatedNgram>();
  for (let at = 0; at < length; at += 1) {
    const group = groups[at]!;
    if (!found.has(group)) found.set(group, { position: positions[at]!, count: counts[group]! });
  }
  return [...found.values()];
}
