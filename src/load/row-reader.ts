import { IdIndex } from '../shard/id-index.js';
import type { Tokenizer } from '../text/types.js';
import type { RowFilters } from './item-table.js';
import type { ManifestReading } from './leaf-parts.js';
import type { LossCounter } from './loss-counter.js';
import { RowRefusal, type PlainRow } from './manifest-row.js';
import { RowFilter } from './row-filter.js';
import {
  countCharacters,
  isSkipped,
  readAudioPath,
  readDurationMicros,
  readOffsetMicros,
  readText,
} from './row-facts.js';

/** What a table holds of a row. */
export interface AcceptedRow {
  part: number;
  durationMicros: number;
  tokenCount: number;
}

export interface RowReaderOptions {
  filters: RowFilters;
  needsTokens: boolean;
  tokenizer: Tokenizer | undefined;
  textField: string;
}

/** Decides about rows, one after the other. */
export class RowReader {
  readonly #filter: RowFilter;
  readonly #keep: RowFilters['keep'];
  readonly #losses: LossCounter;
  readonly #tokenizer: Tokenizer | undefined;
  readonly #textField: string;
  readonly #countsTokens: boolean;
  readonly #countsCharacters: boolean;

  constructor(options: RowReaderOptions, losses: LossCounter) {
    this.#filter = new RowFilter(options.filters);
    this.#keep = options.filters.keep;
    this.#losses = losses;
    this.#tokenizer = options.tokenizer;
    this.#textField = options.textField;
    this.#countsTokens = options.tokenizer !== undefined && (options.needsTokens || this.#filter.needsTokens);
    this.#countsCharacters = this.#filter.needsCharacters || (options.needsTokens && options.tokenizer === undefined);
  }

  /**
   * The row as an item, or undefined where it is left out, which is counted. Answers at once but for rows whose tokens are counted.
   *
   * @param namedMembers of the manifest so far; undefined where rows name files, which may be named again
   */
  accept(
    row: PlainRow,
    lineNumber: number,
    reading: ManifestReading,
    tags: Readonly<Record<string, unknown>> | undefined,
    namedMembers: IdIndex | undefined,
  ): AcceptedRow | undefined | Promise<AcceptedRow | undefined> {
    const refuse = (refusal: RowRefusal, micros = 0): undefined => {
      this.#losses.refuse(reading.manifestPath, lineNumber, refusal, micros);
    };
    const duration = readDurationMicros(row);
    if (isSkipped(row)) return this.#leave('skipme', typeof duration === 'number' ? duration : 0);
    const audioPath = readAudioPath(row);
    if (audioPath instanceof RowRefusal) return refuse(audioPath, typeof duration === 'number' ? duration : 0);
    if (duration instanceof RowRefusal) return refuse(duration);
    const offset = readOffsetMicros(row);
    if (offset instanceof RowRefusal) return refuse(offset, duration);
    const part = partOf(row, reading);
    if (part instanceof RowRefusal) return refuse(part, duration);
    if (namedMembers !== undefined) {
      const earlier = firstLineOf(namedMembers, part, audioPath, offset, duration, lineNumber);
      if (earlier !== undefined) {
        return refuse(new RowRefusal('duplicate_row', `the row names the same audio as line ${earlier}`), duration);
      }
    }
    const broken = this.#filter.breaksDuration(duration);
    if (broken !== undefined) return this.#leave(broken, duration);
    const text = readText(row, this.#textField);
    if (text instanceof RowRefusal) return refuse(text, duration);
    const characters = this.#countsCharacters ? countCharacters(text) : 0;
    if (!this.#countsTokens) return this.#finish(row, part, duration, characters, 0, tags);
    return this.#countTokens(text).then((tokens) => this.#finish(row, part, duration, characters, tokens, tags));
  }

  async #countTokens(text: string): Promise<number> {
    const tokens = await this.#tokenizer?.encode(text);
    return tokens?.length ?? 0;
  }

  #finish(
    row: PlainRow,
    part: number,
    durationMicros: number,
    characters: number,
    tokens: number,
    tags: Readonly<Record<string, unknown>> | undefined,
  ): AcceptedRow | undefined {
    const broken = this.#filter.breaksText({ durationMicros, characters, tokens });
    if (broken !== undefined) return this.#leave(broken, durationMicros);
    const keep = this.#keep;
    if (keep !== undefined && !keep(addTags(row, tags))) return this.#leave('filtered', durationMicros);
    return { part, durationMicros, tokenCount: this.#countsTokens ? tokens : characters };
  }

  #leave(reason: string, micros: number): undefined {
    this.#losses.count(reason, micros);
  }
}

/** The row with the fields of its source that it has not itself. */
export function addTags(row: PlainRow, tags: Readonly<Record<string, unknown>> | undefined): PlainRow {
  if (tags === undefined) return row;
  const missing = Object.entries(tags).filter(([name]) => !Object.hasOwn(row, name));
  return missing.length === 0 ? row : { ...row, ...Object.fromEntries(missing) };
}

function partOf(row: PlainRow, { parts }: ManifestReading): number | RowRefusal {
  if (typeof parts === 'number') return parts;
  const shardId = row['shard_id'];
  if (typeof shardId !== 'number' || !Number.isSafeInteger(shardId)) {
    const hint = 'the manifest is that of several tars; name one manifest for each tar instead';
    return new RowRefusal('bad_shard_id', 'the row has no "shard_id" that says which tar is meant', hint);
  }
  const part = parts.get(shardId);
  if (part !== undefined) return part;
  return new RowRefusal('bad_shard_id', `"shard_id" is ${shardId}, and no tar of the source has that number`);
}

/** The line of an earlier row of the same audio: one member as a whole, or one span of it. */
function firstLineOf(
  named: IdIndex,
  part: number,
  name: string,
  offset: number | undefined,
  duration: number,
  lineNumber: number,
): number | undefined {
  const before = named.count;
  const span = offset === undefined ? '' : `${offset} ${duration}`;
  const first = named.firstShardOf(`${part} ${span}/${name}`, lineNumber);
  return named.count === before ? first : undefined;
}
