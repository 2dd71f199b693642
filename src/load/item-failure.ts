import type { ItemFailure } from './batch.js';
import type { DescribedItem } from './described-item.js';

/** The failure of an item, whose place nothing has taken yet. */
export function failureOf(
  { id, source, path, manifestPath, lineNumber }: DescribedItem,
  { reason, message, hint }: { reason: string; message: string; hint: string | undefined },
): ItemFailure {
  return { id, source, path, manifestPath, lineNumber, reason, message, hint, replacedBy: undefined };
}
