import { countAnd, countWords } from '../count-words.js';
import type { DatasetTotals } from './dataset-shards.js';

/** What is worth knowing of the tars of a dataset and no problem. */
export function tarNotes({ extended, shards, undecoded }: DatasetTotals): string[] {
  const notes: string[] = [];
  if (undecoded > 0) {
    notes.push(
      `${countWords(undecoded, 'member')} of compressed tars ${undecoded === 1 ? 'was' : 'were'} not decoded: decompress them first`,
    );
  }
  if (extended > 0) {
    notes.push(
      `${countAnd(extended, 'member', 'has|have')} pax or GNU headers, which DALI cannot read; "tar --format=ustar" packs without`,
    );
  }
  const rows = shards.map((shard) => shard.rows);
  const most = rows.reduce((a, b) => Math.max(a, b), 0);
  const least = rows.reduce((a, b) => Math.min(a, b), Infinity);
  if (rows.length > 1 && most !== least) {
    notes.push(`shards hold ${least.toLocaleString('en-US')} to ${countWords(most, 'sample')}`);
  }
  return notes;
}
