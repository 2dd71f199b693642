import { countAnd, countWords } from '../count-words.js';
import { UsageError } from '../errors.js';

/** How the snippets of a run are split into shards: into so many, or so many snippets or hours a shard. */
export type Sharding = { by: 'count' | 'snippets' | 'hours'; value: number };

/** What of `CutOptions` asks for shards. */
export interface ShardingOptions {
  numShards?: number | undefined;
  snippetsPerShard?: number | undefined;
  hoursPerShard?: number | undefined;
}

const MICROS_AN_HOUR = 3_600_000_000;

/**
 * How the snippets are to be split; undefined where they are not.
 *
 * @throws UsageError when more than one way is asked for; RangeError when a number is out of its range
 */
export function resolveSharding({ numShards, snippetsPerShard, hoursPerShard }: ShardingOptions): Sharding | undefined {
  const asked: [Sharding['by'], number | undefined][] = [
    ['count', numShards],
    ['snippets', snippetsPerShard],
    ['hours', hoursPerShard],
  ];
  const found = asked.flatMap(([by, value]) => (value === undefined ? [] : [{ by, value }]));
  const [sharding] = found;
  if (found.length > 1) {
    throw new UsageError('--num-shards, --snippets-per-shard and --hours-per-shard exclude each other', {
      hint: 'Give one of them.',
    });
  }
  if (sharding === undefined) return undefined;
  const { by, value } = sharding;
  if (by === 'hours' ? Number.isFinite(value) && value > 0 : Number.isSafeInteger(value) && value >= 1) return sharding;
  const wanted = by === 'hours' ? 'a number greater than 0' : 'a whole number of 1 or more';
  throw new RangeError(`${OPTION_NAMES[by]} must be ${wanted}, but is ${value}`);
}

const OPTION_NAMES = { count: 'numShards', snippets: 'snippetsPerShard', hours: 'hoursPerShard' } as const;

/** More are taken for a slip: each is two files. */
const MAX_SHARDS = 100_000;

/**
 * Finds out that a plan has enough snippets for the shards that are wanted, and not too many.
 *
 * @throws UsageError when it has not
 */
export function checkShardCount(
  sharding: Sharding | undefined,
  { snippetCount, plannedSeconds }: { snippetCount: number; plannedSeconds: number },
): void {
  if (sharding === undefined) return;
  const { by, value } = sharding;
  if (by === 'count' && value > snippetCount) {
    const planned = countAnd(snippetCount, 'snippet', 'is|are');
    throw new UsageError(`Cannot fill ${countWords(value, 'shard')}: ${planned} planned`, {
      hint: snippetCount === 0 ? 'Leave --num-shards out.' : `Give --num-shards ${snippetCount} or less.`,
    });
  }
  const wanted = {
    count: value,
    snippets: Math.ceil(snippetCount / value),
    // All but the last have these hours, and none is empty.
    hours: Math.min(snippetCount, Math.floor(plannedSeconds / 3600 / value) + 1),
  }[by];
  if (wanted <= MAX_SHARDS) return;
  throw new UsageError(`Cannot make ${wanted} shards: ${MAX_SHARDS} are the most`, {
    hint: 'A shard is best between 100 MB and some GB: ask for fewer.',
  });
}

/**
 * Tells in which shard each snippet of a plan belongs, in the order of the plan. It looks at the plan alone, so the borders are those of every
 * other run of it. Each shard is a stretch of that order:
 *
 * ```
 * members in order   a1 a2 b1 | b2 c1 c2 | c3 d1
 * shard                  0         1         2
 * ```
 */
export class ShardCursor {
  readonly #sharding: Sharding | undefined;
  readonly #snippetCount: number;
  #snippets = 0;
  #shard = 0;
  /** Planned, in the open shard. */
  #micros = 0;

  constructor(sharding: Sharding | undefined, snippetCount: number) {
    this.#sharding = sharding;
    this.#snippetCount = snippetCount;
  }

  /** How many shards have been begun. */
  get count(): number {
    return this.#snippets === 0 ? 0 : this.#shard + 1;
  }

  /** The 0-based shard of the next snippet. */
  next(plannedMicros: number): number {
    if (this.#snippets > 0 && this.#isBorder()) {
      this.#shard += 1;
      this.#micros = 0;
    }
    this.#snippets += 1;
    this.#micros += plannedMicros;
    return this.#shard;
  }

  #isBorder(): boolean {
    if (this.#sharding === undefined) return false;
    const { by, value } = this.#sharding;
    if (by === 'hours') return this.#micros >= Math.round(value * MICROS_AN_HOUR);
    if (by === 'snippets') return this.#snippets % value === 0;
    return this.#snippets >= Math.floor(((this.#shard + 1) * this.#snippetCount) / value);
  }
}
