import { hoursOfMicros } from '../manifest/shard-list.js';
import { ShardCursor, type Sharding } from './sharding.js';
import type { PlannedSnippet } from './types.js';

/** A shard in the metrics. */
export interface ShardFigures {
  /** Of the tar. */
  name: string;
  /** Name of the manifest. */
  manifest: string;
  /** Rows of its manifest. */
  snippets: number;
  /** With six decimals, as on the list. */
  hours: number;
  /** Of the tar; null where it was planned and not made. */
  bytes: number | null;
}

const MICROS = 1e6;

/** Counts what comes into each shard of a plan, snippet by snippet in its order. */
export class ShardTally {
  readonly isSharded: boolean;
  readonly #cursor: ShardCursor;
  readonly #snippets: number[] = [];
  readonly #micros: number[] = [];

  constructor(sharding: Sharding | undefined, snippetCount: number) {
    this.isSharded = sharding !== undefined;
    this.#cursor = new ShardCursor(sharding, snippetCount);
  }

  /** How many shards the snippets so far are planned for. */
  get count(): number {
    return this.#cursor.count;
  }

  /**
   * The shard of the next snippet of the plan, whether it comes into the output or not.
   *
   * @param _recording its position in the plan; where that alone decides, another tally says so.
   */
  place({ startMicros, endMicros }: PlannedSnippet, _recording: number): number {
    const shard = this.#cursor.next(endMicros - startMicros);
    this.reach(shard);
    return shard;
  }

  /** How many shards are counted for. */
  protected get length(): number {
    return this.#snippets.length;
  }

  /** Notes that there are shards up to this one. */
  protected reach(shard: number): void {
    while (this.#snippets.length <= shard) {
      this.#snippets.push(0);
      this.#micros.push(0);
    }
  }

  /** Counts a snippet that is in the output. */
  add(shard: number, durationSeconds: number): void {
    this.#snippets[shard] = this.snippetsOf(shard) + 1;
    this.#micros[shard] = (this.#micros[shard] ?? 0) + Math.round(durationSeconds * MICROS);
  }

  snippetsOf(shard: number): number {
    return this.#snippets[shard] ?? 0;
  }

  hoursOf(shard: number): number {
    return hoursOfMicros(BigInt(this.#micros[shard] ?? 0));
  }

  /** The shards that no snippet came into. */
  listEmpty(): number[] {
    return this.#snippets.flatMap((count, shard) => (count === 0 ? [shard] : []));
  }
}
