/** What can be wrong with the shards that a list is to name. */
export type ShardProblemKind =
  /** The pattern names a tar that is not there. */
  | 'missing_tar'
  /** It is no tar, or torn or damaged. */
  | 'unreadable_tar'
  /** All members are whole, and the two blocks of zeros that end a tar are missing. */
  | 'unfinished_tar'
  /** Its members are not looked at. */
  | 'compressed_tar'
  /** The name does not begin with the prefix that is to be replaced. */
  | 'prefix_mismatch'
  /** The tar has no manifest. */
  | 'missing_manifest'
  /** The manifest has no tar. */
  | 'missing_shard'
  /** There is a second manifest for a tar, which nobody reads. */
  | 'second_manifest'
  | 'unreadable_manifest'
  /** The loader does not skip a byte order mark: its first row is no JSON. */
  | 'byte_order_mark'
  /** A line that is no JSON object. */
  | 'bad_row'
  | 'missing_audio_filepath'
  | 'missing_text'
  | 'missing_duration'
  | 'bad_duration'
  | 'duplicate_row'
  | 'row_without_member'
  | 'member_without_row'
  /** Two members of a shard have one id. */
  | 'duplicate_member'
  /** Members of two shards have one id. */
  | 'duplicate_across_shards'
  /** The loader passes over a member of this name. */
  | 'unread_member'
  /** Dots in an id, at which the loader takes names apart. */
  | 'dotted_name'
  /** Other members stand between those of one sample. */
  | 'split_sample';

/** One thing that is wrong, and where. */
export interface ShardProblem {
  kind: ShardProblemKind;
  message: string;
  /** The tar or manifest at fault. */
  file: string;
  /** 1-based, of a manifest. */
  line?: number | undefined;
  /** 1-based, in characters. */
  column?: number | undefined;
  /** Of a tar: where the member's headers start, or where reading ended. */
  offsetBytes?: number | undefined;
  /** Of the sample. */
  id?: string | undefined;
  hint?: string | undefined;
}

/** The reason in a message such as `Cannot read "a.tar" at byte 512: …`, of which the place stands in the problem already. */
export function reasonOf(message: string, file: string): string {
  const start = `Cannot read "${file}"`;
  return message.startsWith(start) ? message.slice(message.indexOf(': ', start.length) + 2) : message;
}

/** How many problems of each kind there are. */
export type ShardProblemCounts = Partial<Record<ShardProblemKind, number>>;

/** How many problems of one kind are kept with their places. */
export const MAX_KEPT_PROBLEMS = 1000;

/** Problems as they are met: all are counted and handed on, so many of each kind are kept. */
export class ProblemLog {
  readonly counts: ShardProblemCounts = {};
  readonly kept: ShardProblem[] = [];
  readonly #onProblem: ((problem: ShardProblem) => void) | undefined;
  #count = 0;

  constructor(onProblem?: (problem: ShardProblem) => void) {
    this.#onProblem = onProblem;
  }

  /** How many there are in all. */
  get count(): number {
    return this.#count;
  }

  add(problem: ShardProblem): void {
    const count = (this.counts[problem.kind] ?? 0) + 1;
    this.counts[problem.kind] = count;
    this.#count += 1;
    if (count <= MAX_KEPT_PROBLEMS) this.kept.push(problem);
    this.#onProblem?.(problem);
  }
}
