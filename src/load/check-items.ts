import { countWords } from '../count-words.js';
import { InputError, UsageError } from '../errors.js';
import { BEYOND_BUCKETS } from './buckets.js';
import type { PlanContext } from './plan-context.js';
import type { PlanWarning } from './plan-warnings.js';
import { atSpeed } from './speed-of.js';

/** Items, and hours of them, by reason. */
export type ItemLosses = Record<string, { items: number; hours: number }>;

/**
 * Looks at each item once, before any epoch: which of them no epoch can have, whatever their speed.
 *
 * @throws {InputError} when a row alone is above a limit, at the lowest speed, and `oversized` is `error`.
 * @throws {UsageError} when an excerpt is.
 */
export function checkItems(context: PlanContext, warnings: PlanWarning[]): ItemLosses {
  const { table, settings } = context;
  const losses: ItemLosses = {};
  for (let row = 0; row < table.rowCount; row += 1) {
    const micros = table.durationsMicros[row]!;
    const reason = lossOf(row, micros, context);
    if (reason === undefined) continue;
    if (reason === 'oversized' && settings.oversized === 'error') throw oversizedRow(row, context);
    addLoss(losses, reason, 1, micros);
  }
  for (const { name, excerpts, firstItem, endItem } of table.leaves) {
    if (excerpts === undefined || endItem === firstItem) continue;
    const reason = lossOf(firstItem, excerpts.durationMicros, context);
    if (reason === undefined) continue;
    if (reason === 'oversized' && settings.oversized === 'error') {
      const seconds = excerpts.durationMicros / 1e6;
      throw new UsageError(`Excerpts of "${name}" are ${seconds} s long: one alone is above a limit of batches`, {
        hint: OVERSIZED_HINT,
      });
    }
    addLoss(losses, reason, endItem - firstItem, excerpts.durationMicros);
  }
  warnAbout(losses, warnings);
  return losses;
}

const OVERSIZED_HINT = 'Raise the limit, filter by duration, or let oversized be "drop" or "alone".';

function lossOf(item: number, micros: number, context: PlanContext): 'oversized' | 'beyond_buckets' | undefined {
  const { settings, buckets } = context;
  const isRefused = settings.oversized === 'error';
  // A refusal must not wait for an epoch that draws the lowest speed; a loss is one if no speed helps.
  const slowest = Math.min(...settings.speeds);
  const fastest = Math.max(...settings.speeds);
  const [longest, shortest] =
    settings.speeds.length === 0 ? [micros, micros] : [atSpeed(micros, slowest), atSpeed(micros, fastest)];
  if (buckets.bucketOf(shortest, item) === BEYOND_BUCKETS) return 'beyond_buckets';
  if (settings.oversized === 'alone') return undefined;
  const looked = isRefused ? longest : shortest;
  const bucket = buckets.bucketOf(looked, item);
  return bucket === BEYOND_BUCKETS || buckets.limitOf(bucket).fits(1, looked) ? undefined : 'oversized';
}

function oversizedRow(row: number, { table, settings }: PlanContext): InputError {
  const seconds = table.durationsMicros[row]! / 1e6;
  const slowest = Math.min(1, ...settings.speeds);
  const slowed = slowest < 1 ? `, and longer at speed ${slowest}` : '';
  return new InputError(`Item ${row} is ${seconds} s long${slowed}: alone it is above a limit of batches`, {
    hint: OVERSIZED_HINT,
    path: table.parts[table.rowParts[row]!]?.manifestPath,
    line: table.lineNumbers[row],
  });
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
