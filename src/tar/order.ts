/**
 * Compares two strings by Unicode code point: the order of the members in a tar and of the rows in its manifest.
 *
 * It is the order of the strings' UTF-8 bytes and of Python's `sorted`, whatever the locale. The `<` of JavaScript differs: it compares
 * UTF-16 units, so it puts U+1F600 (units from D83D on) before U+FF5E.
 *
 * @returns a negative number, 0 or a positive number, as `Array.prototype.sort` wants it.
 */
export function compareCodePoints(a: string, b: string): number {
  const sharedLength = Math.min(a.length, b.length);
  let index = 0;
  while (index < sharedLength && a.charCodeAt(index) === b.charCodeAt(index)) index++;
  if (index === sharedLength) return a.length - b.length;
  // Where the strings differ in the second half of a surrogate pair, the code point starts one unit earlier.
  const start = index > 0 && isHighSurrogate(a.charCodeAt(index - 1)) ? index - 1 : index;
  const difference = (a.codePointAt(start) ?? 0) - (b.codePointAt(start) ?? 0);
  return difference === 0 ? (a.codePointAt(index) ?? 0) - (b.codePointAt(index) ?? 0) : difference;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
