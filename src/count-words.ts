/** A number of things in words: `1 row`, `2,000 rows`. */
export function countWords(count: number, word: string, plural = `${word}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? word : plural}`;
}

/** Of how many things, and what they do: `1 row is`, `2,000 rows are`. */
export function countAnd(count: number, word: string, verbs: 'is|are' | 'has|have' | 'was|were'): string {
  return `${countWords(count, word)} ${verbs.split('|')[count === 1 ? 0 : 1]}`;
}

/** That there are so many things: `there is 1 draw`, `there are 2,000 draws`. */
export function thereAre(count: number, word: string): string {
  return `there ${count === 1 ? 'is' : 'are'} ${countWords(count, word)}`;
}

/** Counts of several things behind each other, but those of which there are none: `1 row and 2 members`. */
export function listCountWords(counts: readonly (readonly [count: number, word: string])[]): string {
  const words = counts.filter(([count]) => count > 0).map(([count, word]) => countWords(count, word));
  return words.join(', ').replace(/, (?=[^,]*$)/u, ' and ');
}
