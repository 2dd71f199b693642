import { countWords } from '../count-words.js';
import { InputError, UsageError } from '../errors.js';
import { BEYOND_BUCKETS, OVERSIZED, type Buckets } from './buckets.js';
import type { ItemTable } from './item-table.js';
import type { PlanSettings } from './plan-settings.js';
import type { PlanWarning } from './plan-warnings.js';
import { atSpeed } from './speed-of.js';

/** Items, and hours of them, by reason. */
export type ItemLosses = Record<string, { items: number; hours: number }>;

/** What is needed to look at items. */
export interface ItemContext {
  table: ItemTable;
  settings: PlanSettings;
  buckets: Buckets;
}

/** What each item is to every epoch. */
export interface CheckedItems {
  losses: ItemLosses;
  /** Of each row, its bucket, or what leaves it out; undefined where speed changes that from draw to draw. */
  rowBuckets: Uint16Array | undefined;
}

/**
 * Looks at each item once, before any epoch: which bucket it goes to, and which items no epoch can have, whatever their speed.
 *
 * @throws {InputError} when a row alone is above a limit, at the lowest speed, and `oversized` is `error`.
 * @throws {UsageError} when an excerpt is.
 */
export function checkItems(context: ItemContext, warnings: PlanWarning[]): CheckedItems {
  const { table, settings } = context;
  const { speeds } = settings;
  const losses: ItemLosses = {};
  const rowBuckets = speeds.length > 1 ? undefined : new Uint16Array(table.rowCount);
  // A refusal must not wait for an epoch that draws the lowest speed; a loss is one if no speed helps.
  const isRefused = settings.oversized === 'error';
  const speed = speeds.length === 0 ? 1 : isRefused ? Math.min(...speeds) : Math.max(...speeds);
  for (let row = 0; row < table.rowCount; row += 1) {
    const micros = table.durationsMicros[row]!;
    const bucket = classifyItem(row, atSpeed(micros, speed), context);
    if (rowBuckets !== undefined) rowBuckets[row] = bucket;
    if (bucket < OVERSIZED) continue;
    if (bucket === OVERSIZED && isRefused) throw oversizedRow(row, context);
    addLoss(losses, reasonOf(bucket), 1, micros);
  }
  for (const { name, excerpts, firstItem, endItem } of table.leaves) {
    if (excerpts === undefined || endItem === firstItem) continue;
    const bucket = classifyItem(firstItem, atSpeed(excerpts.durationMicros, speed), context);
    if (bucket < OVERSIZED) continue;
    if (bucket === OVERSIZED && isRefused) {
      const seconds = excerpts.durationMicros / 1e6;
      throw new UsageError(`Excerpts of "${name}" are ${seconds} s long: one alone is above a limit of batches`, {
        hint: OVERSIZED_HINT,
      });
    }
    addLoss(losses, reasonOf(bucket), endItem - firstItem, excerpts.durationMicros);
  }
  warnAbout(losses, warnings);
  return { losses, rowBuckets };
}

/** The bucket of an item that is so long, `BEYOND_BUCKETS`, or `OVERSIZED` where it is alone above a limit and that counts. */
export function classifyItem(item: number, micros: number, { buckets, settings }: ItemContext): number {
  const bucket = buckets.bucketOf(micros, item);
  if (bucket === BEYOND_BUCKETS || settings.oversized === 'alone') return bucket;
  return buckets.limitOf(bucket).fits(1, micros) ? bucket : OVERSIZED;
}

function reasonOf(bucket: number): 'oversized' | 'beyond_buckets' {
  return bucket === OVERSIZED ? 'oversized' : 'beyond_buckets';
}

const OVERSIZED_HINT = 'Raise the limit, filter by duration, or let oversized be "drop" or "alone".';

function oversizedRow(row: number, { table, settings }: ItemContext): InputError {
  const seconds = table.durationsMicros[row]! / 1e6;
  const slowest = Math.min(1, ...settings.speeds);
  const slowed = slowest < 1 ? `, and longer at speed ${slowest}` : '';
  const path = table.parts[table.rowParts[row]!]?.manifestPath;
  const line = table.lineNumbers[row];
  return new InputError(
    `The row of line ${line} of "${path}" is ${seconds} s long${slowed}: alone it is above a limit of batches`,
    { hint: OVERSIZED_HINT, path, line },
  );
}

/** Adds items to those that are lost for a reason. */
export function addLoss(losses: ItemLosses, reason: string, items: number, micros: number): void {
  const loss = (losses[reason] ??= { items: 0, hours: 0 });
  loss.items += items;
  loss.hours += (items * micros) / 3.6e9;
}

function warnAbout({ oversized, beyond_buckets: beyond }: ItemLosses, warnings: PlanWarning[]): void {
  if (oversized !== undefined) {
    warnings.push({
      code: 'items_lost',
      message: `${describeLoss(oversized)} alone above a limit: no batch has them`,
      hint: 'Raise the limit, or let oversized be "alone".',
    });
  }
  if (beyond !== undefined) {
    warnings.push({
      code: 'items_lost',
      message: `${describeLoss(beyond)} beyond the buckets: no batch has them`,
      hint: 'Add a bin that holds them, or let strict2d be false where they have too many tokens for their duration.',
    });
  }
}

function describeLoss({ items, hours }: { items: number; hours: number }): string {
  return `${countWords(items, 'item')} of ${hours.toFixed(3)} h ${items === 1 ? 'is' : 'are'}`;
}
