import type { BucketBins } from './batch-options.js';
import type { ItemTable } from './item-table.js';

/** What the rows of a bucket are. */
export interface BucketHolding {
  /** Above, and up to and with. */
  fromSeconds: number;
  toSeconds: number;
  toTokens: number | undefined;
  rows: number;
  hours: number;
  /** Of the hours of all buckets. */
  hoursShare: number;
  /** Sum over its rows; undefined where they are not counted. */
  tokens: number | undefined;
}

/** What buckets hold, and the rows that fit none. */
export interface Holdings {
  buckets: BucketHolding[];
  beyondRows: number;
  beyondHours: number;
}

const MICROS_AN_HOUR = 3.6e9;

/**
 * Sorts rows into buckets: bins[i - 1] < d <= bins[i], as NeMo does. In two dimensions a row has to fit the tokens of the first bucket of its
 * duration, else it is beyond.
 *
 * @param bins upper bounds that ascend
 * @throws {RangeError} when bins of two dimensions meet a table without tokens.
 */
export function measureHoldings(table: ItemTable, bins: BucketBins): Holdings {
  const { rowCount, durationsMicros, tokenCounts } = table;
  const bounds = bins.map((bin): readonly [micros: number, tokens: number] =>
    typeof bin === 'number' ? [Math.round(bin * 1e6), Infinity] : [Math.round(bin[0] * 1e6), bin[1]],
  );
  const isTwoDimensional = bins.some((bin) => typeof bin !== 'number');
  if (isTwoDimensional && tokenCounts === undefined) throw new RangeError('The table has no tokens to sort rows by');
  const rows = new Float64Array(bins.length + 1);
  const micros = new Float64Array(bins.length + 1);
  const tokens = new Float64Array(bins.length + 1);
  for (let row = 0; row < rowCount; row += 1) {
    const bucket = bucketOf(bounds, durationsMicros[row]!, isTwoDimensional ? tokenCounts![row]! : 0);
    rows[bucket]! += 1;
    micros[bucket]! += durationsMicros[row]!;
    tokens[bucket]! += tokenCounts?.[row] ?? 0;
  }
  const held = micros.subarray(0, bins.length).reduce((sum, value) => sum + value, 0);
  let from = 0;
  const buckets = bounds.map(([bound, toTokens], at): BucketHolding => {
    if (at > 0 && bounds[at - 1]![0] < bound) from = bounds[at - 1]![0];
    return {
      fromSeconds: from / 1e6,
      toSeconds: bound / 1e6,
      toTokens: isTwoDimensional ? toTokens : undefined,
      rows: rows[at]!,
      hours: micros[at]! / MICROS_AN_HOUR,
      hoursShare: held > 0 ? micros[at]! / held : 0,
      tokens: tokenCounts === undefined ? undefined : tokens[at]!,
    };
  });
  return { buckets, beyondRows: rows[bins.length]!, beyondHours: micros[bins.length]! / MICROS_AN_HOUR };
}

/** The number of bounds where none is large enough. */
function bucketOf(bounds: readonly (readonly [number, number])[], micros: number, tokens: number): number {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bounds[middle]![0] < micros) low = middle + 1;
    else high = middle;
  }
  const duration = bounds[low]?.[0];
  for (let at = low; at < bounds.length && bounds[at]![0] === duration; at += 1) {
    if (tokens <= bounds[at]![1]) return at;
  }
  return bounds.length;
}
