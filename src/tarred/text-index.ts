/** An entry is two words of a hash and the text's number plus 1; 0 is a free place. */
const ENTRY_WORDS = 3;

/**
 * Finds texts by a hash, 12 to 48 bytes each. The texts themselves are held elsewhere, and asked for where a hash is met again: equal hashes decide
 * nothing by themselves.
 */
export class TextIndex {
  readonly #textOf: (number: number) => string;
  #table = new Uint32Array(1024 * ENTRY_WORDS);
  #count = 0;

  /** @param textOf the text of a number that was noted */
  constructor(textOf: (number: number) => string) {
    this.#textOf = textOf;
  }

  /** The number that the text was noted with first; notes this one where it was not noted before. Numbers are below 2^32 - 1. */
  firstNumberOf(text: string, number: number): number {
    const [a, b] = hashText(text);
    const places = this.#table.length / ENTRY_WORDS;
    let place = a % places;
    for (;;) {
      const at = place * ENTRY_WORDS;
      const mark = this.#table[at + 2]!;
      if (mark === 0) break;
      if (this.#table[at] === a && this.#table[at + 1] === b && this.#textOf(mark - 1) === text) return mark - 1;
      place = place + 1 === places ? 0 : place + 1;
    }
    this.#put(place * ENTRY_WORDS, a, b, number + 1);
    this.#count += 1;
    if (this.#count * 2 * ENTRY_WORDS > this.#table.length) this.#grow();
    return number;
  }

  #put(at: number, a: number, b: number, mark: number): void {
    this.#table[at] = a;
    this.#table[at + 1] = b;
    this.#table[at + 2] = mark;
  }

  #grow(): void {
    const old = this.#table;
    this.#table = new Uint32Array(old.length * 2);
    const places = this.#table.length / ENTRY_WORDS;
    for (let from = 0; from < old.length; from += ENTRY_WORDS) {
      const mark = old[from + 2]!;
      if (mark === 0) continue;
      let place = old[from]! % places;
      while (this.#table[place * ENTRY_WORDS + 2] !== 0) place = place + 1 === places ? 0 : place + 1;
      this.#put(place * ENTRY_WORDS, old[from]!, old[from + 1]!, mark);
    }
  }
}

/** Two words that depend on every character: FNV-1a with two multipliers, mixed at the end as MurmurHash3 does. */
function hashText(text: string): [number, number] {
  let a = 0x811c_9dc5;
  let b = 0x9747_b28c;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x0100_0193);
    b = Math.imul(b ^ unit, 0x5bd1_e995);
    b ^= b >>> 15;
  }
  return [mix(a), mix(b)];
}

function mix(word: number): number {
  word = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2_ae35);
  return (word ^ (word >>> 16)) >>> 0;
}
