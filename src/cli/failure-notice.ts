import { listCountWords } from '../count-words.js';

/** Why a command that did its work ends with 1. */
export interface FailureNotice {
  /** What failed, by what it is called. */
  failed: readonly (readonly [count: number, word: string])[];
  maxFailures: { count: number } | { percent: number };
  /** Whether the command has `--on-error`. */
  hasOnError: boolean;
  /** The list of failures, where one is written. */
  file: string | undefined;
}

/** Says on one line why the exit code is 1, and what would have made it 0. */
export function formatFailureNotice({ failed, maxFailures, hasOnError, file }: FailureNotice): string {
  const limit = 'count' in maxFailures ? String(maxFailures.count) : `${maxFailures.percent}%`;
  const other = hasOnError ? ', or 0 with --on-error skip' : '';
  const place = file === undefined ? '' : `; see "${file}"`;
  return `error: ${listCountWords(failed)} failed, more than --max-failures ${limit} allows: the exit code is 1${other}${place}`;
}
