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
    const words = digestOf(id);
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

/**
 * Three of the four words of MurmurHash3 (x86, 128 bits), with two UTF-16 units to a word: a digest of a million ids takes a fifth of a second,
 * SHA-1 two. It decides nothing that somebody could gain from by choosing ids.
 */
function digestOf(id: string): Digest {
  let [h1, h2, h3, h4] = [0, 0, 0, 0];
  for (let at = 0; at < id.length; at += 8) {
    h1 = add(mul(rotate(h1 ^ scramble(wordAt(id, at), 0x239b_961b, 15, 0xab0e_9789), 19) + h2, 5), 0x561c_cd1b);
    h2 = add(mul(rotate(h2 ^ scramble(wordAt(id, at + 2), 0xab0e_9789, 16, 0x38b3_4ae5), 17) + h3, 5), 0x0bca_a747);
    h3 = add(mul(rotate(h3 ^ scramble(wordAt(id, at + 4), 0x38b3_4ae5, 17, 0xa1e3_8b93), 15) + h4, 5), 0x96cd_1c35);
    h4 = add(mul(rotate(h4 ^ scramble(wordAt(id, at + 6), 0xa1e3_8b93, 18, 0x239b_961b), 13) + h1, 5), 0x32ac_3b17);
  }
  h1 ^= id.length;
  h2 ^= id.length;
  h3 ^= id.length;
  h4 ^= id.length;
  h1 = add(h1, h2 + h3 + h4);
  h2 = finish(add(h2, h1));
  h3 = finish(add(h3, h1));
  h4 = finish(add(h4, h1));
  h1 = add(finish(h1), h2 + h3 + h4);
  return [h1 >>> 0, add(h2, h1) >>> 0, add(h3, h1) >>> 0];
}

/** The two units from a place on; behind the end there are zeros. */
function wordAt(id: string, at: number): number {
  if (at + 1 < id.length) return id.charCodeAt(at) | (id.charCodeAt(at + 1) << 16);
  return at < id.length ? id.charCodeAt(at) : 0;
}

function scramble(word: number, first: number, turn: number, second: number): number {
  return mul(rotate(mul(word, first), turn), second);
}

function finish(word: number): number {
  word = mul(word ^ (word >>> 16), 0x85eb_ca6b);
  word = mul(word ^ (word >>> 13), 0xc2b2_ae35);
  return word ^ (word >>> 16);
}

function rotate(word: number, turn: number): number {
  return (word << turn) | (word >>> (32 - turn));
}

function mul(a: number, b: number): number {
  return Math.imul(a, b);
}

function add(a: number, b: number): number {
  return (a + b) | 0;
}

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
