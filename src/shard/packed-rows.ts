import { CanceledError, CutroomError, errorMessage } from '../errors.js';
import { JsonObject } from '../manifest/json-object.js';
import { parseRowLine } from '../manifest/row-line.js';
import { PackedLines, type PackedLine } from './packed-lines.js';
import { PackedMembers } from './packed-members.js';
import type { PackedProblem } from './packed-problem.js';
import type { PackedShard } from './packed-shards.js';
import { fillText } from './segment-text.js';
import { reasonOf } from './shard-problem.js';

export type { PackedProblem } from './packed-problem.js';
export { findPackedShards, type PackedShard } from './packed-shards.js';

/** One row and the place of its audio. */
export interface PackedRow {
  /** 0-based, of the shards that were given. */
  input: number;
  /** Path of the manifest. */
  file: string;
  /** 1-based. */
  line: number;
  /** As it stands in the manifest, but for a text that only its segments had: an `offset` of the row is one in the member. */
  row: JsonObject;
  /** The payload of the member, in bytes of the tar; `name` is that of the member, which the row may spell otherwise. */
  audio: { tarPath: string; offset: number; size: number; name: string };
}

export interface PackedRowsOptions {
  signal?: AbortSignal | undefined;
  /** Takes every problem: those of a tar first, then those of its rows by line, then members without rows. */
  onProblem?: ((problem: PackedProblem) => void) | undefined;
  /** Field that names the member. Default `audio_filepath`. */
  audioFilepathKey?: string | undefined;
}

/**
 * The rows of packed shards with the places of their audio: shard by shard, in the order of the manifests. Each tar is indexed once, and one
 * index is held at a time: some hundred bytes a member.
 *
 * What does not fit is a problem and costs itself only: of a torn tar all whole members are used, a member that is there twice is used once,
 * rows that say the same of one member are given out once. Rows that name different spans of one member (NeMo's `-subN`, or `offset`) are all
 * given out.
 *
 * @throws CanceledError when the signal is aborted
 */
export async function* packedRows(
  shards: readonly PackedShard[],
  options: PackedRowsOptions = {},
): AsyncGenerator<PackedRow> {
  const { signal, onProblem = () => undefined, audioFilepathKey = 'audio_filepath' } = options;
  const lines = new PackedLines(shards, onProblem);
  try {
    for (const [input, shard] of shards.entries()) {
      const found = await PackedMembers.read(shard.tarPath, signal, onProblem);
      const reader = new ShardReader(shard, found, audioFilepathKey, onProblem);
      try {
        for await (const line of lines.of(shard)) {
          signal?.throwIfAborted();
          const paired = reader.pair(line);
          if (paired !== undefined) yield { input, file: shard.manifestPath, line: line.number, ...paired };
        }
      } catch (error) {
        if (signal?.aborted === true || !(error instanceof CutroomError)) throw error;
        const message = reasonOf(errorMessage(error), shard.manifestPath);
        onProblem({ file: shard.manifestPath, reason: 'unreadable_manifest', message, hint: error.hint });
      }
      reader.finish();
    }
  } catch (error) {
    if (signal?.aborted !== true || error instanceof CutroomError) throw error;
    throw new CanceledError('The shards were not read to their end: the run was stopped', { cause: error });
  } finally {
    await lines.close();
  }
}

class ShardReader {
  readonly #shard: PackedShard;
  readonly #members: PackedMembers;
  readonly #key: string;
  readonly #onProblem: (problem: PackedProblem) => void;

  constructor(
    shard: PackedShard,
    found: PackedMembers,
    audioFilepathKey: string,
    onProblem: (problem: PackedProblem) => void,
  ) {
    this.#shard = shard;
    this.#members = found;
    this.#key = audioFilepathKey;
    this.#onProblem = onProblem;
  }

  /** The row on a line with its audio, or undefined where that is a problem. */
  pair(line: PackedLine): Pick<PackedRow, 'row' | 'audio'> | undefined {
    const row = parseRowLine(line);
    if (!(row instanceof JsonObject)) return this.#note(line, row.reason, row.message, row.hint);
    const name = row.value(this.#key);
    if (typeof name !== 'string' || name === '') {
      return this.#note(line, 'missing_audio_filepath', `the row has no "${this.#key}" that names a member`);
    }
    const { tarPath } = this.#shard;
    const member = this.#members.find(name);
    if (member === undefined) {
      const state = this.#members.isWhole ? 'has no member' : 'cannot be read as far as the member';
      return this.#note(line, 'row_without_member', `"${tarPath}" ${state} ${JSON.stringify(name)}`);
    }
    const earlier = this.#members.use(member.index, line.number, spanOf(row, name, member.name));
    if (earlier !== undefined) {
      return this.#note(line, 'duplicate_row', `the row names the same audio as line ${earlier}`);
    }
    fillText(row);
    const { offset, size } = member;
    return { row, audio: { tarPath, offset, size, name: member.name } };
  }

  /** Tells of members without a row. */
  finish(): void {
    const { tarPath: file, manifestPath } = this.#shard;
    for (const name of this.#members.unusedNames()) {
      const message = `the member ${JSON.stringify(name)} has no row in "${manifestPath}"`;
      this.#onProblem({ file, reason: 'member_without_row', message });
    }
  }

  #note(line: PackedLine, reason: PackedProblem['reason'], message: string, hint?: string): undefined {
    this.#onProblem({ file: this.#shard.manifestPath, line: line.number, reason, message, hint });
  }
}

/** What of a row tells it from others of its member; empty for one that means all of it by its name. */
function spanOf(row: JsonObject, name: string, member: string): string {
  if (name === member && !row.has('offset')) return '';
  return `${name} ${row.raw('offset') ?? ''} ${row.has('offset') ? row.raw('duration') : ''}`;
}
