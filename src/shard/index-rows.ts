import type { IndexedDataset, IndexedShard } from './index-types.js';
import type { IndexWarnings } from './index-warnings.js';
import { packedRows, type PackedProblem, type PackedRow, type PackedShard } from './packed-rows.js';

/** Shards that all have rows, or undefined where one has none. */
export function shardsWithRows({ shards }: IndexedDataset): PackedShard[] | undefined {
  const found = shards.map(withRows);
  return found.every((shard) => shard !== undefined) ? found : undefined;
}

/** A shard as the reader of its rows wants it; undefined where it has none. */
export function withRows({ tarPath, manifestPath, shardId }: IndexedShard): PackedShard | undefined {
  if (manifestPath === undefined) return undefined;
  return { tarPath, manifestPath, ...(shardId === undefined ? {} : { shardId }) };
}

/** The rows of shards with their members, shard by shard; those that have none are warned of. */
export class RowsByShard {
  readonly #rows: AsyncGenerator<PackedRow>;
  /** The first row of a later shard. */
  #held: PackedRow | undefined;

  constructor(shards: readonly PackedShard[], warnings: IndexWarnings, signal: AbortSignal | undefined) {
    const onProblem = ({ reason, file, line }: PackedProblem): void => {
      const state = STATES[reason];
      if (state !== undefined) warnings.add(state, `"${file}"${line === undefined ? '' : ` line ${line}`}`, CHECK_HINT);
    };
    this.#rows = packedRows(shards, { signal, onProblem });
  }

  /** The rows of a shard, by its place among those that were given; asked for in that order. */
  async *of(shard: number): AsyncGenerator<PackedRow> {
    for (;;) {
      const row = this.#held ?? (await this.#next());
      this.#held = row;
      if (row === undefined || row.input !== shard) return;
      this.#held = undefined;
      yield row;
    }
  }

  async close(): Promise<void> {
    await this.#rows.return(undefined);
  }

  async #next(): Promise<PackedRow | undefined> {
    const step = await this.#rows.next();
    return step.done === true ? undefined : step.value;
  }
}

const CHECK_HINT = '"cutroom check" lists all of them.';

/** What is left out of an index of rows. A member that is there twice is in the tars' own indexes, and told there. */
const STATES: Readonly<Record<PackedProblem['reason'], string | undefined>> = {
  unreadable_tar: 'a tar cannot be read to its end',
  unfinished_tar: 'the end of a tar is missing',
  duplicate_member: undefined,
  unreadable_manifest: 'a manifest cannot be read to its end',
  invalid_json: 'a line that is no row is left out',
  invalid_utf8: 'a line that is no row is left out',
  not_an_object: 'a line that is no row is left out',
  bad_shard_id: 'a row without the number of its shard is left out',
  missing_audio_filepath: 'a row that names no member is left out',
  row_without_member: 'a row whose member is not there is left out',
  duplicate_row: 'a row that says the same as an earlier one is left out',
  member_without_row: 'a member without a row is left out',
};
