import type { ItemFailure } from './batch.js';
import type { DescribedItem } from './described-item.js';

/** Why an item could not be read. `path` is of its audio, where only reading it tells. */
export interface FailedOutcome {
  reason: string;
  message: string;
  hint: string | undefined;
  path?: string | undefined;
}

/** The failure of an item, whose place nothing has taken yet. */
export function failureOf(
  { id, source, path, manifestPath, lineNumber }: DescribedItem,
  { reason, message, hint, ...other }: FailedOutcome,
): ItemFailure {
  return {
    id,
    source,
    path: other.path ?? path,
    manifestPath,
    lineNumber,
    reason,
    message,
    hint,
    replacedBy: undefined,
  };
}
