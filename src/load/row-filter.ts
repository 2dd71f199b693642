import { UsageError } from '../errors.js';
import type { RowFilters } from './item-table.js';

/** What filters look at. */
export interface FilteredRow {
  durationMicros: number;
  /** 0 where nothing asked for it. */
  characters: number;
  /** 0 where nothing asked for it. */
  tokens: number;
}

/** Why a row is left out; named in reports. */
export type FilterReason =
  | 'too_short'
  | 'too_long'
  | 'too_few_characters_per_second'
  | 'too_many_characters_per_second'
  | 'too_few_tokens_per_second'
  | 'too_many_tokens_per_second'
  | 'too_few_tokens'
  | 'too_many_tokens';

interface Bound {
  reason: FilterReason;
  isBroken: (row: FilteredRow, seconds: number) => boolean;
}

/** Filters without the predicate, in a fixed order: a row that breaks several counts for the first. */
export class RowFilter {
  readonly needsCharacters: boolean;
  readonly needsTokens: boolean;
  readonly #minMicros: number;
  readonly #maxMicros: number;
  readonly #bounds: readonly Bound[];

  /** @throws {UsageError} for bounds that are no numbers, or leave nothing. */
  constructor(filters: RowFilters) {
    const bound = (name: NumberFilter): number | undefined => boundOf(filters, name);
    for (const [low, high] of PAIRS) {
      if (!((bound(low) ?? 0) > (bound(high) ?? Number.POSITIVE_INFINITY))) continue;
      throw new UsageError(`No row is left by ${low} = ${filters[low]} and ${high} = ${filters[high]}`);
    }
    this.#minMicros = (bound('minDurationSeconds') ?? 0) * 1e6;
    this.#maxMicros = (bound('maxDurationSeconds') ?? Number.POSITIVE_INFINITY) * 1e6;
    this.needsCharacters =
      bound('minCharactersPerSecond') !== undefined || bound('maxCharactersPerSecond') !== undefined;
    this.needsTokens = TOKEN_FILTERS.some((name) => bound(name) !== undefined);
    this.#bounds = [
      under(
        'too_few_characters_per_second',
        bound('minCharactersPerSecond'),
        (row, seconds) => row.characters / seconds,
      ),
      over(
        'too_many_characters_per_second',
        bound('maxCharactersPerSecond'),
        (row, seconds) => row.characters / seconds,
      ),
      under('too_few_tokens_per_second', bound('minTokensPerSecond'), (row, seconds) => row.tokens / seconds),
      over('too_many_tokens_per_second', bound('maxTokensPerSecond'), (row, seconds) => row.tokens / seconds),
      under('too_few_tokens', bound('minTokens'), (row) => row.tokens),
      over('too_many_tokens', bound('maxTokens'), (row) => row.tokens),
    ].flatMap((entry) => entry ?? []);
  }

  /** By its duration alone: asked before the text is counted. */
  breaksDuration(durationMicros: number): FilterReason | undefined {
    // Bounds are compared in whole microseconds, as rows are: 0.1 is 0.1.
    if (durationMicros < Math.round(this.#minMicros)) return 'too_short';
    return durationMicros > Math.round(this.#maxMicros) ? 'too_long' : undefined;
  }

  /** By its text. */
  breaksText(row: FilteredRow): FilterReason | undefined {
    if (this.#bounds.length === 0) return undefined;
    const seconds = row.durationMicros / 1e6;
    return this.#bounds.find(({ isBroken }) => isBroken(row, seconds))?.reason;
  }
}

type NumberFilter = Exclude<keyof RowFilters, 'keep'>;

const PAIRS: readonly (readonly [NumberFilter, NumberFilter])[] = [
  ['minDurationSeconds', 'maxDurationSeconds'],
  ['minCharactersPerSecond', 'maxCharactersPerSecond'],
  ['minTokensPerSecond', 'maxTokensPerSecond'],
  ['minTokens', 'maxTokens'],
];

const TOKEN_FILTERS: readonly NumberFilter[] = [
  ...(['minTokensPerSecond', 'maxTokensPerSecond', 'minTokens', 'maxTokens'] as const),
];

/** Undefined where a filter is not set, or keeps all rows. */
function boundOf(filters: RowFilters, name: NumberFilter): number | undefined {
  const value = filters[name];
  if (value === undefined || value === (name.startsWith('max') ? Number.POSITIVE_INFINITY : 0)) return undefined;
  if (typeof value === 'number' && value >= 0) return value;
  throw new UsageError(`The filter ${name} is ${value}: it must be a number from 0 on`);
}

type Measure = (row: FilteredRow, seconds: number) => number;

function under(reason: FilterReason, bound: number | undefined, measure: Measure): Bound | undefined {
  return bound === undefined ? undefined : { reason, isBroken: (row, seconds) => measure(row, seconds) < bound };
}

function over(reason: FilterReason, bound: number | undefined, measure: Measure): Bound | undefined {
  return bound === undefined ? undefined : { reason, isBroken: (row, seconds) => measure(row, seconds) > bound };
}
