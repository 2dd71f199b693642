import type { ItemTable } from './item-table.js';
import type { LoaderWarning } from './loader-options.js';

/** Faulty rows of the sources, one warning for each reason: how many, and the first place. What filters leave out is no fault. */
export function describeLosses({ left }: Pick<ItemTable, 'left'>): LoaderWarning[] {
  const warnings = new Map<string, LoaderWarning>();
  for (const { path, lineNumber, reason, message, hint } of left.firstFaults) {
    if (warnings.has(reason)) continue;
    const rows = left.reasons[reason]?.rows ?? 1;
    const count = rows === 1 ? '1 row is' : `${rows.toLocaleString('en-US')} rows are`;
    const text = `${count} left out (${reason}): the first, line ${lineNumber} of "${path}": ${message}`;
    warnings.set(reason, { code: 'rows_left_out', message: text, hint });
  }
  return [...warnings.values()];
}
