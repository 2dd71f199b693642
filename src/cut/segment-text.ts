/** What Python's `str.strip` takes off. JavaScript's `trim` differs: it leaves U+001C to U+001F and U+0085, and takes U+FEFF. */
const SPACES = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const NOT_SPACE = new RegExp(`[^${SPACES}]`);
const SPACE = new RegExp(`[${SPACES}]`);

/** A text without the whitespace at its ends. */
export function stripText(text: string): string {
  const start = text.search(NOT_SPACE);
  if (start < 0) return '';
  let end = text.length;
  while (SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/**
 * The text of a snippet: that of its segments, stripped, with one space between. A segment without text leaves two spaces between its
 * neighbours; so does the reference.
 */
export function joinTexts(segments: readonly { readonly text: string }[]): string {
  let joined = '';
  for (const [k, { text }] of segments.entries()) joined += k === 0 ? text : ` ${text}`;
  return stripText(joined);
}
