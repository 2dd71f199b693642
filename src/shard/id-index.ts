import { hash } from 'node:crypto';

/** Digest of an id: three words. With 96 bits, two of a thousand million ids are equal by chance once in 10^11 sets. */
const DIGEST_WORDS = 3;
const ENTRY_WORDS = DIGEST_WORDS + 1;

/** Remembers in which shard an id was met first, with 32 to 64 bytes an id. */
export class IdIndex {
  /** Open addressing: an entry is a digest and the shard's number plus 1; 0 is a free place. */
  #table = new Uint32Array(1024 * ENTRY_WORDS);
  #count = 0;

  /** How many ids there are. */
  get count(): number {
    return this.#count;
  }

  /** The number of the shard in which the id was met first; notes the shard where it was not met before. */
  firstShardOf(id: string, shard: number): number {
    const digest = hash('sha1', id, 'buffer');
    const words = [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)] as const;
    const at = findPlace(this.#table, words);
    const known = this.#table[at + DIGEST_WORDS] ?? 0;
    if (known > 0) return known - 1;
    put(this.#table, at, words, shard + 1);
    this.#count += 1;
    if (this.#count * 2 * ENTRY_WORDS > this.#table.length) this.#grow();
    return shard;
  }

  #grow(): void {
    const old = this.#table;
    const grown = new Uint32Array(old.length * 2);
    for (let from = 0; from < old.length; from += ENTRY_WORDS) {
      const mark = old[from + DIGEST_WORDS] ?? 0;
      if (mark === 0) continue;
      const words = [old[from] ?? 0, old[from + 1] ?? 0, old[from + 2] ?? 0] as const;
      put(grown, findPlace(grown, words), words, mark);
    }
    this.#table = grown;
  }
}

type Digest = readonly [number, number, number];

/** Where a digest stands, or the free place where it belongs. */
function findPlace(table: Uint32Array, [a, b, c]: Digest): number {
  const places = table.length / ENTRY_WORDS;
  for (let place = a % places; ; place = (place + 1) % places) {
    const at = place * ENTRY_WORDS;
    if (table[at + DIGEST_WORDS] === 0) return at;
    if (table[at] === a && table[at + 1] === b && table[at + 2] === c) return at;
  }
}

function put(table: Uint32Array, at: number, [a, b, c]: Digest, mark: number): void {
  table[at] = a;
  table[at + 1] = b;
  table[at + 2] = c;
  table[at + DIGEST_WORDS] = mark;
}
