import { statSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../errors.js';

/** Where a corrected copy goes. */
export interface CopyPlace {
  copy: string;
  /** False where the name is the original's, in another folder. */
  isNamedByUser: boolean;
}

/** The name of a copy of NeMo rows: not .jsonl, which NeMo takes for cuts of Lhotse, unless the user said so. */
export function nameForNemo({ copy, isNamedByUser }: CopyPlace): string {
  return isNamedByUser ? copy : copy.replace(/\.jsonl$/u, '.json');
}

/**
 * Where the corrected copy of each path goes: `out` itself for one path, a file in the folder `out` for several, and for one where `out` is a
 * folder or ends in a slash. Copies are named as their originals, without `.gz`.
 *
 * @throws UsageError where a copy would stand in the place of an original or of another copy
 */
export function placeCopies(paths: readonly string[], out: string): CopyPlace[] {
  const isFolder = paths.length > 1 || /[/\\]$/u.test(out) || statSync(out, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder !== true && out.endsWith('.gz')) {
    throw new UsageError(`Cannot write "${out}": copies are not compressed`, { hint: 'Leave .gz off.' });
  }
  const copies = isFolder === true ? paths.map((from) => path.join(out, nameOf(from))) : [out];
  const seen = new Map<string, string>();
  for (const [index, copy] of copies.entries()) {
    const from = paths[index] ?? '';
    // Copies of .jsonl may become .json.
    const other = seen.get(copy.replace(/\.jsonl$/u, '.json'));
    if (other !== undefined) {
      throw new UsageError(`The copies of "${other}" and "${from}" would both be "${copy}"`, {
        hint: 'Check them one at a time.',
      });
    }
    seen.set(copy.replace(/\.jsonl$/u, '.json'), from);
    const original = paths.find((candidate) => isSame(candidate, copy));
    if (original !== undefined) {
      throw new UsageError(`The corrected copy would take the place of its input "${original}"`, {
        hint: 'Give another --fix path; inputs are never changed.',
      });
    }
  }
  return copies.map((copy) => ({ copy, isNamedByUser: isFolder !== true }));
}

function nameOf(from: string): string {
  return path.basename(from).replace(/\.gz$/u, '');
}

function isSame(a: string, b: string): boolean {
  if (path.resolve(a) === path.resolve(b)) return true;
  const first = statSync(a, { throwIfNoEntry: false });
  const second = statSync(b, { throwIfNoEntry: false });
  return first !== undefined && second !== undefined && first.ino === second.ino && first.dev === second.dev;
}
