/**
 * What makes a name unfit for a member that every reader lists and extracts under that very name, or undefined when it is fit.
 *
 * The answer completes a sentence such as `Cannot name a member "/a.wav": it starts with a slash`.
 */
export function memberNameFault(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (name.includes('\0')) return 'it holds a NUL character';
  if (/\p{Surrogate}/u.test(name)) return 'it holds half a surrogate pair, which UTF-8 cannot express';
  if (name.startsWith('/')) return 'it starts with a slash, which extracting programs remove';
  if (name.endsWith('/')) return 'it ends in a slash, which makes it a folder';
  if (name.split('/').includes('..')) return 'it holds "..", which extracting programs refuse';
  return undefined;
}

/** The longest start of `text` that takes at most `maxBytes` bytes of UTF-8, cut between code points. */
export function truncateToBytes(text: string, maxBytes: number): string {
  let end = 0;
  let sizeBytes = 0;
  for (const character of text) {
    sizeBytes += Buffer.byteLength(character);
    if (sizeBytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
