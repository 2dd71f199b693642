import { countWords } from '../count-words.js';

/** What is said of samples that are NaN or infinite, where audio is encoded. */
export function describeInvalid(count: number): string {
  return `${countWords(count, 'sample')} ${count === 1 ? 'is no number' : 'are not numbers'} and became silence`;
}
